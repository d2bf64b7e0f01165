//! kernel  rms_norm_quantize "Q[i,j] = y[i,j] / scale as e4m3, y[i,j] = x[i,j] / sqrt(mean of x[i,:]^2 + eps) * W[j], x = input(X[i,j]); scale = greatest |y| / 448 of a row or of 128 columns of it, or is given"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! type    T       = bf16  in {f32, bf16, f16}      "elements of X, W and S"
//! dim     M, N            in 0..2147483647
//!
//! param   SCALES  = 2     in {0, 1, 2}             "0: GIVEN is the scale of all; 1: each row has one; 2: each 128 columns of a row, from column 0 on"
//! param   WEIGHT  = 1     in {0, 1}                "1: there is a W"
//! param   SUM     = 0     in {0, 1}                "1: x is stored too: with input = x + residual[row, column] the sum that the next layer adds to"
//! param   THREADS = 128   in {128, 256, 512, 1024} "of a block"
//! param   LANES   = 32    in {16, 32, 128, 256, 512, 1024} "threads of a block that share a row: some of a warp, or the block"
//! param   CLUSTER = 1     in {1, 2, 4, 8}          "blocks that share a row"
//! param   PACKS   = 4     in {1, 2, 4, 8}          "reads of a thread: a row is kept in registers"
//! param   WHOLE   = 1     in {1, 0}                "1: every row begins at 16 bytes and is whole packs"
//!
//! let     COUNT   = 16 / sizeof(T)                 "elements of a pack, which is read at once"
//! let     ROWS    = THREADS / LANES                "rows of a block"
//! let     HELD    = LANES * CLUSTER * PACKS * COUNT "elements of a row that its threads hold"
//! let     GROUPS  = SCALES == 2 ? ceil_div(N, 128) : 1 "scales of a row"
//!
//! require LANES <= 32 || LANES == THREADS          "a row is a warp's or a block's"
//! require CLUSTER == 1 || LANES == THREADS         "blocks of a cluster share one row"
//! require CLUSTER <= device.cluster_max            "the device must have clusters of that size"
//! require SCALES != 2 || LANES * COUNT >= 128      "128 columns are some lanes' of a warp"
//! require N + (SCALES == 2 || (alignment(X) % 16 == 0 && stride(X, 0) % COUNT == 0) ? 0 : COUNT - 1) <= HELD "a row must fit into its threads' registers"
//! require PACKS * COUNT <= 64 && PACKS * COUNT * THREADS <= 32768 "what a thread holds must fit into registers"
//! require WHOLE == 0 || (N % COUNT == 0 && alignment(X) % 16 == 0 && stride(X, 0) % COUNT == 0 && alignment(Q) % 16 == 0 && stride(Q, 0) % COUNT == 0) "rows begin at 16 bytes and are whole packs"
//! require WHOLE == 0 || WEIGHT == 0 || alignment(W) % 16 == 0 "W is read in packs"
//! require WHOLE == 0 || SUM == 0 || (alignment(S) % 16 == 0 && stride(S, 0) % COUNT == 0) "rows of S are stored in packs"
//! require stride(X, 1) == 1                        "elements of a row of X are neighbours"
//! require stride(Q, 1) == 1                        "elements of a row of Q are neighbours"
//! require WEIGHT == 0 || stride(W, 0) == 1         "elements of W are neighbours"
//! require SUM == 0 || stride(S, 1) == 1            "elements of a row of S are neighbours"
//!
//! tensor  X : T[M, N]
//! tensor  W : T[N]  when WEIGHT == 1
//! tensor  GIVEN : f32[1]  when SCALES == 0
//! tensor  Q : e4m3[M, N]  out
//! tensor  SCALE : f32[M, GROUPS]  out  when SCALES >= 1
//! tensor  S : T[M, N]  out  when SUM == 1
//! scalar  eps : f32 = 0.00001
//!
//! hook    input(f32 x, s32 row, s32 column) : f32 = x   "applied to each element first"
//!
//! cluster CLUSTER
//! launch  grid ceil_div(M, ROWS) * CLUSTER  block THREADS
//! work    flops 6 * M * N  bytes M * N * (sizeof(T) + 1 + SUM * sizeof(T)) + WEIGHT * N * sizeof(T) + (SCALES > 0) * M * GROUPS * 4
//! reference rms_norm_quantize_reference  grid min(M, 65536)  block 256
//!
//! preset  LANES = 16, THREADS = 256, PACKS = 1
//! preset  LANES = 32, THREADS = 256, PACKS = 1
//! preset  LANES = 32, THREADS = 256, PACKS = 2
//! preset  LANES = 32, THREADS = 128, PACKS = 4
//! preset  LANES = 128, THREADS = 128, PACKS = 2
//! preset  LANES = 128, THREADS = 128, PACKS = 4
//! preset  LANES = 256, THREADS = 256, PACKS = 4
//! preset  LANES = 512, THREADS = 512, PACKS = 4
//! preset  LANES = 256, THREADS = 256, CLUSTER = 8, PACKS = 4  when device.cluster_max >= 8
//! preset  LANES = 1024, THREADS = 1024, CLUSTER = 8, PACKS = 2  when device.cluster_max >= 8 && device.threads_per_sm >= 2048
//! preset  LANES = 512, THREADS = 512, PACKS = 8
//! preset  LANES = 32, THREADS = 256, PACKS = 1, WHOLE = 0
//! preset  LANES = 128, THREADS = 128, PACKS = 4, WHOLE = 0
//! preset  LANES = 512, THREADS = 512, PACKS = 8, WHOLE = 0

