//! kernel  concat   "D[m,:,k] = S0[m,:,k] to S7[m,:,k], one to eight parts one after the other, bit for bit: along columns with K = 1, along rows with M = 1"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! type    T      = u8    in {u8, s8, u16, s16, u32, s32, u64, s64, f16, bf16, f32, f64, e4m3, e5m2}
//! dim     M, K           in 0..2147483647
//! dim     N0             in 0..2147483647                     "of the parts"
//! dim     N1             in 0..2147483647  when PARTS >= 2
//! dim     N2             in 0..2147483647  when PARTS >= 3
//! dim     N3             in 0..2147483647  when PARTS >= 4
//! dim     N4             in 0..2147483647  when PARTS >= 5
//! dim     N5             in 0..2147483647  when PARTS >= 6
//! dim     N6             in 0..2147483647  when PARTS >= 7
//! dim     N7             in 0..2147483647  when PARTS >= 8
//!
//! param   PARTS  = 2     in 1..8
//! param   RUN    = 2     in {2, 1, 0}             "neighbours on both sides: 2: a part's elements of an m; 1: those of a row; 0: none need be"
//! param   LANES  = 256   in {8, 32, 256}          "threads that share a row; a block of 256 has 256 / LANES rows"
//!
//! let     ROWS   = 256 / LANES
//! let     WIDTH  = LANES * (RUN == 0 ? 1 : 16 / sizeof(T)) "elements of a row that a block copies at once"
//! let     BLOCKS0 = RUN == 1 ? ceil_div(M * N0, ROWS) * ceil_div(K, WIDTH) : ceil_div(M, ROWS) * ceil_div(N0 * K, WIDTH)  "blocks of part 0"
//! let     BLOCKS1 = RUN == 1 ? ceil_div(M * N1, ROWS) * ceil_div(K, WIDTH) : ceil_div(M, ROWS) * ceil_div(N1 * K, WIDTH)
//! let     BLOCKS2 = RUN == 1 ? ceil_div(M * N2, ROWS) * ceil_div(K, WIDTH) : ceil_div(M, ROWS) * ceil_div(N2 * K, WIDTH)
//! let     BLOCKS3 = RUN == 1 ? ceil_div(M * N3, ROWS) * ceil_div(K, WIDTH) : ceil_div(M, ROWS) * ceil_div(N3 * K, WIDTH)
//! let     BLOCKS4 = RUN == 1 ? ceil_div(M * N4, ROWS) * ceil_div(K, WIDTH) : ceil_div(M, ROWS) * ceil_div(N4 * K, WIDTH)
//! let     BLOCKS5 = RUN == 1 ? ceil_div(M * N5, ROWS) * ceil_div(K, WIDTH) : ceil_div(M, ROWS) * ceil_div(N5 * K, WIDTH)
//! let     BLOCKS6 = RUN == 1 ? ceil_div(M * N6, ROWS) * ceil_div(K, WIDTH) : ceil_div(M, ROWS) * ceil_div(N6 * K, WIDTH)
//! let     BLOCKS7 = RUN == 1 ? ceil_div(M * N7, ROWS) * ceil_div(K, WIDTH) : ceil_div(M, ROWS) * ceil_div(N7 * K, WIDTH)
//! let     ALL    = N0 + N1 + N2 + N3 + N4 + N5 + N6 + N7
//! let     BYTES  = (RUN == 1 ? 1 : max(N0, N1, N2, N3, N4, N5, N6, N7)) * K * sizeof(T) "of the longest row"
//!
//! require RUN == 0 || K <= 1 || stride(D, 2) == 1 "elements of a row of D must be neighbours"
//! require RUN == 0 || K <= 1 || stride(S0, 2) == 1 "elements of a row of S0 must be neighbours"
//! require RUN == 0 || PARTS <= 1 || K <= 1 || stride(S1, 2) == 1 "elements of a row of S1 must be neighbours"
//! require RUN == 0 || PARTS <= 2 || K <= 1 || stride(S2, 2) == 1 "elements of a row of S2 must be neighbours"
//! require RUN == 0 || PARTS <= 3 || K <= 1 || stride(S3, 2) == 1 "elements of a row of S3 must be neighbours"
//! require RUN == 0 || PARTS <= 4 || K <= 1 || stride(S4, 2) == 1 "elements of a row of S4 must be neighbours"
//! require RUN == 0 || PARTS <= 5 || K <= 1 || stride(S5, 2) == 1 "elements of a row of S5 must be neighbours"
//! require RUN == 0 || PARTS <= 6 || K <= 1 || stride(S6, 2) == 1 "elements of a row of S6 must be neighbours"
//! require RUN == 0 || PARTS <= 7 || K <= 1 || stride(S7, 2) == 1 "elements of a row of S7 must be neighbours"
//! require RUN != 2 || ALL <= 1 || stride(D, 1) == K "there must be no space between rows of D"
//! require RUN != 2 || N0 <= 1 || stride(S0, 1) == K "there must be no space between rows of S0"
//! require RUN != 2 || PARTS <= 1 || N1 <= 1 || stride(S1, 1) == K "there must be no space between rows of S1"
//! require RUN != 2 || PARTS <= 2 || N2 <= 1 || stride(S2, 1) == K "there must be no space between rows of S2"
//! require RUN != 2 || PARTS <= 3 || N3 <= 1 || stride(S3, 1) == K "there must be no space between rows of S3"
//! require RUN != 2 || PARTS <= 4 || N4 <= 1 || stride(S4, 1) == K "there must be no space between rows of S4"
//! require RUN != 2 || PARTS <= 5 || N5 <= 1 || stride(S5, 1) == K "there must be no space between rows of S5"
//! require RUN != 2 || PARTS <= 6 || N6 <= 1 || stride(S6, 1) == K "there must be no space between rows of S6"
//! require RUN != 2 || PARTS <= 7 || N7 <= 1 || stride(S7, 1) == K "there must be no space between rows of S7"
//!
//! tensor  S0 : T[M, N0, K]
//! tensor  S1 : T[M, N1, K]  when PARTS >= 2
//! tensor  S2 : T[M, N2, K]  when PARTS >= 3
//! tensor  S3 : T[M, N3, K]  when PARTS >= 4
//! tensor  S4 : T[M, N4, K]  when PARTS >= 5
//! tensor  S5 : T[M, N5, K]  when PARTS >= 6
//! tensor  S6 : T[M, N6, K]  when PARTS >= 7
//! tensor  S7 : T[M, N7, K]  when PARTS >= 8
//! tensor  D  : T[M, ALL, K]  out
//!
//! launch  grid BLOCKS0 + BLOCKS1 + BLOCKS2 + BLOCKS3 + BLOCKS4 + BLOCKS5 + BLOCKS6 + BLOCKS7  block 256
//! work    flops 0  bytes 2 * M * ALL * K * sizeof(T)
//! reference concat_reference  grid min(ceil_div(M * ALL * K, 256), 65536)  block 256
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

