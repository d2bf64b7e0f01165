// Template files.
#include <string>

#include "target.h"
#include "template/template.h"

namespace tma_jit::fuzz {

void run(std::span<const std::uint8_t> bytes) {
  (void)templates::parse("fuzz.cu", std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

std::vector<std::string> seeds() {
  return {R"(//! kernel  gemm     "D = A * B"
//! arch    sm_90a, sm_100a
//! type    T      = bf16  in {bf16, f16}            "elements"
//! dim     M, N, K in 0..2147483647
//! param   BM      = 128  in {64, 128, 192}         "rows"
//! param   STAGES  = 4    in 2..8
//! let     BK      = 128 / sizeof(T)
//! let     SMEM    = align_up(STAGES * (BM + 64) * 128 + 16 * STAGES, 1024)
//! require SMEM <= device.smem_per_block            "must fit"
//! require stride(A, 0) * sizeof(T) % 16 == 0 || M <= 1
//! tensor  A : T[M, K]    box [BM, BK]  swizzle 128  l2 256
//! tensor  C : T[M, N]    when STAGES >= 3
//! tensor  D : T[M, N]    box [64, 64]  swizzle 128  out  view
//! scalar  alpha : f32 = 1
//! workspace W : 4 * M zeroed
//! hook    epilogue(f32 x, s32 row when BM > 64) : f32 = x    "applied"
//! cluster 2
//! launch  grid ceil_div(M, BM) * 2, min(N, 8)  block BM + 128  smem SMEM
//! work    flops 2 * M * N * K  bytes (M * K + N * K) * sizeof(T)
//! reference gemm_reference  grid min(ceil_div(M * N, 256), 65536)  block 256
//! preset  BM = 64, STAGES = 8   when M < 4096
//! preset  STAGES = 6
extern "C" __global__ void gemm() {}
)",
          R"(//! kernel  concat
//! arch    sm_90a
//! prefer  2
//! dim     M, N[PARTS]    in 0..2147483647          "of the parts"
//! param   PARTS  = 2     in 1..3
//! let     BLOCKS[PARTS] = ceil_div(M * N[], 256) "blocks of S[]"
//! require N[] <= 1 || stride(S[], 1) == alignment(S[]) "S[]"
//! tensor  S[PARTS] {A, B, C} : f32[M, N[]]
//! tensor  I : s32[M + 1]  in 0..max(N) - 1  rising  checked
//! tensor  J : s32[M]  in 0..M - 1  distinct PARTS > 1
//! tensor  D : f32[M, sum(N)]  out
//! launch  grid sum(BLOCKS)  block 256
)",
          "//! kernel k\n//! arch sm_90\n//! launch grid 1 block 1\n"};
}

}  // namespace tma_jit::fuzz
