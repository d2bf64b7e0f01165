//! kernel  dequantize "Y[i,j] = output(Q[i,j] * scale), what `quantize` made of rows: e4m3, or e2m1 in pairs, and the scales of all formats and layouts"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! type    O       = bf16  in {f32, bf16, f16}      "elements of Y"
//! type    T       = e4m3  in {e4m3, u8}            "of Q: u8 holds two e2m1, that of the even column in its lower half"
//! type    E       = f32   in {f32, u8, e4m3}       "of scales: u8 holds an e8m0, 2^(code - 127)"
//! dim     M, N            in 0..2147483647
//!
//! param   SCALES  = 2     in 0..6                  "0: GIVEN is the scale of all; 1: each row has one; 2: each 128 columns; 3: mxfp8; 4: mxfp4; 5: nvfp4; 6: each square of 128 by 128: as of quantize"
//! param   BLOCKED = 0     in {0, 1}                "1: scales as tcgen05 products take them: blocks of 128 rows by 4 scales"
//! param   UNIT    = 0     in {0, 1}                "1, for nvfp4: scales are in units of GIVEN"
//! param   THREADS = 256   in {128, 256, 512}       "of a block"
//! param   LANES   = 32    in {8, 16, 32}           "threads of a warp that share a row"
//! param   PACKS   = 2     in {1, 2, 4}             "packs of a thread"
//! param   WHOLE   = 1     in {1, 0}                "1: every row begins at 16 bytes and is whole packs"
//!
//! let     COUNT   = 16 / sizeof(O)                 "elements of a pack, which is written at once"
//! let     ROWS    = THREADS / LANES                "rows of a block"
//! let     HELD    = LANES * PACKS * COUNT          "elements of a row that its threads hold"
//! let     WIDTH   = SCALES == 2 || SCALES == 6 ? 128 : SCALES == 5 ? 16 : 32 "columns that share a scale, where a row has several"
//! let     EACH    = SCALES <= 3 || SCALES == 6 ? 1 : 2 "elements of a byte"
//! let     GROUPS  = SCALES >= 2 ? ceil_div(N, WIDTH) : 1 "scales of a row"
//! let     HEIGHT  = SCALES == 6 ? ceil_div(M, 128) : M "rows of scales"
//!
//! require integer(T) == (EACH == 2)                "e2m1 is stored in pairs as u8, e4m3 as itself"
//! require SCALES == 3 || SCALES == 4 ? integer(E) == 1 : integer(E) == 0 && sizeof(E) == (SCALES == 5 ? 1 : 4) "powers of two are stored as u8, nvfp4's scales as e4m3, others as f32"
//! require BLOCKED == 0 || (SCALES >= 3 && SCALES <= 5)             "scales of 8 bits have blocks"
//! require UNIT == 0 || SCALES == 5                 "only the scales of nvfp4 have a unit"
//! require ceil_div(N, HELD) <= 65535               "parts of a row are counted in 16 bits"
//! require WHOLE == 0 || (N % COUNT == 0 && alignment(Y) % 16 == 0 && stride(Y, 0) % COUNT == 0 && alignment(Q) % 16 == 0 && stride(Q, 0) % COUNT == 0) "rows begin at 16 bytes and are whole packs"
//! require stride(Q, 1) == 1                        "elements of a row of Q are neighbours"
//! require stride(Y, 1) == 1                        "elements of a row of Y are neighbours"
//! require BLOCKED == 0 || M == 0 || N == 0 || (stride(BLOCKS, 3) == 1 && stride(BLOCKS, 2) == 16 && stride(BLOCKS, 1) == 512 && stride(BLOCKS, 0) == ceil_div(GROUPS, 4) * 512) "blocks of scales lie one after the other"
//!
//! tensor  Q : T[M, ceil_div(N, EACH)]
//! tensor  GIVEN  : f32[1]  when SCALES == 0 || UNIT == 1
//! tensor  SCALE  : E[HEIGHT, GROUPS]  when SCALES >= 1 && BLOCKED == 0
//! tensor  BLOCKS : E[ceil_div(M, 128), ceil_div(GROUPS, 4), 32, 16]  when BLOCKED == 1
//! tensor  Y : O[M, N]  out
//!
//! hook    output(f32 y, s32 row, s32 column) : f32 = y  "applied to each result"
//!
//! launch  grid ceil_div(M, ROWS), ceil_div(N, HELD)  block THREADS
//! work    flops M * N  bytes M * N * sizeof(O) + M * ceil_div(N, EACH) + (SCALES > 0) * HEIGHT * GROUPS * sizeof(E)
//! reference dequantize_reference  grid min(M, 65536)  block 256
//!
//! preset  LANES = 16, PACKS = 1  when N <= 256 / sizeof(O)
//! preset  LANES = 32, PACKS = 2
//! preset  LANES = 32, PACKS = 2, WHOLE = 0

