#pragma once
// Stores what the hook `epilogue` makes of the sums of a product with operands swapped, D^T = B * A^T, as rows of D,
// through shared tiles and by TMA.
#include "device/epilogue/largest_store.cuh"
#include "device/epilogue/parts_ahead.cuh"
#include "device/ptx/setmaxnreg.cuh"
#include "device/tile/register_store.cuh"

namespace tma {

// Count boxes of D, one below the other, as one shared tile.
template <class Shared, int Count> struct Boxes {
  using Element = typename Shared::Element;
  static constexpr int kCount = Count, kBox = Shared::kRows, kRows = Count * kBox;
  Shared box[Count];

  template <class E = Element> __device__ E& at(int row, int column) {
    return box[row / kBox].template at<E>(row % kBox, column);
  }
};

// Stores those of the boxes' rows that are before tensor.rows, as store_clipped does a tile.
template <int Threads, class T, class Shared, int Count>
__device__ inline void store_clipped(const Mapped<T, 2>& to, const Boxes<Shared, Count>& boxes, Extent tensor, int row,
                                     int column) {
  if (column >= tensor.columns) return;
  const int thread = threadIdx.x % Threads, left = tensor.columns - column;
  if (left >= Shared::kColumns || left * sizeof(T) % 16 == 0) {
    if (thread > 0) return;
#pragma unroll
    for (int i = 0; i < Count; ++i) {
      if (row + i * Shared::kRows < tensor.rows) store(to.map, boxes.box[i], column, row + i * Shared::kRows);
    }
  } else {
#pragma unroll 1
    for (int i = 0; i < Count; ++i)
      store_units<Threads>(to.view, boxes.box[i], tensor, row + i * Shared::kRows, column, thread);
  }
}

// The store of Rows rows of D of 64 columns to (row, column), of which each warp of a warpgroup has 16 columns, in
// parts of Staged's rows; the last has what is left. The operands of the first parts, of as many as fit into Registers,
// are read by read_first, and those of another part after each part that has been written; where not even one
// part fits, 16 rows at a time when they are used. If not all of them fit, a matrix is copied to where the part's
// results will be, and what else is read is read 16 rows at a time. S is the type in which the hook computes.
template <class S, class Staged, class H, int Rows, int Registers> class TransposedStore {
  static constexpr int kPart = Staged::kRows, kParts = ceil_div(Rows, kPart);
  using Part = Epilogue<layout::Mma<16, kPart>, H, true, Staged>;
  static constexpr bool kCopies = kCopied<H, Staged> == 1 && Part::kRegisters * kParts > Registers;
  using Ahead = PartsAhead<Part, kParts, kCopies ? 0 : Registers>;

  int row_, column_;
  Ahead ahead_;

  __device__ Part part(const H& hooks, int n) const { return Part(hooks, row_ + n * kPart, column_ + warp_column()); }
  __device__ static int warp_column() { return threadIdx.x % kWarpgroup / 32 * 16; }

  // Returns the n-th part of the sums; rows beyond the last are 0.
  template <class Sum> __device__ static auto part_of(const RegisterTile<layout::Mma<16, Rows>, Sum>& sums, int n) {
    RegisterTile<layout::Mma<16, kPart>, S> part;
#pragma unroll
    for (int i = 0; i < kPart / 2; ++i)
      part.x[i] = n * kPart / 2 + i < Rows / 2 ? static_cast<S>(sums.x[n * kPart / 2 + i]) : S(0);
    return part;
  }

  // Begins to copy what a part reads of a matrix.
  template <class To> __device__ void copy_part(int part, To& to, const H& hooks) const {
    copy_operand<kPart, 16>(hooks, to, 0, warp_column(), row_ + part * kPart, column_ + warp_column());
  }
  // Writes a part 8 or 16 rows at a time: a matrix's elements are read before results take their place.
  template <class To, class Sums>
  __device__ void write_copied(int part, Staged& staged, const To& to, Extent own, const H& hooks,
                               const Sums& sums) const {
    constexpr int kUnit = Rows % 16 == 0 && kPart % 16 == 0 ? 16 : 8;
    const int column = column_ + warp_column();
    wait_for_copies();
#pragma unroll
    for (int first = 0; first < kPart; first += kUnit) {
      if (part * kPart + first >= Rows) break;
      const int row = row_ + part * kPart + first;
      auto results = sums.template columns<kUnit>(part * kPart + first).template as<S>();
      Epilogue<layout::Mma<16, kUnit>, H, true, Holding<Staged>>(hooks, row, column)
          .apply_through(staged, first, warp_column(), results);
      compare<true>(to, results, own, row, column);
      __syncwarp();
      store_transposed(staged, first, warp_column(), results);
    }
  }

 public:
  static constexpr int kAhead = Ahead::kAhead;  // parts

  __device__ TransposedStore() {}
  __device__ TransposedStore(int row, int column) : row_(row), column_(column) {}

  // Called for each m below kAhead before `write`.
  __device__ void read_first(const H& hooks, int m) {
    ahead_.read_first(m, [&](int n) { return part(hooks, n); });
  }

  // Called by a whole warpgroup; each has its own named barrier and buffers.
  template <int Buffers, class To, class Sum>
  __device__ void write(int id, Staged (&buffers)[Buffers], const To& to, Extent tensor, const H& hooks,
                        const RegisterTile<layout::Mma<16, Rows>, Sum>& sums) {
    const Extent own = {min(tensor.rows, row_ + Rows), tensor.columns};
    store_parts<kWarpgroup, kParts, kParts, kCopies ? Buffers : 1>(
        id, buffers,
        [&](int n, Staged& staged) {
          if constexpr (kCopies) copy_part(n, staged, hooks);
        },
        [&](int n, Staged& staged) {
          if constexpr (kCopies) {
            write_copied(n, staged, to, own, hooks, sums);
            return;
          }
          auto results = part_of(sums, n);
          if constexpr (kAhead > 0)
            ahead_.apply(n, staged, 0, warp_column(), results);
          else
            apply_epilogue<true>(hooks, results, row_ + n * kPart, column_ + warp_column());
          compare<true>(to, results, own, row_ + n * kPart, column_ + warp_column());
          store_transposed(staged, 0, warp_column(), results);
        },
        [&](int n) {
          if constexpr (kAhead > 0) ahead_.applied(n, [&](int next) { return part(hooks, next); });
        },
        [&](int n, const Staged& staged) { store_clipped<kWarpgroup>(to, staged, own, row_ + n * kPart, column_); });
  }
};

}  // namespace tma
