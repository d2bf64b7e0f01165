//! kernel  concat   "D[m,:,k] = S0[m,:,k], S1[m,:,k] one after the other, bit for bit: along columns with K = 1, along rows with M = 1"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! type    T      = u8    in {u8, s8, u16, s16, u32, s32, u64, s64, f16, bf16, f32, f64, e4m3, e5m2}
//! dim     M, K           in 0..2147483647
//! dim     N0, N1 in 0..2147483647 "of the parts"
//!
//! param   RUN    = 2     in {2, 1, 0}             "neighbours on both sides: 2: a part's elements of an m; 1: those of a row; 0: none need be"
//! param   LANES  = 256   in {8, 32, 256}          "threads that share a row; a block of 256 has 256 / LANES rows"
//!
//! let     ROWS   = 256 / LANES
//! let     WIDTH  = LANES * (RUN == 0 ? 1 : 16 / sizeof(T)) "elements of a row that a block copies at once"
//! let     BLOCKS0 = RUN == 1 ? ceil_div(M * N0, ROWS) * ceil_div(K, WIDTH) : ceil_div(M, ROWS) * ceil_div(N0 * K, WIDTH)  "blocks of part 0"
//! let     BLOCKS1 = RUN == 1 ? ceil_div(M * N1, ROWS) * ceil_div(K, WIDTH) : ceil_div(M, ROWS) * ceil_div(N1 * K, WIDTH)
//! let     BYTES  = (RUN == 1 ? 1 : max(N0, N1)) * K * sizeof(T) "of the longest row"
//!
//! require RUN == 0 || K <= 1 || (stride(D, 2) == 1 && stride(S0, 2) == 1 && stride(S1, 2) == 1) "elements of a row must be neighbours"
//! require RUN != 2 || ((N0 + N1 <= 1 || stride(D, 1) == K) && (N0 <= 1 || stride(S0, 1) == K) && (N1 <= 1 || stride(S1, 1) == K)) "there must be no space between rows"
//!
//! tensor  S0 : T[M, N0, K]
//! tensor  S1 : T[M, N1, K]
//! tensor  D : T[M, N0 + N1, K]  out
//!
//! launch  grid BLOCKS0 + BLOCKS1  block 256
//! work    flops 0  bytes 2 * M * (N0 + N1) * K * sizeof(T)
//! reference concat_reference  grid min(ceil_div(M * (N0 + N1) * K, 256), 65536)  block 256
//!
//! preset  RUN = 2, LANES = 8    when BYTES <= 256
//! preset  RUN = 2, LANES = 32   when BYTES <= 2048
//! preset  RUN = 2, LANES = 256
//! preset  RUN = 1, LANES = 8    when BYTES <= 256
//! preset  RUN = 1, LANES = 32   when BYTES <= 2048
//! preset  RUN = 1, LANES = 256
//! preset  RUN = 0, LANES = 8    when BYTES <= 32 * sizeof(T)
//! preset  RUN = 0, LANES = 32

#include "device/reference/copy_box.cuh"
#include "device/tile/copy_box.cuh"

#ifndef TMA_JIT_REFERENCE

extern "C" __global__ __launch_bounds__(256) void concat(View<const T, 3> S0, View<const T, 3> S1, View<T, 3> D,
                                                         const Dims dims) {
  u32 block = blockIdx.x;
  s64 first = 0;
  // Copies the block's share of the next part, if it has one.
  const auto put = [&](const View<const T, 3>& part, s64 extent) {
    const View<T, 3> into = from_middle(D, first);
    first += extent;
    return copy_box<RUN, LANES>(into, part, {dims.M, extent, dims.K}, block);
  };
  if (put(S0, dims.N0)) return;
  put(S1, dims.N1);
}

#else

extern "C" __global__ void concat_reference(View<const T, 3> S0, View<const T, 3> S1, View<f64, 3> D, const Dims dims) {
  reference_box(D, 0, S0, 0, dims.M, dims.N0, dims.K);
  reference_box(D, s64{dims.N0}, S1, 0, dims.M, dims.N1, dims.K);
}

#endif
