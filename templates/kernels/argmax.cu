//! kernel  argmax   "V[m] = X[m,I[m]], I[m] = the least k with the greatest key(X[m,k]); NaN is the greatest, key = -x finds the least element"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! use     "device/reference/argmax.cuh"
//!
//! param   THREADS = 256   in {128, 256, 512}       "of a block"
//! param   LANES   = 256   in {1, 2, 4, 8, 16, 32, 128, 256, 512} "threads of a block that share a row: lanes of a warp, or the block"
//! param   UNROLL  = 4     in {1, 2, 4, 8}          "reads of 16 bytes of a row that a thread has in flight"
//! param   ROWS    = 1     in {1, 2, 4, 8}          "rows that lanes of a warp have in flight"
//! param   WHOLE   = 1     in {1, 0}                "1: rows begin at 16 bytes and are whole units of them"
//! param   BLOCKS  = 4     in {1, 2, 3, 4, 5, 6, 8, 10, 12, 16} "blocks of an SM among which few rows are divided"
//!
//! let     ALIGNED = alignment(X) >= 16 && (M <= 1 || stride(X, 0) * sizeof(T) % 16 == 0)
//! let     PACKS   = ceil_div(K, 16 / sizeof(T)) + (ALIGNED ? 0 : 1)  "aligned pieces of 16 bytes of a row"
//! let     PARTS   = LANES < THREADS ? 1 : max(1, min(ceil_div(PACKS, THREADS * UNROLL), device.sm_count * BLOCKS / max(M, 1))) "blocks of a row"
//!
//! require M == 0 || K <= 1 || stride(X, 1) == 1    "elements of a row of X are neighbours"
//! require LANES <= 32 || LANES == THREADS          "a row is some lanes' of a warp or a block's"
//! require WHOLE == 0 || (ALIGNED && K * sizeof(T) % 16 == 0) "rows must begin at 16 bytes and be whole units of them"
//! require LANES <= 32 || ROWS == 1                 "a block has one row"
//! require LANES < THREADS || BLOCKS * THREADS <= 2048 "an SM has at most 2048 threads"
//! require ROWS * UNROLL <= 8                       "what is in flight must fit into registers"
//!
//! workspace partials PARTS == 1 ? 0 : M * PARTS * 8 "what the blocks of a row have found"
//! workspace counters PARTS == 1 ? 0 : M * 4  zero   "blocks of a row that have come"
//!
//! launch  grid ceil_div(M, THREADS / LANES * ROWS) * PARTS  block THREADS
//!
//! preset  LANES = 2, THREADS = 128, UNROLL = 1, ROWS = 1  when PACKS <= 2 && M * 2 <= device.sm_count * 1024
//! preset  LANES = 8, THREADS = 128, UNROLL = 1, ROWS = 1  when PACKS <= 8 && M * 8 <= device.sm_count * 1024
//! preset  LANES = 32, THREADS = 128, UNROLL = 1, ROWS = 1  when PACKS <= 32 && M * 32 <= device.sm_count * 1024
//! preset  LANES = 2, UNROLL = 1, ROWS = 4  when PACKS <= 2
//! preset  LANES = 8, UNROLL = 1, ROWS = 4  when PACKS <= 8
//! preset  LANES = 32, UNROLL = 1, ROWS = 4  when PACKS <= 32
//! preset  LANES = 16, UNROLL = 4, ROWS = 1  when PACKS <= 64
//! preset  LANES = 32, UNROLL = 4, ROWS = 1  when PACKS <= 128
//! preset  LANES = 128, THREADS = 128, UNROLL = 4, BLOCKS = 8  when PACKS <= 1024
//! preset  LANES = 256, THREADS = 256, UNROLL = 4, BLOCKS = 4

#include "device/ptx/cvt.cuh"
#include "device/ptx/infinity.cuh"

#ifndef TMA_JIT_REFERENCE

#include "device/ptx/max_nan.cuh"
#include "device/reduce/ordered.cuh"
#include "device/reduce/rows.cuh"

using Row = AlignedRow<T, WHOLE != 0>;

// Finds the first pack of a row that has the greatest key; which of its elements that is, it finds by reading the pack
// again at the end, so that an element costs one comparison. A value is the key and the pack's number; 0: none.
struct Greatest {
  using Value = u64;
  const Hooks& hooks;
  const View<T, 1>& V;
  const View<J, 1>& I;

  struct State {
    const Greatest& greatest;
    f32 best;
    u32 pack;
    bool any;

    __device__ void add(s64 m, const Row& row, s64 p, const Elements<T>& pack, PackRange range) {
      f32 most = greatest.key(m, row, p, pack, range, 0);
#pragma unroll
      for (int i = 1; i < row.kCount; ++i) most = max_nan(most, greatest.key(m, row, p, pack, range, i));
      if (most <= best || best != best) return;
      best = most;
      this->pack = static_cast<u32>(p);
    }
    __device__ u64 total() const {
      return any ? ordered_pair(best, pack) : 0;
    }
  };

  // Minus infinity outside of the range.
  __device__ f32 key(s64 m, const Row& row, s64 p, const Elements<T>& pack, PackRange range, int i) const {
    return range.has(i) ? hooks.key(to_f32(pack[i]), m, row.index_of(p, i)) : -infinity();
  }
  __device__ State start(const Row& row, s64 p) const {
    return {*this, -infinity(), static_cast<u32>(p), p < row.packs};
  }
  __device__ u64 neutral() const {
    return 0;
  }
  __device__ u64 combine(u64 a, u64 b) const {
    return a > b ? a : b;
  }
  __device__ void store(s64 m, const Row& row, u64 found) const {
    s64 index = -1;
    const s64 p = index_of_pair(found);
    if (found != 0) {
      const Elements<T> pack = row.load(p);
      const PackRange range = row.range(p);
#pragma unroll
      for (int i = row.kCount - 1; i >= 0; --i)
        if (range.has(i) && ordered(key(m, row, p, pack, range, i)) == number_of_pair(found))
          index = row.index_of(p, i);
    }
    I.data[m * I.stride[0]] = static_cast<J>(index);
    if constexpr (VALUES) V.data[m * V.stride[0]] = index < 0 ? from_f32<T>(-infinity()) : row.base[row.skip + index];
  }
};

extern "C" __global__ __launch_bounds__(THREADS,
                                        LANES < THREADS ? 1 : BLOCKS) void argmax(View<const T, 2> X, View<T, 1> V,
                                                                                  View<J, 1> I, u8* partials,
                                                                                  u8* counters, const Dims dims,
                                                                                  const __grid_constant__ Hooks hooks) {
  reduce_rows<THREADS, LANES, UNROLL, ROWS>(Rows<T, WHOLE != 0>{X.data, X.stride[0], dims.M, dims.K},
                                            Greatest{hooks, V, I}, partials, counters);
}

#else

#include "device/reference/argmax.cuh"

#endif
