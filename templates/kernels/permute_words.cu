//! kernel  permute  "D = S with its dimensions in another order, bit for bit: dimension k of D is dimension Pk of S; where the innermost moves, by words that each thread loads, of rows and columns of any lengths"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! prefer  1
//! use     "device/reference/permute.cuh"
//!
//! param   P1      = 3   in 0..4
//! param   P2      = 4   in 0..4
//! param   P3      = 1   in 0..4
//! param   P4      = 2   in 0..4                    "and which the innermost"
//! param   FUSE_D  = 0   in {0, 1}                  "1: the two innermost dimensions of D are one of a tile's"
//! param   FUSE_S  = 0   in {0, 1}                  "1: the two innermost dimensions of S are the other one"
//! param   WHOLE_D = 1   in {1, 0}                  "1: rows of D begin at 32 bytes, of which memory is written at once"
//! param   WARPS   = 8   in {2, 4, 8, 16}           "of a block"
//! param   GROUP   = 1   in {1, 4, 8, 16, 32}       "rows of tiles that are processed together, column by column"
//!
//! let     THREADS = 32 * WARPS
//! let     COLUMNS = 128 / sizeof(T)                "of a tile: along S's innermost dimension"
//! let     ROWS    = 32 * WARPS                     "of S that a tile has; a thread has 32"
//! let     HALO    = WHOLE_D == 1 ? 0 : 32 / sizeof(T) "rows of S that a tile has more than it stores, so that it stores whole 32 bytes"
//! let     STEP    = ROWS - HALO
//! let     BLOCKS  = 1024 / THREADS                 "of an SM: a thread needs 64 registers"
//! let     SMEM    = COLUMNS * ROWS * sizeof(T)
//! let     M       = E4 * (FUSE_D == 1 ? E3 : 1)    "rows and columns of one of BATCH matrices"
//! let     N       = N4 * (FUSE_S == 1 ? N3 : 1)
//! let     BATCH   = M * N == 0 ? 0 : N0 * N1 * N2 * N3 * N4 / (M * N)
//! let     BETWEEN_S = (N0 > 1 ? stride(S, 0) : 0) | (N1 > 1 ? stride(S, 1) : 0) | (N2 > 1 ? stride(S, 2) : 0) "between rows, whose bytes have as many zeros as lowest bits"
//! let     BETWEEN_D = (E0 > 1 ? stride(D, 0) : 0) | (E1 > 1 ? stride(D, 1) : 0) | (E2 > 1 ? stride(D, 2) : 0)
//! let     ROWS_S  = (BETWEEN_S | (N3 > 1 ? stride(S, 3) : 0)) * sizeof(T)
//! let     ROWS_D  = (BETWEEN_D | (E3 > 1 ? stride(D, 3) : 0) | E4) * sizeof(T)
//! let     AT_16   = alignment(S) >= 16 && ROWS_S % 16 == 0 "S's innermost rows begin at 16 bytes"
//! let     AT_32   = alignment(D) >= 32 && ROWS_D % 32 == 0 "D's innermost rows are whole units of 32 bytes"
//!
//! require sizeof(T) <= 4                           "a word has at least an element"
//! require ROWS * sizeof(T) >= 128                  "a row of a transposed tile is whole units of its swizzle, 128 bytes"
//! require P4 != 4                                  "the innermost dimension of S must move"
//! require FUSE_D == 0 || P3 != 4                   "the two innermost dimensions of D must be other ones than S's innermost"
//! require FUSE_S == 0 || (P4 != 3 && (FUSE_D == 0 || P3 != 3)) "the two innermost dimensions of S must be other ones than D's"
//! require FUSE_D == 0 || stride(D, 3) == E4        "the two innermost dimensions of D follow one another in memory"
//! require FUSE_S == 0 || stride(S, 3) == N4        "the two innermost dimensions of S follow one another in memory"
//! require max(M, N) <= 2147482623                  "rows and columns of whole tiles are counted in 31 bits"
//! require WHOLE_D == (FUSE_D == 1 ? alignment(D) >= 32 && (BETWEEN_D | M) * sizeof(T) % 32 == 0 : AT_32) "a tile's rows of D must be whole units of 32 bytes for WHOLE_D=1, and only for it"
//! require stride(S, 4) == 1 && stride(D, 4) == 1   "elements that move together must be neighbours"
//! require alignment(S) >= 4 && (FUSE_S == 1 ? BETWEEN_S * sizeof(T) : ROWS_S) % 4 == 0 && N * sizeof(T) % 4 == 0 "rows of S must begin at 4 bytes and be whole words"
//! require N0 * N1 * N2 * N3 * N4 > 131072           "smaller tensors are faster by other files"
//! require device.compute_capability < 90 || AT_16 == 0 || AT_32 == 0 || min(N4, E4) * sizeof(T) < 128 "from sm_90 on permute.cu is as fast where it has whole rows of 128 bytes"
//! require SMEM <= device.smem_per_block            "a tile must fit in shared memory"
//!
//! launch  grid BATCH * ceil_div(M + max(HALO - 1, 0), STEP) * ceil_div(N, COLUMNS)  block THREADS  smem SMEM
//!
//! preset  FUSE_D = 0, FUSE_S = 1, WHOLE_D = 1  when E4 * sizeof(T) >= 128
//! preset  FUSE_D = 0, FUSE_S = 0, WHOLE_D = 1, WARPS = 4  when E4 * sizeof(T) >= 128 && E4 <= 128
//! preset  FUSE_D = 0, FUSE_S = 0, WHOLE_D = 1  when E4 * sizeof(T) >= 128
//! preset  FUSE_D = 1, FUSE_S = 1, WHOLE_D = 1  when N4 * sizeof(T) % 128 != 0
//! preset  FUSE_D = 1, FUSE_S = 1, WHOLE_D = 0  when N4 * sizeof(T) % 128 != 0
//! preset  FUSE_D = 1, FUSE_S = 0, WHOLE_D = 1
//! preset  FUSE_D = 1, FUSE_S = 0, WHOLE_D = 0
//! preset  FUSE_D = 0, FUSE_S = 1, WHOLE_D = 1  when N4 * sizeof(T) % 128 != 0
//! preset  FUSE_D = 0, FUSE_S = 1, WHOLE_D = 0  when N4 * sizeof(T) % 128 != 0
//! preset  FUSE_D = 0, FUSE_S = 0, WHOLE_D = 1
//! preset  FUSE_D = 0, FUSE_S = 0, WHOLE_D = 0

