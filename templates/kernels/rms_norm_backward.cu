//! kernel  rms_norm_backward "the gradients of Y[i,j] = x[i,j] * r[i] * W[j], r[i] = 1 / sqrt(mean of x[i,:]^2 + eps): DX of X, and DW of W, from DY of Y"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//!
//! type    T       = bf16  in {f32, bf16, f16}      "elements of X, W, DY and DX"
//! type    G       = f32   in {f32, bf16, f16}      "elements of DW"
//! dim     M, N            in 0..2147483647
//!
//! param   WEIGHT  = 1     in {0, 1}                "1: there is a W"
//! param   THREADS = 256   in {128, 256, 512}       "of a block"
//! param   LANES   = 32    in {4, 16, 32, 128, 256, 512} "threads of a block that share a row: some of a warp, or the block"
//! param   PACKS   = 2     in {1, 2, 4}             "reads of a thread of a row, which is kept in registers"
//! param   AHEAD   = 1     in {0, 1}                "1: a thread reads its next row before it works on one"
//! param   BLOCKS  = 2     in {1, 2, 4, 8}          "blocks of an SM: each walks over rows"
//! param   WHOLE   = 1     in {1, 0}                "1: every row begins at 16 bytes and is whole packs"
//!
//! let     COUNT   = 16 / sizeof(T)                 "elements of a pack, which is read at once"
//! let     ROWS    = THREADS / LANES                "rows of a block at a time"
//! let     HELD    = LANES * PACKS * COUNT          "elements of a row that its threads hold"
//! let     AGAIN   = PACKS * COUNT > 16             "1: DY * W is computed again for lack of registers"
//! let     GRID    = max(1, min(ceil_div(M, ROWS), device.sm_count * BLOCKS))
//! let     ADDERS  = ceil_div(WEIGHT * HELD, 64)    "blocks that add up the sums of the others"
//!
//! require LANES <= 32 || LANES == THREADS          "a row is a warp's or a block's"
//! require BLOCKS * THREADS <= 1024                 "the threads of an SM share its registers"
//! require N <= HELD                                "a row must fit into its threads' registers"
//! require WHOLE == 0 || (N % COUNT == 0 && alignment(X) % 16 == 0 && stride(X, 0) % COUNT == 0 && alignment(DY) % 16 == 0 && stride(DY, 0) % COUNT == 0 && alignment(DX) % 16 == 0 && stride(DX, 0) % COUNT == 0) "rows begin at 16 bytes and are whole packs"
//! require WHOLE == 0 || WEIGHT == 0 || alignment(W) % 16 == 0 "W is read in packs"
//! require stride(X, 1) == 1 && stride(DY, 1) == 1  "elements of a row of X and of DY are neighbours"
//! require stride(DX, 1) == 1                       "elements of a row of DX are neighbours"
//! require WEIGHT == 0 || stride(W, 0) == 1         "elements of W are neighbours"
//!
//! tensor  X  : T[M, N]
//! tensor  W  : T[N]  when WEIGHT == 1
//! tensor  DY : T[M, N]
//! tensor  DX : T[M, N]  out
//! tensor  DW : G[N]  out  when WEIGHT == 1
//! workspace parts    WEIGHT * GRID * HELD * 4
//! workspace counters WEIGHT * 16  zero
//! scalar  eps : f32 = 0.00001
//!
//! hook    output(f32 dx, s32 row, s32 column) : f32 = dx  "applied to each element of DX, such as another gradient added to it"
//!
//! launch  grid GRID + ADDERS  block THREADS
//! work    flops 10 * M * N  bytes 3 * M * N * sizeof(T) + WEIGHT * N * (sizeof(T) + sizeof(G))
//! reference rms_norm_backward_reference  grid max(min(M, 65536), ceil_div(N, 256), 1)  block 256
//!
//! preset  LANES = 4, THREADS = 256, PACKS = 1, BLOCKS = 4
//! preset  LANES = 4, THREADS = 128, PACKS = 2, BLOCKS = 4  when sizeof(T) == 2
//! preset  LANES = 16, THREADS = 256, PACKS = 1, BLOCKS = 4
//! preset  LANES = 16, THREADS = 256, PACKS = 2, BLOCKS = 2  when sizeof(T) == 4
//! preset  LANES = 32, THREADS = 256, PACKS = 2, BLOCKS = 2
//! preset  LANES = 128, THREADS = 128, PACKS = 1, BLOCKS = 8, WHOLE = 0  when sizeof(T) == 2 && N > 512 && N % COUNT != 0
//! preset  LANES = 32, THREADS = 256, PACKS = 4, BLOCKS = 2  when device.compute_capability == 90
//! preset  LANES = 256, THREADS = 256, PACKS = 1, BLOCKS = 4
//! preset  LANES = 512, THREADS = 512, PACKS = 1, BLOCKS = 2
//! preset  LANES = 512, THREADS = 512, PACKS = 2, BLOCKS = 1
//! preset  LANES = 512, THREADS = 512, PACKS = 4, BLOCKS = 1, AHEAD = 0
//! preset  LANES = 16, THREADS = 256, PACKS = 1, BLOCKS = 4, WHOLE = 0
//! preset  LANES = 256, THREADS = 256, PACKS = 1, BLOCKS = 4, WHOLE = 0
//! preset  LANES = 512, THREADS = 512, PACKS = 4, BLOCKS = 1, AHEAD = 0, WHOLE = 0

#include "device/ptx/cvt.cuh"
#include "device/reduce/column_sums.cuh"

#ifndef TMA_JIT_REFERENCE

