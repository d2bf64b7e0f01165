//! kernel  transpose "D[b,j,i] = S[b,i,j], bit for bit, large matrices of bytes, or whose rows do not begin at 16 or 32 bytes, by words that each thread loads"
//! arch    sm_90a
//! prefer  1
//! use     "device/reference/transpose.cuh"
//!
//! param   WORDS_S = 1   in {1, 0}                  "1: rows of S begin at 4 bytes"
//! param   WHOLE_D = 1   in {1, 0}                  "1: rows of D begin at 32 bytes, of which memory is written at once"
//! param   WARPS   = 8   in {4, 8, 16}              "of a block"
//! param   BLOCKS  = 4   in {2, 4, 8}               "blocks that an SM is to have room for"
//! param   GROUP   = 1   in {1, 4, 8, 16, 32}       "rows of tiles that are processed together, column by column"
//!
//! let     THREADS = 32 * WARPS
//! let     COLUMNS = (WORDS_S == 1 ? 32 : 31) * 4 / sizeof(T) "of a tile; the last lane's word only completes those of the lane before"
//! let     ROWS    = 32 * WARPS                     "of S that a tile has; a thread has 32"
//! let     HALO    = WHOLE_D == 1 ? 0 : 32 / sizeof(T) "rows of S that a tile has more than it stores, so that it stores whole 32 bytes"
//! let     STEP    = ROWS - HALO
//! let     AT_16   = alignment(S) >= 16 && (stride(S, 0) * sizeof(T) % 16 == 0 || B < 2) && stride(S, 1) * sizeof(T) % 16 == 0 "rows of S begin at 16 bytes"
//! let     AT_32   = alignment(D) >= 32 && (stride(D, 0) * sizeof(T) % 32 == 0 || B < 2) && (stride(D, 1) | M) * sizeof(T) % 32 == 0 "rows of D begin at 32 bytes"
//! let     SMEM    = COLUMNS * ROWS * sizeof(T)
//! let     COUNT   = B * ceil_div(M + max(HALO - 1, 0), STEP) * ceil_div(N, COLUMNS)
//!
//! require sizeof(T) <= 4                           "a word has at least an element"
//! require B * M * N > 1048576                      "small matrices are faster by other files"
//! require min(M, N) * sizeof(T) >= 512 || (sizeof(T) == 1 && min(M, N) >= 48 && (B == 1 || AT_16 == 0 || AT_32 == 0)) "narrow matrices are faster by other files"
//! require WHOLE_D == AT_32                         "rows of D must begin at 32 bytes for WHOLE_D=1, and only for it"
//! require sizeof(T) == 1 || AT_32 == 0 || (sizeof(T) == 2 && AT_16 == 0) "other files are faster at elements of 2 and 4 bytes where rows begin at 16 and 32 bytes"
//! require stride(S, 2) == 1 && stride(D, 2) == 1   "elements that move together must be neighbours"
//! require (stride(S, 0) >= N || B < 2) && stride(S, 1) >= N "rows of S must follow one another"
//! require WORDS_S == 0 || (alignment(S) >= 4 && (stride(S, 0) * sizeof(T) % 4 == 0 || B < 2) && stride(S, 1) * sizeof(T) % 4 == 0) "rows of S must begin at 4 bytes"
//! require (SMEM + 1024) * BLOCKS <= device.smem_per_sm "the tiles of an SM must fit in its shared memory"
//! require THREADS * BLOCKS == 1024                 "a thread needs 64 registers"
//!
//! launch  grid COUNT  block THREADS  smem SMEM
//!
//! preset  WARPS = 4, BLOCKS = 8  when sizeof(T) <= 2 && M <= 2048
//! preset  WARPS = 4, BLOCKS = 8  when sizeof(T) == 1 && N <= 128 && AT_32 == 1
//! preset  WARPS = 8, BLOCKS = 4

#include "device/reference/transpose.cuh"
#include "device/schedule/persistent.cuh"
#include "device/tile/shared_memory.cuh"
#include "device/tile/word_tile.cuh"

#ifndef TMA_JIT_REFERENCE

using Transposed = WordTile<T, ROWS, COLUMNS>;
constexpr int kSize = Transposed::kSize, kPerWord = Transposed::kPerWord, kHeld = Transposed::kHeld;
static_assert(sizeof(Transposed) == SMEM);

__device__ inline u64 address(const T* element) {
  return reinterpret_cast<u64>(element);
}

// A tile's rows of a matrix of S. Those that the matrix lacks are zeros.
struct Rows {
  const View<const T, 3>& S;
  const Dims& dims;
  s64 batch;
  int row, column;  // where the tile begins in the matrix

  __device__ const T* matrix() const { return S.data + batch * S.stride[0]; }

