//! kernel  quantize "Q[i,j] = x[i,j] / scale as e4m3, x = input(X[i,j]); scale = greatest |x| / 448 of a row or of 128 columns of it, or is given"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! type    T       = bf16  in {f32, bf16, f16}      "elements of X"
//! dim     M, N            in 0..2147483647
//!
//! param   SCALES  = 2     in {0, 1, 2}             "0: GIVEN is the scale of all; 1: each row has one; 2: each 128 columns of a row, from column 0 on"
//! param   THREADS = 256   in {128, 256, 512, 1024} "of a block"
//! param   LANES   = 32    in {4, 8, 16, 32, 128, 256, 512, 1024} "threads of a block that share a row: some of a warp, or the block"
//! param   CLUSTER = 1     in {1, 2, 4, 8}          "blocks that share a row"
//! param   PACKS   = 4     in {1, 2, 4, 8}          "reads of a thread at a time"
//! param   KEPT    = 1     in {0, 1}                "with a scale for each row: 1: a row is kept in registers; 0: it is read twice, in parts"
//! param   WHOLE   = 1     in {1, 0}                "1: every row begins at 16 bytes and is whole packs"
//!
//! let     COUNT   = 16 / sizeof(T)                 "elements of a pack, which is read at once"
//! let     ROWS    = THREADS / LANES                "rows of a block"
//! let     HELD    = LANES * CLUSTER * PACKS * COUNT "elements of a row that its threads hold at a time"
//! let     SPAN    = N + (SCALES == 2 || (alignment(X) % 16 == 0 && stride(X, 0) % COUNT == 0) ? 0 : COUNT - 1)
//! let     PARTS   = SCALES == 1 ? 1 : ceil_div(SPAN, HELD) "of a row, where its scales do not depend on all of it"
//! let     GROUPS  = SCALES == 2 ? ceil_div(N, 128) : 1 "scales of a row"
//!
//! require LANES <= 32 || LANES == THREADS          "a row is a warp's or a block's"
//! require CLUSTER == 1 || (LANES == THREADS && SCALES == 1) "blocks of a cluster share one row and its scale"
//! require CLUSTER <= device.cluster_max            "the device must have clusters of that size"
//! require SCALES != 2 || LANES * COUNT >= 128      "128 columns are some lanes' of a warp"
//! require SCALES == 1 ? KEPT == 0 || SPAN <= HELD : PARTS <= 65535 "a row must fit into its threads' registers, or into the parts of a grid"
//! require KEPT == 1 || (LANES == THREADS && SCALES == 1) "a row that is read twice is a block's"
//! require PACKS * COUNT <= 64 && PACKS * COUNT * THREADS <= 32768 "what a thread holds must fit into registers"
//! require WHOLE == 0 || (N % COUNT == 0 && alignment(X) % 16 == 0 && stride(X, 0) % COUNT == 0 && alignment(Q) % 16 == 0 && stride(Q, 0) % COUNT == 0) "rows begin at 16 bytes and are whole packs"
//! require stride(X, 1) == 1                        "elements of a row of X are neighbours"
//! require stride(Q, 1) == 1                        "elements of a row of Q are neighbours"
//!
//! tensor  X : T[M, N]
//! tensor  GIVEN : f32[1]  when SCALES == 0
//! tensor  Q : e4m3[M, N]  out
//! tensor  SCALE : f32[M, GROUPS]  out  when SCALES >= 1
//!
//! hook    input(f32 x, s32 row, s32 column) : f32 = x  "applied to each element first"
//!
//! cluster CLUSTER
//! launch  grid ceil_div(M, ROWS) * CLUSTER, PARTS  block THREADS
//! work    flops 3 * M * N  bytes M * N * (sizeof(T) + 1) + (SCALES > 0) * M * GROUPS * 4
//! reference quantize_reference  grid min(M, 65536)  block 256
//!
//! preset  SCALES = 2, LANES = 16, THREADS = 256, PACKS = 1  when SCALES == 2 && N <= 128 && sizeof(T) == 2
//! preset  SCALES = 2, LANES = 32, THREADS = 256, PACKS = 2  when SCALES == 2 && N <= 512
//! preset  SCALES = 2, LANES = 32, THREADS = 256, PACKS = 4  when SCALES == 2
//! preset  SCALES = 0, LANES = 4, THREADS = 256, PACKS = 1  when SCALES == 0 && N <= 32
//! preset  SCALES = 0, LANES = 16, THREADS = 256, PACKS = 1  when SCALES == 0 && N <= 128
//! preset  SCALES = 0, LANES = 32, THREADS = 256, PACKS = 4  when SCALES == 0
//! preset  SCALES = 1, LANES = 4, THREADS = 256, PACKS = 1  when SCALES == 1
//! preset  SCALES = 1, LANES = 16, THREADS = 256, PACKS = 1  when SCALES == 1
//! preset  SCALES = 1, LANES = 32, THREADS = 256, PACKS = 2  when SCALES == 1
//! preset  SCALES = 1, LANES = 32, THREADS = 128, PACKS = 4  when SCALES == 1
//! preset  SCALES = 1, LANES = 128, THREADS = 128, PACKS = 4  when SCALES == 1
//! preset  SCALES = 1, LANES = 256, THREADS = 256, PACKS = 4  when SCALES == 1
//! preset  SCALES = 1, LANES = 512, THREADS = 512, PACKS = 4  when SCALES == 1
//! preset  SCALES = 1, LANES = 256, THREADS = 256, CLUSTER = 8, PACKS = 4  when device.cluster_max >= 8 && SCALES == 1
//! preset  SCALES = 1, LANES = 512, THREADS = 512, CLUSTER = 8, PACKS = 4  when device.cluster_max >= 8 && SCALES == 1
//! preset  SCALES = 1, LANES = 1024, THREADS = 1024, PACKS = 4  when SCALES == 1
//! preset  SCALES = 1, LANES = 512, THREADS = 512, CLUSTER = 8, PACKS = 2, KEPT = 0  when device.cluster_max >= 8 && SCALES == 1
//! preset  SCALES = 1, LANES = 1024, THREADS = 1024, PACKS = 2, KEPT = 0  when SCALES == 1
//! preset  SCALES = 2, LANES = 32, THREADS = 256, PACKS = 2, WHOLE = 0  when SCALES == 2 && N <= 512
//! preset  SCALES = 1, LANES = 32, THREADS = 128, PACKS = 4, WHOLE = 0  when SCALES == 1
//! preset  SCALES = 1, LANES = 1024, THREADS = 1024, PACKS = 2, KEPT = 0, WHOLE = 0  when SCALES == 1