extern "C" __global__ __launch_bounds__(256) void concat(View<const T, 3> S0, View<const T, 3> S1, View<const T, 3> S2,
                                                         View<const T, 3> S3, View<const T, 3> S4, View<const T, 3> S5,
                                                         View<const T, 3> S6, View<const T, 3> S7, View<T, 3> D,
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
  if (PARTS > 1 && put(S1, dims.N1)) return;
  if (PARTS > 2 && put(S2, dims.N2)) return;
  if (PARTS > 3 && put(S3, dims.N3)) return;
  if (PARTS > 4 && put(S4, dims.N4)) return;
  if (PARTS > 5 && put(S5, dims.N5)) return;
  if (PARTS > 6 && put(S6, dims.N6)) return;
  if (PARTS > 7) put(S7, dims.N7);
}

#else

extern "C" __global__ void concat_reference(View<const T, 3> S0, View<const T, 3> S1, View<const T, 3> S2,
                                            View<const T, 3> S3, View<const T, 3> S4, View<const T, 3> S5,
                                            View<const T, 3> S6, View<const T, 3> S7, View<f64, 3> D, const Dims dims) {
  const View<const T, 3> parts[8] = {S0, S1, S2, S3, S4, S5, S6, S7};
  const s64 extents[8] = {dims.N0, dims.N1, dims.N2, dims.N3, dims.N4, dims.N5, dims.N6, dims.N7};
  s64 first = 0;
  for (int i = 0; i < PARTS; ++i) {
    reference_box(D, first, parts[i], 0, dims.M, extents[i], dims.K);
    first += extents[i];
  }
}

#endif