  // Loads the thread's word of rows `first`, first + 1, ... of the tile, so that the rows' words begin with the tile's
  // columns. A word that is not whole in S is left out.
  __device__ void load(u32 (&words)[kHeld], int first) const {
    const int lane = threadIdx.x % 32, top = row + first, left = (dims.N - column) * kSize;
    const u64 begin = address(matrix() + top * S.stride[1] + column), at = begin + lane * 4;
    const s64 pitch = S.stride[1] * kSize;
    if (top >= 0 && top + kHeld <= dims.M && left >= 128 && word_at(begin) >= address(S.data))
      load_inside(words, at, pitch);
    else
      load_checked(words, at, pitch, top, left);
    if constexpr (WORDS_S == 0) {
#pragma unroll
      for (int k = 0; k < kHeld; ++k) {
        const u32 next = __shfl_down_sync(0xffffffff, words[k], 1);
        words[k] = __funnelshift_r(words[k], next, static_cast<u32>(at + k * pitch) * 8);
      }
    }
  }

  // The address of the word that has the byte at `at`.
  __device__ static u64 word_at(u64 at) {
    return WORDS_S == 1 ? at : at / 4 * 4;
  }

  // Loads the words of all rows, which are whole in S.
  __device__ void load_inside(u32 (&words)[kHeld], u64 at, s64 pitch) const {
#pragma unroll
    for (int k = 0; k < kHeld; ++k, at += pitch) words[k] = __ldg(reinterpret_cast<const u32*>(word_at(at)));
  }
  __device__ void load_checked(u32 (&words)[kHeld], u64 at, s64 pitch, int top, int left) const {
    const int lane = threadIdx.x % 32;
    const u64 end = address(S.data + (dims.B - 1) * S.stride[0] + (dims.M - 1) * S.stride[1] + dims.N);
    const auto word = [&](int k) { return word_at(at + k * pitch); };
    int from = max(-top, 0), to = min(dims.M - top, kHeld);
    if (top <= 0 && word(-top) < address(S.data)) from = 1 - top;
    if (to > 0 && top + to == dims.M && word(to - 1) + 4 > end) --to;
#pragma unroll
    for (int k = 0; k < kHeld; ++k) {
      const int skip = WORDS_S == 1 ? 0 : static_cast<u32>(at + k * pitch) % 4;
      words[k] = 0;
      if (k >= from && k < to && lane * 4 < skip + left) words[k] = __ldg(reinterpret_cast<const u32*>(word(k)));
    }
  }

  // Copies the elements of the first and the last word of S, which need not be whole in it, to the transposed tile if
  // it has them. Called by all threads of the block.
  __device__ void copy_ends(Transposed& tile) const {
    const bool first = batch == 0 && row <= 0 && column == 0;
    const bool last = batch == dims.B - 1 && row + ROWS >= dims.M && column + COLUMNS >= dims.N;
    if (!first && !last) return;
    __syncthreads();  // the words have been written
    const bool at_end = threadIdx.x >= kPerWord;
    if (threadIdx.x >= 2 * kPerWord || !(at_end ? last : first)) return;
    const int e = threadIdx.x % kPerWord, m = at_end ? dims.M - 1 : 0, n = at_end ? dims.N - 1 - e : e;
    if (n < column) return;
    tile.element(n - column, m - row) = matrix()[m * S.stride[1] + n];
  }
};

extern "C" __global__ __launch_bounds__(THREADS, BLOCKS) void transpose(View<const T, 3> S, View<T, 3> D,
                                                                        const Dims dims) {
  Transposed& tile = shared_memory<Transposed>();
  const PersistentTiles<STEP, COLUMNS, GROUP> tiles(dims.M + max(HALO - 1, 0), dims.N);
  const u32 count = *tiles.end();
  const s64 batch = blockIdx.x / count;
  const Tile at = tiles[blockIdx.x % count];
  const int first = threadIdx.x / 32 * kHeld;
  const Rows rows = {S, dims, batch, at.row * STEP - HALO, at.column * COLUMNS};
  u32 words[kHeld];
  rows.load(words, first);
  tile.put(words, first);
  rows.copy_ends(tile);
  __syncthreads();
  T* const to = D.data + batch * D.stride[0] + rows.column * D.stride[1] + at.row * STEP;
  tile.store<THREADS, HALO>(min(COLUMNS, dims.N - rows.column), at.row * STEP, dims.M,
                            [&](u32 r) { return to + r * D.stride[1]; });
}

#else

extern "C" __global__ void transpose_reference(View<const T, 3> S, View<f64, 3> D, const Dims dims) {
  reference_transpose(S, D, dims.B, dims.M, dims.N);
}

#endif