#include "device/ptx/cvt.cuh"
#include "device/reduce/quantized_row.cuh"
#include "device/reduce/row_input.cuh"
#include "device/reduce/row_passes.cuh"

#ifndef TMA_JIT_REFERENCE

extern "C" __global__ __launch_bounds__(THREADS) void quantize(View<const T, 2> X, View<const f32, 1> GIVEN,
                                                               View<e4m3, 2> Q, View<f32, 2> SCALE, const Dims dims,
                                                               const __grid_constant__ Hooks hooks) {
  using Row = RegisterRow<THREADS, LANES, CLUSTER, COUNT, PACKS, WHOLE>;
  __shared__ RowSmem<THREADS, CLUSTER, 1> smem;
  smem.init();
  Row row = SCALES == 2 ? Row(dims.M, dims.N) : Row(X, dims.M, dims.N);
  const auto read = [&] { load_input(row, X, hooks); };
  if constexpr (SCALES == 1) {
    const auto greater = [](f32 a, f32 b) { return fmaxf(a, b); };
    f32 greatest = 0;
    first_pass<KEPT>(row, read, [&] { greatest = fmaxf(greatest, greatest_magnitude(row)); });
    row.wait_for_cluster();
    const Scale scale = scale_of(row.reduce(smem, 0, greatest, 0.0F, greater));
    if (row.row < dims.M && row.column <= 0) SCALE.data[row.row * SCALE.stride[0]] = scale.scale;
    next_pass<KEPT>(row, read, [&] { store_scaled(row, Q, scale.inverse); });
  } else {
    row.advance_parts(blockIdx.y);
    read();
    if constexpr (SCALES == 2)
      store_groups(row, Q, SCALE);
    else
      store_scaled(row, Q, inverse_of(GIVEN.data[0]));
  }
}

#else

#include "device/reference/quantize.cuh"

// One block per row.
extern "C" __global__ void quantize_reference(View<const T, 2> X, View<const f32, 1> GIVEN, View<f64, 2> Q,
                                              View<f64, 2> SCALE, const Dims dims,
                                              const __grid_constant__ Hooks hooks) {
  for (s64 row = blockIdx.x; row < dims.M; row += gridDim.x) {
    const auto input = [&](s64 j) { return hooks.input(to_f64(X.data[row * X.stride[0] + j * X.stride[1]]), row, j); };
    quantize_row<SCALES>(row, dims.N, input, GIVEN, Q, SCALE);
  }
}

#endif
