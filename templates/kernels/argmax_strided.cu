//! kernel  argmax   "V[m] = X[m,I[m]], I[m] = the least k with the greatest key(X[m,k]); NaN is the greatest, key = -x finds the least element; rows of elements at any stride, such as columns of a matrix"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! prefer  -1
//! use     "device/reference/argmax.cuh"
//! use     "device/reduce/strided_row.cuh"
//!
//! require K <= 2147483647                          "elements of a row are counted in 31 bits"
//!
//! preset  ROWS = 1                  when stride(X, 0) >= stride(X, 1) && K > 128
//! preset  ROWS = 1, THREADS = 128   when stride(X, 0) >= stride(X, 1)
//! preset  ROWS = 32
//! preset  ROWS = 32, THREADS = 128  when K <= 64

#include "device/ptx/cvt.cuh"
#include "device/ptx/infinity.cuh"
#include "device/ptx/max_nan.cuh"
#include "device/reduce/strided_row.cuh"

#ifndef TMA_JIT_REFERENCE

// Finds the greatest key of a row, and then the least index that has it.
extern "C" __global__ __launch_bounds__(THREADS, 1) void argmax(View<const T, 2> X, View<T, 1> V, View<J, 1> I,
                                                                const Dims dims, const __grid_constant__ Hooks hooks) {
  using Row = StridedRow<THREADS, ROWS>;
  __shared__ Row::Smem smem[2];
  const Row row(dims.M, static_cast<int>(dims.K));
  const auto element = [&](s64 k) { return X.data[row.row * X.stride[0] + k * X.stride[1]]; };
  const auto key = [&](int k) { return hooks.key(to_f32(element(k)), s64{row.row}, s64{k}); };
  f32 most = -infinity();
  row.each(key, [&](f32 x, int) { most = max_nan(most, x); });
  most = row.combined(smem[0], most, -infinity(), [](f32 a, f32 b) { return max_nan(a, b); });
  u32 first = ~0U;
  row.each(key, [&](f32 x, int k) {
    if (x == most || (x != x && most != most)) first = min(first, static_cast<u32>(k));
  });
  first = row.combined(smem[1], first, ~0U, [](u32 a, u32 b) { return min(a, b); });
  if (!row.inside || threadIdx.x >= ROWS) return;
  const s64 index = first == ~0U ? -1 : s64{first};
  I.data[row.row * I.stride[0]] = static_cast<J>(index);
  if constexpr (VALUES) V.data[row.row * V.stride[0]] = index < 0 ? from_f32<T>(-infinity()) : element(index);
}

#else

#include "device/reference/argmax.cuh"

#endif
