//! kernel  tma_reduce  "D = OP(C, S) in an element type of TYPE, by a reduction through a tensor map"
//! arch    sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! dim     R    = 13
//! dim     X    = 24
//! param   OP   = 0  in 0..7                "add min max inc dec and or xor"
//! param   TYPE = 0  in {0, 1, 2, 3, 4, 6, 7}  "u32 s32 u64 s64 f32 - f16 bf16"
//!
//! let     TYPES = OP == 0 ? 0b11010111 : OP <= 2 ? 0b11001111 : OP <= 4 ? 0b1 : 0b111
//! require (TYPES >> TYPE & 1) == 1                 "the hardware has this reduction"
//!
//! tensor  S  : s32[R, X]
//! tensor  C  : s32[R, X]
//! tensor  D0 : u32[R, X]   box [8, 16]  out  view  when TYPE == 0
//! tensor  D1 : s32[R, X]   box [8, 16]  out  view  when TYPE == 1
//! tensor  D2 : u64[R, X]   box [8, 16]  out  view  when TYPE == 2
//! tensor  D3 : s64[R, X]   box [8, 16]  out  view  when TYPE == 3
//! tensor  D4 : f32[R, X]   box [8, 16]  out  view  when TYPE == 4
//! tensor  D6 : f16[R, X]   box [8, 16]  out  view  when TYPE == 6
//! tensor  D7 : bf16[R, X]  box [8, 16]  out  view  when TYPE == 7
//!
//! launch  grid ceil_div(R, 8) * ceil_div(X, 16)  block 128
//! work    flops 0  bytes 24 * R * X
//! reference tma_reduce_reference  grid R  block X
//!
//! preset  OP = 0, TYPE = 4  "tensor reduction: add f32"
//! preset  OP = 0, TYPE = 7  "tensor reduction: add bf16"
//! preset  OP = 1, TYPE = 1  "tensor reduction: min s32"
//! preset  OP = 2, TYPE = 6  "tensor reduction: max f16"
//! preset  OP = 3, TYPE = 0  "tensor reduction: inc u32"
//! preset  OP = 4, TYPE = 0  "tensor reduction: dec u32"
//! preset  OP = 5, TYPE = 2  "tensor reduction: and of 64 bits"
//! preset  OP = 6, TYPE = 0  "tensor reduction: or"
//! preset  OP = 7, TYPE = 2  "tensor reduction: xor of 64 bits"

#include "device/probe/box.cuh"
#include "device/probe/reduction.cuh"
#include "device/ptx/fence.cuh"
#include "device/ptx/tma_reduce.cuh"

using E = probe::Element<TYPE>::Type;
constexpr Reduction kOp = static_cast<Reduction>(OP);
constexpr int kChoice = TYPE > 5 ? TYPE - 1 : TYPE;  // f64 tensors have no reductions

// Small non-negative numbers, which the unsigned types can hold.
__device__ inline E value(const View<const s32, 2>& of, int row, int column) {
  return probe::from_s32<E>(of.data[row * of.stride[0] + column * of.stride[1]] + 64);
}

#ifndef TMA_JIT_REFERENCE

extern "C" __global__ __launch_bounds__(128) void tma_reduce(
    View<const s32, 2> S, View<const s32, 2> C, const __grid_constant__ Mapped<u32, 2> D0,
    const __grid_constant__ Mapped<s32, 2> D1, const __grid_constant__ Mapped<u64, 2> D2,
    const __grid_constant__ Mapped<s64, 2> D3, const __grid_constant__ Mapped<f32, 2> D4,
    const __grid_constant__ Mapped<f16, 2> D6, const __grid_constant__ Mapped<bf16, 2> D7, const Dims) {
  __shared__ alignas(128) E box[8][16];
  const auto& D = probe::pick<kChoice>(D0, D1, D2, D3, D4, D6, D7);
  const int across = ceil_div(Dims::X, 16), row = blockIdx.x / across * 8, column = blockIdx.x % across * 16;
  const int r = threadIdx.x / 16, c = threadIdx.x % 16;
  const bool inside = row + r < Dims::R && column + c < Dims::X;
  box[r][c] = inside ? value(S, row + r, column + c) : probe::from_s32<E>(7);
  if (inside)
    D.view.data[(row + r) * D.view.stride[0] + (column + c) * D.view.stride[1]] = value(C, row + r, column + c);
  fence::proxy_async();
  __syncthreads();
  if (threadIdx.x != 0) return;
  tma::reduce<kOp>(D.map, box, {column, row});
  tma::commit();
  tma::wait_read<0>();
}

#else

extern "C" __global__ void tma_reduce_reference(View<const s32, 2> S, View<const s32, 2> C, View<f64, 2> D0,
                                                View<f64, 2> D1, View<f64, 2> D2, View<f64, 2> D3, View<f64, 2> D4,
                                                View<f64, 2> D6, View<f64, 2> D7, const Dims) {
  const auto& D = probe::pick<kChoice>(D0, D1, D2, D3, D4, D6, D7);
  const int r = blockIdx.x, c = threadIdx.x;
  D.data[r * D.stride[0] + c * D.stride[1]] = to_f64(probe::applied<kOp>(value(C, r, c), value(S, r, c)));
}

#endif
