//! kernel  cross_entropy "Y[i] = log(sum over j of exp(x[i,j])) - x[i,label], x = score(S[i,j]), label = L[i]; 0 where L[i] is no column; rows of elements at any stride, such as columns of a matrix"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! prefer  -1
//! use     "device/reference/cross_entropy.cuh"
//! use     "device/reduce/strided_row.cuh"
//!
//! preset  ROWS = 1                  when stride(S, 0) >= stride(S, 1) && N > 128
//! preset  ROWS = 1, THREADS = 128   when stride(S, 0) >= stride(S, 1)
//! preset  ROWS = 32
//! preset  ROWS = 32, THREADS = 128  when N <= 64

#include "device/ptx/cvt.cuh"
#include "device/reduce/strided_exponentials.cuh"

#ifndef TMA_JIT_REFERENCE

// The first thread of a row stores its loss.
extern "C" __global__ __launch_bounds__(THREADS, 1) void cross_entropy(View<const T, 2> S, View<const I, 1> L,
                                                                       View<f32, 1> Y, const Dims dims,
                                                                       const __grid_constant__ Hooks hooks) {
  using Row = StridedRow<THREADS, ROWS>;
  __shared__ Row::Smem smem[2];
  const Row row(dims.M, dims.N);
  const auto read = [&](int j) {
    return hooks.score(to_f32(S.data[row.row * S.stride[0] + j * S.stride[1]]), row.row, j);
  };
  const StridedExponentials<Row> exponentials(row, smem, read);
  if (!row.inside || threadIdx.x >= ROWS) return;
  const s64 label = L.data[row.row * L.stride[0]];
  const bool counts = label >= 0 && label < dims.N;
  Y.data[row.row * Y.stride[0]] =
      counts ? exponentials.greatest + logf(exponentials.sum) - read(static_cast<int>(label)) : 0.0F;
}

#else

#include "device/reference/cross_entropy.cuh"

#endif
