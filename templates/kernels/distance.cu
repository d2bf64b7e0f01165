//! kernel  distance "how far B is from A: D[b] = sum of (B - A)^2, sum of A^2, elements where one alone is a number"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! type    T      = f32   in {u8, s8, u16, s16, u32, s32, u64, s64, f16, bf16, f32, f64, e4m3, e5m2}
//! dim     N : s64        in 0..576460752303423488
//!
//! param   BLOCKS  = 256  in {256}                  "parts of the sums, which the caller adds"
//! param   THREADS = 256  in {256}
//!
//! require stride(A, 0) == 1 && stride(B, 0) == 1   "the elements must be neighbours"
//!
//! tensor  A : T[N]
//! tensor  B : T[N]
//! tensor  D : f64[BLOCKS, 3]  out
//!
//! launch  grid BLOCKS  block THREADS
//! work    flops 4 * N  bytes 2 * N * sizeof(T)
//! reference distance_reference  grid BLOCKS  block 1

#include "device/ptx/cvt.cuh"
#include "device/reduce/block.cuh"

// Two NaNs count as equal: where nothing was written, both outputs hold the same poison.
struct Distance {
  f64 difference = 0, square = 0, lone = 0;

  __device__ void add(f64 a, f64 b) {
    if ((a != a) != (b != b)) lone += 1;
    if (a != a || b != b || a == b) {
      if (a == a && b == b) square += a * a;
      return;
    }
    difference += (b - a) * (b - a);
    square += a * a;
  }
  __device__ void store(const View<f64, 2>& D) const {
    f64* const d = D.data + blockIdx.x * D.stride[0];
    d[0] = difference, d[D.stride[1]] = square, d[2 * D.stride[1]] = lone;
  }
};

#ifndef TMA_JIT_REFERENCE

__device__ inline f64 block_sum(f64 x) {
  __shared__ f64 partial[THREADS / 32];
  __syncthreads();  // the previous call's partial sums have been read
  return block_reduce<THREADS>(x, partial, 0.0, [](f64 a, f64 b) { return a + b; });
}

extern "C" __global__ __launch_bounds__(THREADS, 1) void distance(View<const T, 1> A, View<const T, 1> B,
                                                                  View<f64, 2> D, const Dims dims) {
  Distance sums;
  for (s64 i = s64{blockIdx.x} * THREADS + threadIdx.x; i < dims.N; i += s64{BLOCKS} * THREADS)
    sums.add(to_f64(A.data[i]), to_f64(B.data[i]));
  const Distance total = {block_sum(sums.difference), block_sum(sums.square), block_sum(sums.lone)};
  if (threadIdx.x == 0) total.store(D);
}

#else

extern "C" __global__ void distance_reference(View<const T, 1> A, View<const T, 1> B, View<f64, 2> D, const Dims dims) {
  Distance sums;
  for (s64 first = s64{blockIdx.x} * THREADS; first < dims.N; first += s64{BLOCKS} * THREADS)
    for (s64 i = first; i < min(first + THREADS, dims.N); ++i)
      sums.add(to_f64(A.data[i * A.stride[0]]), to_f64(B.data[i * B.stride[0]]));
  sums.store(D);
}

#endif
