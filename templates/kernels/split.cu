//! kernel  split    "D0[m,:,k] to D7[m,:,k] = S[m,:,k] in one to eight parts one after the other, bit for bit: along columns with K = 1, along rows with M = 1"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! type    T      = u8    in {u8, s8, u16, s16, u32, s32, u64, s64, f16, bf16, f32, f64, e4m3, e5m2}
//! dim     M, K           in 0..2147483647
//! dim     N[PARTS]       in 0..2147483647          "of the parts"
//!
//! param   PARTS  = 2     in 1..8
//! param   RUN    = 2     in {2, 1, 0}             "neighbours on both sides: 2: a part's elements of an m; 1: those of a row; 0: none need be"
//! param   LANES  = 256   in {8, 32, 256}          "threads that share a row; a block of 256 has 256 / LANES rows"
//! param   WHOLE  = 1     in {1, 0}                "1: what is copied at once begins at 16 bytes on both sides and is a multiple of them"
//!
//! let     ROWS   = 256 / LANES
//! let     WIDTH  = LANES * (RUN == 0 ? 1 : 16 / sizeof(T)) "elements of a row that a block copies at once"
//! let     BLOCKS[PARTS] = RUN == 1 ? ceil_div(M * N[], ROWS) * ceil_div(K, WIDTH) : ceil_div(M, ROWS) * ceil_div(N[] * K, WIDTH) "blocks of a part"
//! let     ALL    = sum(N)
//! let     BYTES  = (RUN == 1 ? 1 : max(N)) * K * sizeof(T) "of the longest row"
//!
//! require RUN == 0 || K <= 1 || stride(S, 2) == 1 "elements of a row of S must be neighbours"
//! require RUN == 0 || K <= 1 || stride(D[], 2) == 1 "elements of a row of D[] must be neighbours"
//! require RUN != 2 || ALL <= 1 || stride(S, 1) == K "there must be no space between rows of S"
//! require RUN != 2 || N[] <= 1 || stride(D[], 1) == K "there must be no space between rows of D[]"
//! require WHOLE == 0 || (RUN > 0 && alignment(S) >= 16 && (M <= 1 || stride(S, 0) * sizeof(T) % 16 == 0) && (RUN == 2 || ALL <= 1 || stride(S, 1) * sizeof(T) % 16 == 0)) "rows of S must begin at 16 bytes"
//! require WHOLE == 0 || (alignment(D[]) >= 16 && (M <= 1 || stride(D[], 0) * sizeof(T) % 16 == 0) && (RUN == 2 || N[] <= 1 || stride(D[], 1) * sizeof(T) % 16 == 0)) "rows of D[] must begin at 16 bytes"
//! require WHOLE == 0 || (RUN == 2 ? N[] * K : K) * sizeof(T) % 16 == 0 "rows must be whole units of 16 bytes"
//!
//! tensor  S : T[M, ALL, K]
//! tensor  D[PARTS] : T[M, N[], K]  out
//!
//! launch  grid sum(BLOCKS)  block 256
//! work    flops 0  bytes 2 * M * ALL * K * sizeof(T)
//! reference split_reference  grid min(ceil_div(M * ALL * K, 256), 65536)  block 256
//!
//! preset  RUN = 2, WHOLE = 1, LANES = 8     when BYTES <= 256
//! preset  RUN = 2, WHOLE = 1, LANES = 32    when BYTES <= 2048
//! preset  RUN = 2, WHOLE = 1, LANES = 256
//! preset  RUN = 2, WHOLE = 0, LANES = 8     when BYTES <= 256
//! preset  RUN = 2, WHOLE = 0, LANES = 32    when BYTES <= 2048
//! preset  RUN = 2, WHOLE = 0, LANES = 256
//! preset  RUN = 1, WHOLE = 1, LANES = 8     when BYTES <= 256
//! preset  RUN = 1, WHOLE = 1, LANES = 32    when BYTES <= 2048
//! preset  RUN = 1, WHOLE = 1, LANES = 256
//! preset  RUN = 1, WHOLE = 0, LANES = 8     when BYTES <= 256
//! preset  RUN = 1, WHOLE = 0, LANES = 32    when BYTES <= 2048
//! preset  RUN = 1, WHOLE = 0, LANES = 256
//! preset  RUN = 0, WHOLE = 0, LANES = 8     when BYTES <= 32 * sizeof(T)
//! preset  RUN = 0, WHOLE = 0, LANES = 32

#include "device/reference/copy_box.cuh"
#include "device/tile/copy_box.cuh"
#include "device/tile/tensor_list.cuh"

#ifndef TMA_JIT_REFERENCE

extern "C" __global__ __launch_bounds__(256) void split(View<const T, 3> S,
                                                        const __grid_constant__ TensorList<View<T, 3>, 8> D,
                                                        const Dims dims) {
  u32 block = blockIdx.x;
  s64 first = 0;
#pragma unroll
  for (int i = 0; i < PARTS; ++i) {
    const s64 extent = dims.N(i);
    if (copy_box<RUN, LANES, WHOLE != 0>(D[i], from_middle(S, first), {dims.M, extent, dims.K}, block)) return;
    first += extent;
  }
}

#else

extern "C" __global__ void split_reference(View<const T, 3> S, const __grid_constant__ TensorList<View<f64, 3>, 8> D,
                                           const Dims dims) {
  s64 first = 0;
  for (int i = 0; i < PARTS; ++i) {
    reference_box(D[i], 0, S, first, dims.M, dims.N(i), dims.K);
    first += dims.N(i);
  }
}

#endif
