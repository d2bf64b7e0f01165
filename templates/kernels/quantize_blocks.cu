//! kernel  quantize "Q[i,j] = x[i,j] / scale as e4m3 or e2m1, x = input(X[i,j]); each 32 or 16 columns have a scale of 8 bits: mxfp8, mxfp4 and nvfp4"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! type    T       = bf16  in {f32, bf16, f16}      "elements of X"
//! type    O       = e4m3  in {e4m3, u8}            "of Q: u8 holds two e2m1, that of the even column in its lower half"
//! type    E       = u8    in {u8, e4m3}            "of scales: u8 holds an e8m0, 2^(code - 127)"
//! dim     M, N            in 0..2147483647
//!
//! param   SCALES  = 3     in {3, 4, 5}             "3: mxfp8: e4m3 and a power of two for each 32 columns, the least with which none is beyond 448; 4: mxfp4: e2m1 likewise, 6; 5: nvfp4: e2m1 and an e4m3 for each 16 columns, their greatest magnitude / 6"
//! param   BLOCKED = 0     in {0, 1}                "1: scales as tcgen05 products take them: blocks of 128 rows by 4 scales, with zeros beyond the ends"
//! param   UNIT    = 0     in {0, 1}                "1, for nvfp4: scales are in units of GIVEN's magnitude, and Q of scale * GIVEN; where that is 0 or NaN, Q is 0"
//! param   THREADS = 256   in {128, 256, 512}       "of a block"
//! param   LANES   = 32    in {8, 16, 32}           "threads of a warp that share a row"
//! param   PACKS   = 4     in {1, 2, 4}             "reads of a thread"
//! param   WHOLE   = 1     in {1, 0}                "1: every row begins at 16 bytes and is whole packs"
//!
//! let     COUNT   = 16 / sizeof(T)                 "elements of a pack, which is read at once"
//! let     ROWS    = THREADS / LANES                "rows of a block"
//! let     HELD    = LANES * PACKS * COUNT          "elements of a row that its threads hold"
//! let     WIDTH   = SCALES == 5 ? 16 : 32          "columns that share a scale"
//! let     EACH    = SCALES == 3 ? 1 : 2            "elements of a byte"
//! let     GROUPS  = ceil_div(N, WIDTH)             "scales of a row"
//! let     PARTS   = ceil_div(BLOCKED == 1 ? align_up(N, 4 * WIDTH) : N, HELD) "of a row"
//! let     HEIGHT  = BLOCKED == 1 ? align_up(M, 128) : M
//!
//! require integer(O) == (SCALES >= 4)              "e2m1 is stored in pairs as u8, e4m3 as itself"
//! require integer(E) == (SCALES <= 4)              "powers of two are stored as u8, other scales as e4m3"
//! require UNIT == 0 || SCALES == 5                 "only the scales of nvfp4 have a unit"
//! require LANES * COUNT >= 4 * WIDTH || BLOCKED == 0 "a row's scales are stored by whole blocks"
//! require LANES * COUNT >= WIDTH                   "columns that share a scale are some lanes' of a warp"
//! require HEIGHT <= 2147483647 && PARTS <= 65535   "rows are counted in 31 bits, parts of one in 16"
//! require WHOLE == 0 || (N % COUNT == 0 && alignment(X) % 16 == 0 && stride(X, 0) % COUNT == 0 && alignment(Q) % 16 == 0 && stride(Q, 0) % COUNT == 0) "rows begin at 16 bytes and are whole packs"
//! require stride(X, 1) == 1                        "elements of a row of X are neighbours"
//! require stride(Q, 1) == 1                        "elements of a row of Q are neighbours"
//! require BLOCKED == 0 || M == 0 || N == 0 || (stride(BLOCKS, 3) == 1 && stride(BLOCKS, 2) == 16 && stride(BLOCKS, 1) == 512 && stride(BLOCKS, 0) == ceil_div(GROUPS, 4) * 512) "blocks of scales lie one after the other"
//!
//! tensor  X : T[M, N]
//! tensor  GIVEN : f32[1]  when UNIT == 1
//! tensor  Q : O[M, ceil_div(N, EACH)]  out
//! tensor  SCALE  : E[M, GROUPS]  out  when BLOCKED == 0
//! tensor  BLOCKS : E[ceil_div(M, 128), ceil_div(GROUPS, 4), 32, 16]  out  when BLOCKED == 1
//!
//! hook    input(f32 x, s32 row, s32 column) : f32 = x  "applied to each element first"
//!
//! launch  grid ceil_div(HEIGHT, ROWS), PARTS  block THREADS
//! work    flops 3 * M * N  bytes M * N * sizeof(T) + M * ceil_div(N, EACH) + M * GROUPS
//! reference quantize_reference  grid min(HEIGHT, 65536)  block 256
//!
//! preset  LANES = 16, PACKS = 1  when N <= 256 / sizeof(T)
//! preset  LANES = 32, PACKS = 2  when N <= 1024
//! preset  LANES = 32, PACKS = 4  when SCALES == 3
//! preset  LANES = 32, PACKS = 2
//! preset  LANES = 32, PACKS = 2, WHOLE = 0

#include "device/ptx/cvt.cuh"
#include "device/reduce/register_row.cuh"
#include "device/tile/block_scale.cuh"

#ifndef TMA_JIT_REFERENCE

#include "device/ptx/max_nan.cuh"

using Format = BlockFormat<SCALES>;