#include "device/reference/permute.cuh"
#include "device/schedule/persistent.cuh"
#include "device/tile/shared_memory.cuh"
#include "device/tile/word_tile.cuh"

#ifndef TMA_JIT_REFERENCE

using Transposed = WordTile<T, ROWS, COLUMNS>;
constexpr int kHeld = Transposed::kHeld, kPerWord = Transposed::kPerWord;
constexpr int kOrder[5] = {P0, P1, P2, P3, P4};
static_assert(sizeof(Transposed) == SMEM);

// Where dimension d of S is in D.
__device__ constexpr int place(int d) {
  return P0 == d ? 0 : P1 == d ? 1 : P2 == d ? 2 : P3 == d ? 3 : 4;
}
// Whether dimension d of S is one of a tile's.
__device__ constexpr bool in_tile(int d) {
  return d == P4 || d == 4 || (FUSE_D == 1 && d == P3) || (FUSE_S == 1 && d == 3);
}

// One dimension or two that a tile takes to be one, whose elements are counted along the inner of the two.
template <bool Fused> struct Run {
  int extent, inner;
  s64 step, leap;  // from an element to the next, and to the one `inner` behind

  __device__ s64 offset(int i) const {
    if constexpr (!Fused) return i * step;
    const u32 outer = static_cast<u32>(i) / static_cast<u32>(inner);
    return outer * leap + (i - outer * inner) * step;
  }
};
template <bool Fused> __device__ inline Run<Fused> run(int inner, int outer, s64 step, s64 leap) {
  return {Fused ? inner * outer : inner, inner, step, leap};
}

// Loads the thread's word of rows `first`, first + 1, ..., of which those that the run lacks are zeros.
__device__ inline void load(u32 (&words)[kHeld], const Run<FUSE_D == 1>& rows, const T* column, int first,
                            bool inside) {
  const int from = max(-first, 0), to = inside ? min(rows.extent - first, kHeld) : 0, top = max(first, 0);
  const T* row = column + rows.offset(top);
  int within = FUSE_D == 1 ? static_cast<u32>(top) % static_cast<u32>(rows.inner) : 0;
#pragma unroll
  for (int k = 0; k < kHeld; ++k) {
    words[k] = 0;
    if (k >= from && k < to) words[k] = __ldg(reinterpret_cast<const u32*>(row));
    if (k < from) continue;
    row += rows.step;
    if (FUSE_D == 1 && ++within == rows.inner) {
      within = 0;
      row += rows.leap - rows.inner * rows.step;
    }
  }
}

// The tile is one of a matrix of rows along D's innermost dimensions and columns along S's; the other dimensions number
// the matrices.
extern "C" __global__ __launch_bounds__(THREADS, BLOCKS) void permute(View<const T, 5> S, View<T, 5> D,
                                                                      const Dims dims) {
  Transposed& tile = shared_memory<Transposed>();
  const int extent[5] = {dims.N0, dims.N1, dims.N2, dims.N3, dims.N4};
  const auto rows = run<FUSE_D == 1>(extent[P4], extent[P3], S.stride[P4], S.stride[P3]);
  const auto columns = run<FUSE_S == 1>(dims.N4, dims.N3, D.stride[place(4)], D.stride[place(3)]);
  const PersistentTiles<STEP, COLUMNS, GROUP> tiles(rows.extent + max(HALO - 1, 0), columns.extent);
  const u32 count = *tiles.end();
  const Tile at = tiles[blockIdx.x % count];
  u32 batch = blockIdx.x / count;
  s64 from = 0, to = 0;
#pragma unroll
  for (int d = 3; d >= 0; --d) {
    if (in_tile(d) || extent[d] == 1) continue;
    const u32 index = batch % extent[d];
    batch /= extent[d];
    from += index * S.stride[d];
    to += index * D.stride[place(d)];
  }
  const int row = at.row * STEP, column = at.column * COLUMNS;
  const int word = column + threadIdx.x % 32 * kPerWord, first = threadIdx.x / 32 * kHeld;
  u32 words[kHeld];
  load(words, rows, S.data + from + word, row - HALO + first, word < columns.extent);
  tile.put(words, first);
  __syncthreads();
  T* const begin = D.data + to + row;
  tile.store<THREADS, HALO>(min(COLUMNS, columns.extent - column), row, rows.extent,
                            [&](int r) { return begin + columns.offset(column + r); });
}

#else

extern "C" __global__ void permute_reference(View<const T, 5> S, View<f64, 5> D, const Dims dims) {
  reference_permute(S, D, {dims.N0, dims.N1, dims.N2, dims.N3, dims.N4}, {P0, P1, P2, P3, P4});
}

#endif