#include "device/ptx/cvt.cuh"
#include "device/reduce/register_row.cuh"
#include "device/tile/block_scale.cuh"

// The scale of columns `group` * WIDTH on, and of the row where it has one.
template <class Scale, class Blocks>
__device__ inline f32 scale_of(const Scale& SCALE, const Blocks& BLOCKS, s64 row, int group, f32 unit, int columns) {
  if constexpr (SCALES == 0) return unit;
  if constexpr (SCALES == 1) return to_f32(SCALE.data[row * SCALE.stride[0]]);
  if constexpr (SCALES == 2 || SCALES == 6)
    return to_f32(SCALE.data[(SCALES == 6 ? row / 128 : row) * SCALE.stride[0] + group * SCALE.stride[1]]);
  const s64 at = BLOCKED ? blocked_scale(row, group, ceil_div(ceil_div(columns, WIDTH), 4))
                         : row * SCALE.stride[0] + group * SCALE.stride[1];
  const u8 code = reinterpret_cast<const u8*>(BLOCKED ? BLOCKS.data : SCALE.data)[at];
  return scale_value<SCALES>(code, unit);
}

#ifndef TMA_JIT_REFERENCE

// The elements of pack p as they are stored, and 0 beyond the row.
template <class Row>
__device__ inline Pack<u8, COUNT / EACH> load_codes(const Row& row, const View<const T, 2>& Q, int p) {
  constexpr int kBytes = COUNT / EACH;
  const u8* const from = reinterpret_cast<const u8*>(Q.data) + row.row * Q.stride[0] + row.column_of(p, 0) / EACH;
  if (row.whole(p) && (WHOLE || reinterpret_cast<u64>(from) % kBytes == 0))
    return *reinterpret_cast<const Pack<u8, kBytes>*>(from);
  Pack<u8, kBytes> codes = {};
#pragma unroll
  for (int i = 0; i < kBytes; ++i)
    if (row.holds(p, i * EACH)) codes.x[i] = from[i];
  return codes;
}

extern "C" __global__ __launch_bounds__(THREADS) void dequantize(View<const T, 2> Q, View<const f32, 1> GIVEN,
                                                                 View<const E, 2> SCALE, View<const E, 4> BLOCKS,
                                                                 View<O, 2> Y, const Dims dims,
                                                                 const __grid_constant__ Hooks hooks) {
  RegisterRow<THREADS, LANES, 1, COUNT, PACKS, WHOLE> row(dims.M, dims.N);
  row.advance_parts(blockIdx.y);
  const f32 unit = SCALES == 0 || UNIT ? GIVEN.data[0] : 1.0F;
  Pack<u8, COUNT / EACH> codes[PACKS];
  f32 scales[PACKS];
#pragma unroll
  for (int p = 0; p < PACKS; ++p) {
    codes[p] = load_codes(row, Q, p);
    scales[p] = row.holds(p, 0) ? scale_of(SCALE, BLOCKS, row.row, row.column_of(p, 0) / WIDTH, unit, dims.N) : 0.0F;
  }
  row.store(Y, [&](int p) {
    return [&, p](int i) {
      const u8 code = codes[p].x[i / EACH];
      const f32 x = EACH == 2 ? e2m1::to_f32(code >> i % 2 * 4 & 15) : to_f32(e4m3{code});
      return hooks.output(x * scales[p], row.row, row.column_of(p, i));
    };
  });
}

#else

// One block per row.
extern "C" __global__ void dequantize_reference(View<const T, 2> Q, View<const f32, 1> GIVEN, View<const E, 2> SCALE,
                                                View<const E, 4> BLOCKS, View<f64, 2> Y, const Dims dims,
                                                const __grid_constant__ Hooks hooks) {
  const f64 numbers[8] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  const f32 unit = SCALES == 0 || UNIT ? GIVEN.data[0] : 1.0F;
  for (s64 row = blockIdx.x; row < dims.M; row += gridDim.x) {
    for (s64 j = threadIdx.x; j < dims.N; j += blockDim.x) {
      const T stored = Q.data[row * Q.stride[0] + j / EACH * Q.stride[1]];
      const u8 code = reinterpret_cast<const u8&>(stored) >> (EACH == 2 ? j % 2 * 4 : 0);
      const f64 x = EACH == 2 ? numbers[code & 7] * (code & 8 ? -1.0 : 1.0) : to_f64(e4m3{code});
      const f64 scale = scale_of(SCALE, BLOCKS, row, j / WIDTH, unit, dims.N);
      Y.data[row * Y.stride[0] + j * Y.stride[1]] = hooks.output(x * scale, row, j);
    }
  }
}

#endif