#include "device/ptx/cvt.cuh"
#include "device/reduce/quantized_row.cuh"

#ifndef TMA_JIT_REFERENCE

extern "C" __global__ __launch_bounds__(THREADS) void rms_norm_quantize(View<const T, 2> X, View<const T, 1> W,
                                                                        View<const f32, 1> GIVEN, View<e4m3, 2> Q,
                                                                        View<f32, 2> SCALE, View<T, 2> S, f32 eps,
                                                                        const Dims dims,
                                                                        const __grid_constant__ Hooks hooks) {
  using Row = RegisterRow<THREADS, LANES, CLUSTER, COUNT, PACKS, WHOLE>;
  __shared__ RowSmem<THREADS, CLUSTER, 2> smem;
  smem.init();
  Row row = SCALES == 2 ? Row(dims.M, dims.N) : Row(X, dims.M, dims.N);
  row.load(X, 0.0F, [&](f32 x, int column) { return hooks.input(x, row.row, column); });
  row.wait_for_cluster();
  if constexpr (SUM) row.store(S);
  f32 squares = 0;
#pragma unroll
  for (const f32 x : row.x) squares += x * x;
  squares = row.sum(smem, 0, squares);
  const f32 factor = rsqrtf(squares / static_cast<f32>(dims.N) + eps);
#pragma unroll
  for (int p = 0; p < PACKS; ++p) {
    Words<T, COUNT> weight;
    if constexpr (WEIGHT) weight = row.load_vector(W, p);
#pragma unroll
    for (int i = 0; i < COUNT; ++i) row.x[p * COUNT + i] *= WEIGHT ? factor * to_f32(weight.at(i)) : factor;
  }
  if constexpr (SCALES == 2) {
    store_groups(row, Q, SCALE);
  } else if constexpr (SCALES == 1) {
    const auto greater = [](f32 a, f32 b) { return fmaxf(a, b); };
    const Scale scale = scale_of(row.reduce(smem, 1, greatest_magnitude(row), 0.0F, greater));
    if (row.row < dims.M && row.column <= 0) SCALE.data[row.row * SCALE.stride[0]] = scale.scale;
    store_scaled(row, Q, scale.inverse);
  } else {
    store_scaled(row, Q, 1 / GIVEN.data[0]);
  }
}

#else

#include "device/reference/quantize.cuh"

// One block per row.
extern "C" __global__ void rms_norm_quantize_reference(View<const T, 2> X, View<const T, 1> W, View<const f32, 1> GIVEN,
                                                       View<f64, 2> Q, View<f64, 2> SCALE, View<f64, 2> S, f32 eps,
                                                       const Dims dims, const __grid_constant__ Hooks hooks) {
  for (s64 row = blockIdx.x; row < dims.M; row += gridDim.x) {
    const auto input = [&](s64 j) { return hooks.input(to_f64(X.data[row * X.stride[0] + j * X.stride[1]]), row, j); };
    const f64 squares = row_sum(dims.N, [&](s64 j) { return input(j) * input(j); });
    const f64 factor = 1 / sqrt(squares / static_cast<f64>(dims.N) + eps);
    const auto y = [&](s64 j) { return input(j) * factor * (WEIGHT ? to_f64(W.data[j * W.stride[0]]) : 1.0); };
    quantize_row<SCALES>(row, dims.N, y, GIVEN, Q, SCALE);
    for (s64 j = threadIdx.x; SUM && j < dims.N; j += 256) S.data[row * S.stride[0] + j * S.stride[1]] = input(j);
  }
}

#endif
