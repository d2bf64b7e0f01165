//! kernel  tcgen05_cp "D = tensor memory after a copy of S from shared memory; zeros where it copies nothing"
//! arch    sm_100a, sm_103a
//! param   SHAPE = 0   in 0..5                      "128x256b, 4x256b, 128x128b, 64x128b to warps 02_13, to 01_23, 32x128b"
//! param   BITS  = 8   in {4, 6, 8}                 "of a value in shared memory; in tensor memory it is a byte"
//! param   SHIFT = 0   in {0, 1}                    "1: then moved down by a lane, of 32 each"
//! let     ROWS  = SHAPE == 0 || SHAPE == 2 ? 128 : SHAPE == 1 ? 4 : SHAPE == 5 ? 32 : 64
//! let     BYTES = SHAPE <= 1 ? 32 : 16             "of a row"
//! require SHIFT == 0 || SHAPE <= 1                 "a shift moves 32 bytes"
//! tensor  S : u8[ROWS, BYTES]
//! tensor  D : u8[128, BYTES]  out
//! launch  grid 1  block 128
//! work    flops 0  bytes 2 * 128 * BYTES
//! preset  SHAPE = 0             "tcgen05.cp: 128x256b"
//! preset  SHAPE = 1             "tcgen05.cp: 4x256b"
//! preset  SHAPE = 2, BITS = 6   "tcgen05.cp: 128x128b, 6-bit values"
//! preset  SHAPE = 3             "tcgen05.cp: 64x128b, warps 0 and 2, 1 and 3"
//! preset  SHAPE = 4, BITS = 4   "tcgen05.cp: 64x128b, warps 0 and 1, 2 and 3, 4-bit values"
//! preset  SHAPE = 5             "tcgen05.cp: 32x128b"
//! preset  SHAPE = 0, SHIFT = 1  "tcgen05.shift"
//! reference tcgen05_cp_reference  grid 128  block BYTES

#include "device/probe/tcgen05.cuh"

// Returns the row of S that a lane receives, or -1.
__device__ inline int row_of_lane(int lane) {
  if constexpr (SHIFT == 1) lane = lane % 32 == 31 ? lane : lane + 1;
  if constexpr (SHAPE == 1) return lane % 32 == 0 ? lane / 32 : -1;
  if constexpr (SHAPE == 3) return lane % 64;
  if constexpr (SHAPE == 4) return lane / 64 * 32 + lane % 32;
  if constexpr (SHAPE == 5) return lane % 32;
  return lane;
}

#ifndef TMA_JIT_REFERENCE

template <bool Yes, class A, class B> using If = typename probe::If<Yes, A, B>::type;
using Narrow = If<SHAPE == 3, tensor_memory::Cp64x128bWarps02_13,
                  If<SHAPE == 4, tensor_memory::Cp64x128bWarps01_23, tensor_memory::Cp32x128b>>;
using Shape = If<SHAPE == 0, tensor_memory::Cp128x256b,
                 If<SHAPE == 1, tensor_memory::Cp4x256b, If<SHAPE == 2, tensor_memory::Cp128x128b, Narrow>>>;
using Format = If<BITS == 4, tensor_memory::FromB4, If<BITS == 6, tensor_memory::FromB6, tensor_memory::Whole>>;

// Columns of 16 bytes, each row by row, which is the layout of K-major tiles without swizzle: eight rows take 128
// bytes.
constexpr int kColumn = (ROWS < 8 ? 8 : ROWS) * 16;

extern "C" __global__ __launch_bounds__(128) void tcgen05_cp(View<const u8, 2> S, View<u8, 2> D) {
  __shared__ alignas(128) u8 rows[BYTES / 16][kColumn / 16][16];
  __shared__ probe::TensorMemory<32> memory;
  for (int i = threadIdx.x; i < ROWS * BYTES / 16; i += 128) {
    const u8* from = S.data + i % ROWS * S.stride[0] + i / ROWS * 16;
    probe::pack_row<BITS>(rows[i / ROWS][i % ROWS], [&](int value) { return from[value]; });
  }
  memory.open();
  const u32 mine = tensor_memory::at(memory.address, threadIdx.x / 32 * 32, 0);
  u32 x[8] = {};
  tensor_memory::st<tensor_memory::Shape32x32b>(mine, x);
  tensor_memory::wait_st();
  probe::hand_over();
  if (threadIdx.x == 0) {
    tensor_memory::cp<Shape, 1, Format>(memory.address, tcgen05::descriptor<0>(smem_address(rows), kColumn, 128));
    if constexpr (SHIFT == 1) tensor_memory::shift_down(memory.address);
    tcgen05::commit(memory.done);
  }
  memory.done.wait(0);
  tcgen05::fence_after();
  probe::load_eight(x, memory.address, 0);
#pragma unroll
  for (int byte = 0; byte < BYTES; ++byte)
    D.data[threadIdx.x * D.stride[0] + byte * D.stride[1]] = static_cast<u8>(x[byte / 4] >> byte % 4 * 8);
  memory.close();
}

#else

// 4-bit values are in bits 2 to 5 of their bytes, 6-bit values in the low bits.
extern "C" __global__ void tcgen05_cp_reference(View<const u8, 2> S, View<f64, 2> D) {
  const int row = row_of_lane(blockIdx.x), byte = threadIdx.x;
  const int value = row < 0 ? 0 : S.data[row * S.stride[0] + byte * S.stride[1]] & ((1 << BITS) - 1);
  D.data[blockIdx.x * D.stride[0] + byte * D.stride[1]] = BITS == 4 ? value << 2 : value;
}

#endif
