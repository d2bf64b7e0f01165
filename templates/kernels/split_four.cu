//! kernel  split    "D0[m,:,k], D1[m,:,k], D2[m,:,k], D3[m,:,k] = S[m,:,k] in parts one after the other, bit for bit: along columns with K = 1, along rows with M = 1"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! type    T      = u8    in {u8, s8, u16, s16, u32, s32, u64, s64, f16, bf16, f32, f64, e4m3, e5m2}
//! dim     M, K           in 0..2147483647
//! dim     N0, N1, N2, N3 in 0..2147483647 "of the parts"
//!
//! param   RUN    = 2     in {2, 1, 0}             "neighbours on both sides: 2: a part's elements of an m; 1: those of a row; 0: none need be"
//! param   LANES  = 256   in {8, 32, 256}          "threads that share a row; a block of 256 has 256 / LANES rows"
//!
//! let     ROWS   = 256 / LANES
//! let     WIDTH  = LANES * (RUN == 0 ? 1 : 16 / sizeof(T)) "elements of a row that a block copies at once"
//! let     BLOCKS0 = RUN == 1 ? ceil_div(M * N0, ROWS) * ceil_div(K, WIDTH) : ceil_div(M, ROWS) * ceil_div(N0 * K, WIDTH)  "blocks of part 0"
//! let     BLOCKS1 = RUN == 1 ? ceil_div(M * N1, ROWS) * ceil_div(K, WIDTH) : ceil_div(M, ROWS) * ceil_div(N1 * K, WIDTH)
//! let     BLOCKS2 = RUN == 1 ? ceil_div(M * N2, ROWS) * ceil_div(K, WIDTH) : ceil_div(M, ROWS) * ceil_div(N2 * K, WIDTH)
//! let     BLOCKS3 = RUN == 1 ? ceil_div(M * N3, ROWS) * ceil_div(K, WIDTH) : ceil_div(M, ROWS) * ceil_div(N3 * K, WIDTH)
//! let     BYTES  = (RUN == 1 ? 1 : max(N0, N1, N2, N3)) * K * sizeof(T) "of the longest row"
//!
//! require RUN == 0 || K <= 1 || (stride(S, 2) == 1 && stride(D0, 2) == 1 && stride(D1, 2) == 1 && stride(D2, 2) == 1 && stride(D3, 2) == 1) "elements of a row must be neighbours"
//! require RUN != 2 || ((N0 + N1 + N2 + N3 <= 1 || stride(S, 1) == K) && (N0 <= 1 || stride(D0, 1) == K) && (N1 <= 1 || stride(D1, 1) == K) && (N2 <= 1 || stride(D2, 1) == K) && (N3 <= 1 || stride(D3, 1) == K)) "there must be no space between rows"
//!
//! tensor  S : T[M, N0 + N1 + N2 + N3, K]
//! tensor  D0 : T[M, N0, K]  out
//! tensor  D1 : T[M, N1, K]  out
//! tensor  D2 : T[M, N2, K]  out
//! tensor  D3 : T[M, N3, K]  out
//!
//! launch  grid BLOCKS0 + BLOCKS1 + BLOCKS2 + BLOCKS3  block 256
//! work    flops 0  bytes 2 * M * (N0 + N1 + N2 + N3) * K * sizeof(T)
//! reference split_reference  grid min(ceil_div(M * (N0 + N1 + N2 + N3) * K, 256), 65536)  block 256
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

extern "C" __global__ __launch_bounds__(256) void split(View<const T, 3> S, View<T, 3> D0, View<T, 3> D1, View<T, 3> D2,
                                                        View<T, 3> D3, const Dims dims) {
  u32 block = blockIdx.x;
  s64 first = 0;
  // Copies the block's share of the next part, if it has one.
  const auto take = [&](const View<T, 3>& part, s64 extent) {
    const View<const T, 3> of = from_middle(S, first);
    first += extent;
    return copy_box<RUN, LANES>(part, of, {dims.M, extent, dims.K}, block);
  };
  if (take(D0, dims.N0)) return;
  if (take(D1, dims.N1)) return;
  if (take(D2, dims.N2)) return;
  take(D3, dims.N3);
}

#else

extern "C" __global__ void split_reference(View<const T, 3> S, View<f64, 3> D0, View<f64, 3> D1, View<f64, 3> D2,
                                           View<f64, 3> D3, const Dims dims) {
  reference_box(D0, 0, S, 0, dims.M, dims.N0, dims.K);
  reference_box(D1, 0, S, s64{dims.N0}, dims.M, dims.N1, dims.K);
  reference_box(D2, 0, S, s64{dims.N0} + dims.N1, dims.M, dims.N2, dims.K);
  reference_box(D3, 0, S, s64{dims.N0} + dims.N1 + dims.N2, dims.M, dims.N3, dims.K);
}

#endif