// Stores the code of a scale, and zeros where a block of scales is beyond the ends of rows or columns.
__device__ inline void store_scale(const View<E, 2>& SCALE, const View<E, 4>& BLOCKS, int row, int group, u8 code,
                                   const Dims& dims) {
  const int groups = ceil_div(dims.N, Format::kWidth), across = ceil_div(groups, 4);
  const bool inside = row < dims.M && group < groups;
  if constexpr (BLOCKED)
    if (row < (dims.M + 127) / 128 * 128 && group < across * 4)
      reinterpret_cast<u8*>(BLOCKS.data)[blocked_scale(row, group, across)] = inside ? code : 0;
  if (BLOCKED == 0 && inside) reinterpret_cast<u8*>(SCALE.data)[row * SCALE.stride[0] + group * SCALE.stride[1]] = code;
}

// Stores a pack of e2m1, of which the thread holds those in whole bytes or the first of a byte.
template <class Row> __device__ inline void store_pairs(const Row& row, const View<O, 2>& Q, int p, u32 codes) {
  u8* const to = reinterpret_cast<u8*>(Q.data) + row.row * Q.stride[0] + row.column_of(p, 0) / 2;
  if (row.whole(p) && (WHOLE || reinterpret_cast<u64>(to) % (COUNT / 2) == 0)) {
    if constexpr (COUNT == 8)
      *reinterpret_cast<u32*>(to) = codes;
    else
      *reinterpret_cast<u16*>(to) = static_cast<u16>(codes);
    return;
  }
#pragma unroll
  for (int i = 0; i < COUNT / 2; ++i)
    if (row.holds(p, 2 * i)) to[i] = static_cast<u8>(codes >> 8 * i);
}

extern "C" __global__ __launch_bounds__(THREADS) void quantize(View<const T, 2> X, View<const f32, 1> GIVEN,
                                                               View<O, 2> Q, View<E, 2> SCALE, View<E, 4> BLOCKS,
                                                               const Dims dims, const __grid_constant__ Hooks hooks) {
  constexpr int kLanes = Format::kWidth / COUNT;  // that hold the columns of a scale
  RegisterRow<THREADS, LANES, 1, COUNT, PACKS, WHOLE> row(dims.M, dims.N);
  row.advance_parts(blockIdx.y);
  row.load(X, 0.0F, [&](f32 x, int column) { return hooks.input(x, row.row, column); });
  const f32 unit = UNIT ? GIVEN.data[0] : 1.0F;
#pragma unroll
  for (int p = 0; p < PACKS; ++p) {
    f32* const x = row.x + p * COUNT;
    const auto greater = [](f32 a, f32 b) { return Format::kFour ? max_nan(a, b) : fmaxf(a, b); };
    f32 greatest = 0;
#pragma unroll
    for (int i = 0; i < COUNT; ++i) greatest = greater(greatest, fabsf(x[i]));
    const BlockScale scale = block_scale<SCALES>(warp_reduce<kLanes>(greatest, greater), unit);
    if (threadIdx.x % kLanes == 0)
      store_scale(SCALE, BLOCKS, row.row, row.column_of(p, 0) / Format::kWidth, scale.code, dims);
    if constexpr (Format::kFour) {
      f32 q[8] = {};
#pragma unroll
      for (int i = 0; i < COUNT; ++i) q[i] = x[i] * scale.inverse;
      if (!scale.bounded) {
#pragma unroll
        for (int i = 0; i < COUNT; ++i) q[i] = scale.none ? 0.0F : fmaxf(fminf(q[i], 6.0F), -6.0F);
      }
      store_pairs(row, Q, p, e2m1::pack(q));
    } else {
      Pack<O, COUNT> out;
#pragma unroll
      for (int i = 0; i < COUNT; ++i) out.x[i] = from_f32<O>(x[i] * scale.inverse);
      row.store_pack(Q.data + row.row * Q.stride[0], p, out);
    }
  }
}

#else

#include "device/reference/quantize_blocks.cuh"

// One block per row.
extern "C" __global__ void quantize_reference(View<const T, 2> X, View<const f32, 1> GIVEN, View<f64, 2> Q,
                                              View<f64, 2> SCALE, View<f64, 4> BLOCKS, const Dims dims,
                                              const __grid_constant__ Hooks hooks) {
  const s64 groups = ceil_div(dims.N, WIDTH), across = ceil_div<s64>(groups, 4);
  const f64 unit = UNIT ? GIVEN.data[0] : 1.0F;
  for (s64 row = blockIdx.x; row < (BLOCKED ? ceil_div(s64{dims.M}, s64{128}) * 128 : dims.M); row += gridDim.x) {
    const auto x = [&](s64 j) {
      return j < dims.N ? hooks.input(to_f64(X.data[row * X.stride[0] + j * X.stride[1]]), row, j) : 0.0;
    };
    for (s64 group = threadIdx.x; group < (BLOCKED ? across * 4 : groups); group += blockDim.x) {
      const bool inside = row < dims.M && group < groups;
      const ReferenceScale scale = inside ? reference_scale<SCALES>(x, group * WIDTH, unit) : ReferenceScale{};
      if constexpr (BLOCKED)
        BLOCKS.data[blocked_scale(row, group, across)] = scale.stored;
      else
        SCALE.data[row * SCALE.stride[0] + group * SCALE.stride[1]] = scale.stored;
      for (s64 j = group * WIDTH; inside && j < min((group + 1) * WIDTH, s64{dims.N}); j += EACH) {
        f64& to = Q.data[row * Q.stride[0] + j / EACH * Q.stride[1]];
        if constexpr (SCALES == 3)
          to = quantized(x(j), scale.value);
        else
          to = e2m1_code(x(j), scale) + 16 * e2m1_code(x(j + 1), scale);
      }
    }
  }
}

#endif
