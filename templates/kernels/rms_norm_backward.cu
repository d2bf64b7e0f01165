//! kernel  rms_norm_backward "the gradients of Y[i,j] = x[i,j] * r[i] * W[j], r[i] = 1 / sqrt(mean of x[i,:]^2 + eps): DX of X, and DW of W, from DY of Y"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! use     "device/reference/rms_norm_backward.cuh"
//!
//! param   THREADS = 256   in {128, 256, 512}       "of a block"
//! param   LANES   = 32    in {4, 16, 32, 128, 256, 512} "threads of a block that share a row: some of a warp, or the block"
//! param   PACKS   = 2     in {1, 2, 4}             "reads of a thread of a row, which is kept in registers"
//! param   AHEAD   = 1     in {0, 1}                "1: a thread reads its next row before it works on one"
//! param   BLOCKS  = 2     in {1, 2, 4, 8}          "blocks of an SM: each walks over rows"
//! param   WHOLE   = 1     in {1, 0}                "1: every row begins at 16 bytes and is whole packs"
//!
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
//!
//! workspace parts    WEIGHT * GRID * HELD * 4
//! workspace counters WEIGHT * 12  zero
//!
//! launch  grid GRID + ADDERS  block THREADS
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
// Blocks for which an SM has registers.
constexpr int kResident = WHOLE || __CUDA_ARCH__ >= 900 ? BLOCKS : (BLOCKS + 1) / 2;

extern "C" __global__ __launch_bounds__(THREADS, kResident) void rms_norm_backward(
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

#include "device/reference/rms_norm_backward.cuh"

#endif
