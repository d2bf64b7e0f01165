#pragma once
// wgmma.mma_async: D[64 x N] (+)= A[64 x 16] * B[N x 16]^T, f32 accumulators in registers, A and B in shared memory,
// K-major, 128-byte swizzle. PTX ISA 9.0, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions".
#include "device/types.cuh"

namespace wgmma {

// Shared-memory matrix descriptor of a K-major tile whose rows are one 128-byte swizzle atom wide and whose base is
// 1024-byte aligned. Adding k * sizeof(T) / 16 moves it k elements along K, within the atom.
__device__ inline u64 descriptor(const void* tile) {
  return (u64{smem_address(tile) & 0x3FFFF} >> 4)  // start address
         | (u64{1} << 16)                          // leading byte offset: ignored for this layout
         | (u64{1024 / 16} << 32)                  // stride between groups of 8 rows
         | (u64{1} << 62);                         // 128-byte swizzle
}

__device__ inline void fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ inline void commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
// Returns when at most Pending of this warpgroup's committed groups are still running.
template <int Pending> __device__ inline void wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}

// Operand lists. Each extends the one before, sixteen registers at a time.
// clang-format off
#define WGMMA_REGS_16 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define WGMMA_OUT_16 \
  "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), \
  "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15])
#define WGMMA_REGS_32 WGMMA_REGS_16 ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define WGMMA_OUT_32 WGMMA_OUT_16, \
  "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), \
  "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
#define WGMMA_REGS_48 WGMMA_REGS_32 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47"
#define WGMMA_OUT_48 WGMMA_OUT_32, \
  "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), \
  "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47])
#define WGMMA_REGS_64 WGMMA_REGS_48 ", %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define WGMMA_OUT_64 WGMMA_OUT_48, \
  "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), \
  "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
#define WGMMA_REGS_80 WGMMA_REGS_64 ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79"
#define WGMMA_OUT_80 WGMMA_OUT_64, \
  "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]), \
  "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79])
#define WGMMA_REGS_96 WGMMA_REGS_80 ", %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define WGMMA_OUT_96 WGMMA_OUT_80, \
  "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]), "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]), \
  "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95])
#define WGMMA_REGS_112 WGMMA_REGS_96 ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111"
#define WGMMA_OUT_112 WGMMA_OUT_96, \
  "+f"(d[96]), "+f"(d[97]), "+f"(d[98]), "+f"(d[99]), "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103]), \
  "+f"(d[104]), "+f"(d[105]), "+f"(d[106]), "+f"(d[107]), "+f"(d[108]), "+f"(d[109]), "+f"(d[110]), "+f"(d[111])
#define WGMMA_REGS_128 WGMMA_REGS_112 ", %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define WGMMA_OUT_128 WGMMA_OUT_112, \
  "+f"(d[112]), "+f"(d[113]), "+f"(d[114]), "+f"(d[115]), "+f"(d[116]), "+f"(d[117]), "+f"(d[118]), "+f"(d[119]), \
  "+f"(d[120]), "+f"(d[121]), "+f"(d[122]), "+f"(d[123]), "+f"(d[124]), "+f"(d[125]), "+f"(d[126]), "+f"(d[127])
// clang-format on

// registers: accumulators a thread holds. issue: d = a * b, plus d where `accumulate`.
template <int N, class T> struct Mma;

#define WGMMA_DEFINE(N, R, A, B, P, T, NAME)                                                            \
  template <> struct Mma<N, T> {                                                                        \
    static constexpr int registers = R;                                                                 \
    __device__ static void issue(f32 (&d)[R], u64 a, u64 b, bool accumulate) {                          \
      asm volatile("{\n .reg .pred p;\n setp.ne.b32 p, %" #P                                            \
                   ", 0;\n"                                                                             \
                   " wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." NAME "." NAME " {" WGMMA_REGS_##R \
                   "}, %" #A ", %" #B ", p, 1, 1, 0, 0;\n}"                                             \
                   : WGMMA_OUT_##R                                                                      \
                   : "l"(a), "l"(b), "r"(int{accumulate}));                                             \
    }                                                                                                   \
  };
#define WGMMA_DEFINE_ALL(T, NAME)                \
  WGMMA_DEFINE(32, 16, 16, 17, 18, T, NAME)      \
  WGMMA_DEFINE(64, 32, 32, 33, 34, T, NAME)      \
  WGMMA_DEFINE(96, 48, 48, 49, 50, T, NAME)      \
  WGMMA_DEFINE(128, 64, 64, 65, 66, T, NAME)     \
  WGMMA_DEFINE(160, 80, 80, 81, 82, T, NAME)     \
  WGMMA_DEFINE(192, 96, 96, 97, 98, T, NAME)     \
  WGMMA_DEFINE(224, 112, 112, 113, 114, T, NAME) \
  WGMMA_DEFINE(256, 128, 128, 129, 130, T, NAME)
WGMMA_DEFINE_ALL(bf16, "bf16")
WGMMA_DEFINE_ALL(f16, "f16")

}  // namespace wgmma