// With g = DY * W and h = x * r: DX = r * (g - h * mean(g * h)), and DW is the sum of DY * h over the rows.
extern "C" __global__ __launch_bounds__(THREADS, BLOCKS) void rms_norm_backward(
    View<const T, 2> X, View<const T, 1> W, View<const T, 2> DY, View<T, 2> DX, View<G, 1> DW, unsigned char* parts,
    unsigned char* counters, f32 eps, const Dims dims, const __grid_constant__ Hooks hooks) {
  using Row = RegisterRow<THREADS, LANES, 1, COUNT, PACKS, WHOLE>;
  __shared__ Sums<2> partial[2][THREADS / 32];
  ColumnSums<THREADS, LANES, COUNT, PACKS, WEIGHT> columns(parts, counters);
  Row row(columns.is_worker() ? dims.M : 0, dims.N);
  const auto read = [&](const Row& at, Row::Raw<T>& x, Row::Raw<T>& dy) {
    x = at.load_raw_anywhere(X.data + at.row * X.stride[0]);
    dy = at.load_raw_anywhere(DY.data + at.row * DY.stride[0]);
  };
  Row::Raw<T> x, dy, next_x, next_dy;
  if constexpr (AHEAD) read(row, next_x, next_dy);
  // Invariant: a partial sum of one row is overwritten two rows later, after the barrier of the row between.
  for (int first = columns.is_worker() ? blockIdx.x * ROWS : dims.M, turn = 0; first < dims.M; turn ^= 1) {
    if constexpr (AHEAD) x = next_x, dy = next_dy;
    Row next = row;
    next.advance(columns.workers() * ROWS, dims.M, dims.N);
    AHEAD ? read(next, next_x, next_dy) : read(row, x, dy);
    Sums<2> sums = {};  // of x * x and of g * x
#pragma unroll
    for (int p = 0; p < PACKS; ++p) {
      Words<T, COUNT> weight;
      if constexpr (WEIGHT) weight = row.load_vector(W, p);
#pragma unroll
      for (int i = 0; i < COUNT; ++i) {
        const f32 e = to_f32(x.pack[p].at(i)), g = to_f32(dy.pack[p].at(i));
        const f32 gw = WEIGHT ? g * to_f32(weight.at(i)) : g;
        if constexpr (!AGAIN) row.x[p * COUNT + i] = gw;
        sums.x[0] += e * e, sums.x[1] += e * gw;
      }
    }
    sums = row.sums(partial[turn], sums);
    const f32 count = static_cast<f32>(dims.N), r = rsqrtf(sums.x[0] / count + eps), mean = sums.x[1] * r / count;
    row.store_anywhere(DX, dims.M, dims.N, [&](int p) {
      Words<T, COUNT> weight;
      if constexpr (AGAIN && WEIGHT) weight = row.load_vector(W, p);
      return [&, p, weight](int i) {
        const f32 h = to_f32(x.pack[p].at(i)) * r, g = to_f32(dy.pack[p].at(i));
        if constexpr (WEIGHT) columns.x[0][p * COUNT + i] += g * h;
        const f32 gw = AGAIN ? (WEIGHT ? g * to_f32(weight.at(i)) : g) : row.x[p * COUNT + i];
        return hooks.output(r * (gw - h * mean), row.row, row.column_of(p, i));
      };
    });
    row.row = next.row, row.left = next.left;
    if (columns.workers() * ROWS >= dims.M - first) break;
    first += columns.workers() * ROWS;
  }
  if constexpr (WEIGHT) {
    columns.finish([&](int, int column, f32 sum) {
      if (column < dims.N) DW.data[column * DW.stride[0]] = from_f32<G>(sum);
    });
  }
}

#else

#include "device/reference/row_reduce.cuh"

// One block per row for DX, and one per 256 columns for DW.
extern "C" __global__ void rms_norm_backward_reference(View<const T, 2> X, View<const T, 1> W, View<const T, 2> DY,
                                                       View<f64, 2> DX, View<f64, 1> DW, f32 eps, const Dims dims,
                                                       const __grid_constant__ Hooks hooks) {
  const auto x = [&](s64 i, s64 j) { return to_f64(X.data[i * X.stride[0] + j * X.stride[1]]); };
  const auto dy = [&](s64 i, s64 j) { return to_f64(DY.data[i * DY.stride[0] + j * DY.stride[1]]); };
  const auto g = [&](s64 i, s64 j) { return WEIGHT ? dy(i, j) * to_f64(W.data[j * W.stride[0]]) : dy(i, j); };
  const auto scale = [&](s64 i) {
    return 1 / sqrt(row_sum(dims.N, [&](s64 j) { return x(i, j) * x(i, j); }) / dims.N + eps);
  };
  for (s64 row = blockIdx.x; row < dims.M; row += gridDim.x) {
    const f64 r = scale(row), mean = row_sum(dims.N, [&](s64 j) { return g(row, j) * x(row, j) * r; }) / dims.N;
    for (s64 j = threadIdx.x; j < dims.N; j += blockDim.x)
      DX.data[row * DX.stride[0] + j * DX.stride[1]] = hooks.output(r * (g(row, j) - x(row, j) * r * mean), row, j);
  }
  for (s64 first = blockIdx.x * 256; WEIGHT && first < dims.N; first += gridDim.x * 256) {
    const s64 j = first + threadIdx.x;
    f64 sum = 0;
    for (s64 i = 0; i < dims.M; ++i) {
      const f64 r = scale(i);
      if (j < dims.N) sum += dy(i, j) * x(i, j) * r;
    }
    if (j < dims.N) DW.data[j * DW.stride[0]] = sum;
  }
}

#endif
