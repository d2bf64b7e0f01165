//! kernel  log_softmax "D[i,j] = x[i,j] - log(sum over j of exp(x[i,j])), x = score(S[i,j]); rows of elements at any stride, such as columns of a matrix"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! prefer  -1
//! use     "device/reference/log_softmax.cuh"
//! use     "device/reduce/strided_row.cuh"
//!
//! preset  ROWS = 1                  when stride(S, 0) >= stride(S, 1) && N > 128
//! preset  ROWS = 1, THREADS = 128   when stride(S, 0) >= stride(S, 1)
//! preset  ROWS = 32
//! preset  ROWS = 32, THREADS = 128  when N <= 64

#include "device/ptx/cvt.cuh"
#include "device/reduce/strided_exponentials.cuh"

#ifndef TMA_JIT_REFERENCE

// A thread stores only what it has read: D may be S.
extern "C" __global__ __launch_bounds__(THREADS, 1) void log_softmax(View<const T, 2> S, View<O, 2> D, const Dims dims,
                                                                     const __grid_constant__ Hooks hooks) {
  using Row = StridedRow<THREADS, ROWS>;
  __shared__ Row::Smem smem[2];
  const Row row(dims.M, dims.N);
  const auto read = [&](int j) {
    return hooks.score(to_f32(S.data[row.row * S.stride[0] + j * S.stride[1]]), row.row, j);
  };
  const StridedExponentials<Row> exponentials(row, smem, read);
  const f32 log_sum = exponentials.greatest + logf(exponentials.sum);
  row.each(read, [&](f32 x, int j) { D.data[row.row * D.stride[0] + j * D.stride[1]] = from_f32<O>(x - log_sum); });
}

#else

#include "device/reference/log_softmax.cuh"

#endif
