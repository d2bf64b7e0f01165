//! kernel  reduce   "Y[m,n] = output(combination over k of input(X[m,k,n])): a sum, mean, maximum, minimum or one of yours; N = 1: of rows, M = N = 1: of a whole tensor"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! use     "device/reference/reduce.cuh"
//!
//! dim     M               in 0..2147483647
//! dim     N = 1                                    "one column: elements that are combined are neighbours"
//!
//! param   LANES   = 256   in {1, 2, 4, 8, 16, 32, 128, 256, 512} "threads of a block that share a row: lanes of a warp, or the block"
//! param   UNROLL  = 4     in {1, 2, 4, 8}          "reads of 16 bytes of a row that a thread has in flight"
//! param   ROWS    = 1     in {1, 2, 4, 8}          "rows that lanes of a warp have in flight"
//! param   WHOLE   = 1     in {1, 0}                "1: rows begin at 16 bytes and are whole units of them"
//! param   BLOCKS  = 5     in {1, 2, 3, 4, 5, 6, 8, 10, 12, 16} "blocks of an SM among which few rows are divided"
//!
//! let     ALIGNED = alignment(X) >= 16 && (M <= 1 || stride(X, 0) * sizeof(T) % 16 == 0)
//! let     PACKS   = ceil_div(K, 16 / sizeof(T)) + (ALIGNED ? 0 : 1)  "aligned pieces of 16 bytes of a row"
//! let     PARTS   = LANES < THREADS ? 1 : max(1, min(ceil_div(PACKS, THREADS * UNROLL), device.sm_count * BLOCKS / max(M, 1))) "blocks of a row"
//!
//! require M == 0 || K <= 1 || stride(X, 1) == 1    "elements of a row of X are neighbours"
//! require LANES <= 32 || LANES == THREADS          "a row is some lanes' of a warp or a block's"
//! require WHOLE == 0 || (ALIGNED && K * sizeof(T) % 16 == 0) "rows must begin at 16 bytes and be whole units of them"
//! require WHOLE == 0 || sizeof(T) == 2 || PACKS > 128 "short rows of elements of 4 bytes are combined as soon with checks"
//! require LANES <= 32 || ROWS == 1                 "a block has one row"
//! require LANES < THREADS || BLOCKS * THREADS <= 2048 "an SM has at most 2048 threads"
//! require ROWS * UNROLL <= 8                       "what is in flight must fit into registers"
//!
//! workspace partials PARTS == 1 ? 0 : M * PARTS * 4 "what the blocks of a row have combined"
//! workspace counters PARTS == 1 ? 0 : M * 4  zero   "blocks of a row that have come"
//!
//! launch  grid ceil_div(M, THREADS / LANES * ROWS) * PARTS  block THREADS
//!
//! preset  LANES = 1, THREADS = 128, UNROLL = 1, ROWS = 1  when PACKS <= 1 && M * 1 <= device.sm_count * 1024
//! preset  LANES = 2, THREADS = 128, UNROLL = 1, ROWS = 1  when PACKS <= 2 && M * 2 <= device.sm_count * 1024
//! preset  LANES = 4, THREADS = 128, UNROLL = 1, ROWS = 1  when PACKS <= 4 && M * 4 <= device.sm_count * 1024
//! preset  LANES = 8, THREADS = 128, UNROLL = 1, ROWS = 1  when PACKS <= 8 && M * 8 <= device.sm_count * 1024
//! preset  LANES = 16, THREADS = 128, UNROLL = 1, ROWS = 1  when PACKS <= 16 && M * 16 <= device.sm_count * 1024
//! preset  LANES = 32, THREADS = 128, UNROLL = 1, ROWS = 1  when PACKS <= 32 && M * 32 <= device.sm_count * 1024
//! preset  LANES = 1, UNROLL = 1, ROWS = 4  when PACKS <= 1
//! preset  LANES = 2, UNROLL = 1, ROWS = 4  when PACKS <= 2
//! preset  LANES = 4, UNROLL = 1, ROWS = 4  when PACKS <= 4
//! preset  LANES = 4, UNROLL = 2, ROWS = 2  when PACKS <= 8 && sizeof(T) == 2 && ALIGNED
//! preset  LANES = 8, UNROLL = 1, ROWS = 4  when PACKS <= 8
//! preset  LANES = 16, UNROLL = 1, ROWS = 4  when PACKS <= 16
//! preset  LANES = 32, UNROLL = 1, ROWS = 4  when PACKS <= 32
//! preset  LANES = 32, UNROLL = 2, ROWS = 2  when PACKS <= 64
//! preset  LANES = 16, UNROLL = 8, ROWS = 1  when PACKS <= 128 && !ALIGNED
//! preset  LANES = 32, UNROLL = 4, ROWS = 1  when PACKS <= 128
//! preset  LANES = 32, UNROLL = 8, ROWS = 1  when PACKS <= 256 && !ALIGNED
//! preset  LANES = 128, THREADS = 128, UNROLL = 4, BLOCKS = 10  when PACKS <= 1024
//! preset  LANES = 256, THREADS = 256, UNROLL = 4, BLOCKS = 5

#include "device/ptx/cvt.cuh"
#include "device/tile/reduce_operation.cuh"

#ifndef TMA_JIT_REFERENCE

#include "device/reduce/rows.cuh"

using Row = AlignedRow<T, WHOLE != 0>;

// Combines the elements of a row in f32.
struct Fold {
  using Value = f32;
  const Operation<OP, f32, Hooks>& op;
  const View<O, 2>& Y;

  // One value for each place in a pack, so that sums of few elements are added to sums of as many.
  struct State {
    const Fold& fold;
    f32 x[16 / sizeof(T)];

    __device__ void add(s64 m, const Row& row, s64 p, const Elements<T>& pack, PackRange range) {
#pragma unroll
      for (int i = 0; i < row.kCount; ++i)
        if (range.has(i)) x[i] = fold.combine(x[i], fold.op.element(to_f32(pack[i]), m, row.index_of(p, i), 0));
    }
    __device__ f32 total() const {
      f32 all = x[0];
#pragma unroll
      for (int i = 1; i < sizeof(x) / sizeof(f32); ++i) all = fold.combine(all, x[i]);
      return all;
    }
  };

  __device__ State start(const Row&, s64) const {
    State state = {*this};
#pragma unroll
    for (f32& x : state.x) x = neutral();
    return state;
  }
  __device__ f32 neutral() const {
    return op.neutral();
  }
  __device__ f32 combine(f32 a, f32 b) const {
    return op.combine(a, b);
  }
  __device__ void store(s64 m, const Row&, f32 x) const {
    Y.data[m * Y.stride[0]] = from_f32<O>(op.result(x, m, 0));
  }
};

extern "C" __global__ __launch_bounds__(THREADS,
                                        LANES < THREADS ? 1 : BLOCKS) void reduce(View<const T, 3> X, View<O, 2> Y,
                                                                                  u8* partials, u8* counters,
                                                                                  f32 neutral, const Dims dims,
                                                                                  const __grid_constant__ Hooks hooks) {
  const Operation<OP, f32, Hooks> op = {hooks, neutral, dims.K};
  reduce_rows<THREADS, LANES, UNROLL, ROWS>(Rows<T, WHOLE != 0>{X.data, X.stride[0], dims.M, dims.K}, Fold{op, Y},
                                            partials, counters);
}

#else

#include "device/reference/reduce.cuh"

#endif
