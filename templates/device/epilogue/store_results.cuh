#pragma once
// Stores what the hook `epilogue` makes of the sums of a matrix product, through shared tiles and by TMA. S is the type
// in which it computes; `more` are its arguments after the row and the column in the tensor.
#include "device/epilogue/largest_store.cuh"
#include "device/epilogue/parts_ahead.cuh"
#include "device/ptx/setmaxnreg.cuh"
#include "device/tile/register_store.cuh"

namespace tma {

// The store of 64 rows of Columns sums to (row, column), of which each warp of a warpgroup has 16, in parts of Shared's
// width. The operands of the first parts, of as many as fit into Registers, are read by read_first, and those
// of another part after each part that has been written; none if not even one part fits. If not all of them fit, or a
// part is wide, a matrix is copied to where results will be, of as many parts at a time as there are buffers, and what
// else is read is read a few columns at a time.
template <class S, class Shared, class H, int Columns, int Registers> class SliceStore {
  static constexpr int kPart = Shared::kColumns, kParts = Columns / kPart;
  using Part = Epilogue<layout::Mma<16, kPart>, H, false, Shared>;
  static constexpr bool kCopies = kCopied<H, Shared> == 1 && (Part::kRegisters * kParts > Registers || kPart > 128);
  using Ahead = PartsAhead<Part, kParts, kCopies ? 0 : Registers>;

  int row_, column_;
  Ahead ahead_;

  __device__ Part part(const H& hooks, int n) const { return Part(hooks, first_row(), column_ + n * kPart); }
  __device__ static int warp_row() { return threadIdx.x % kWarpgroup / 32 * 16; }

  // Begins to copy what a part reads of a matrix.
  template <class To> __device__ void copy_part(int part, To& to, const H& hooks) const {
    copy_operand<16, kPart>(hooks, to, warp_row(), 0, first_row(), column_ + part * kPart);
  }
  // Writes a part a few columns at a time: a matrix's elements are read before results take their place.
  template <class To, class Sums, class... More>
  __device__ void write_copied(int part, Shared& staged, const To& to, Extent tensor, const H& hooks, const Sums& sums,
                               More... more) const {
    constexpr int kUnit = kPart % 16 == 0 ? 16 : 8;
    const int row = first_row();
    wait_for_copies();
#pragma unroll
    for (int first = 0; first < kPart; first += kUnit) {
      const int column = column_ + part * kPart + first;
      auto results = sums.template columns<kUnit>(part * kPart + first).template as<S>();
      Epilogue<layout::Mma<16, kUnit>, H, false, Holding<Shared>>(hooks, row, column)
          .apply_through(staged, warp_row(), first, results, more...);
      compare(to, results, tensor, row, column);
      __syncwarp();
      store(staged, warp_row(), first, results);
    }
  }

 public:
  static constexpr int kAhead = Ahead::kAhead;  // parts

  __device__ SliceStore() {}
  __device__ SliceStore(int row, int column) : row_(row), column_(column) {}

  // Returns where this warp's sums go.
  __device__ int first_row() const {
    return row_ + warp_row();
  }
  __device__ int first_column() const {
    return column_;
  }

  // Called for each m below kAhead before `write`.
  __device__ void read_first(const H& hooks, int m) {
    ahead_.read_first(m, [&](int n) { return part(hooks, n); });
  }

  // Called by a whole warpgroup; each has its own named barrier and buffers. `sums` has `columns`, as a RegisterTile.
  template <int Buffers, class To, class Sums, class... More>
  __device__ void write(int id, Shared (&buffers)[Buffers], const To& to, Extent tensor, const H& hooks,
                        const Sums& sums, More... more) {
    store_each<kWarpgroup, kParts, kParts, kCopies ? Buffers : 1>(
        id, buffers, to, tensor, row_, column_,
        [&](int n, Shared& staged) {
          if constexpr (kCopies) copy_part(n, staged, hooks);
        },
        [&](int n, Shared& staged) {
          if constexpr (kCopies) {
            write_copied(n, staged, to, tensor, hooks, sums, more...);
          } else {
            auto results = sums.template columns<kPart>(n * kPart).template as<S>();
            if constexpr (kAhead > 0)
              ahead_.apply(n, staged, warp_row(), 0, results, more...);
            else
              apply_epilogue(hooks, results, first_row(), column_ + n * kPart, more...);
            compare(to, results, tensor, first_row(), column_ + n * kPart);
            int row = warp_row();
            if (kParts == 1) asm volatile("" : "+r"(row));  // addresses would stay in registers until the next 64 rows
            store(staged, row, 0, results);
          }
        },
        [&](int n) {
          if constexpr (kAhead > 0) ahead_.applied(n, [&](int next) { return part(hooks, next); });
        });
  }
};

// Stores a tile of TileColumns columns to (tile_row, tile_column). Called by Warps warps together, of which each has
// the sums from (row, column) of the tile on.
template <class S, int Warps, int TileColumns, class Shared, class To, int Rows, int Columns, class Sum, class H,
          class... More>
__device__ inline void store_tile(Shared (&buffer)[1], const To& to, Extent tensor, int tile_row, int tile_column,
                                  int row, int column, const RegisterTile<layout::Mma<Rows, Columns>, Sum>& sums,
                                  const H& hooks, More... more) {
  constexpr int kStored = Shared::kColumns;
  constexpr int kPart = Columns < kStored ? Columns : kStored;  // columns of this warp in one buffer
  auto results = sums.template as<S>();
  apply_epilogue(hooks, results, tile_row + row, tile_column + column, more...);
  compare(to, results, tensor, tile_row + row, tile_column + column);
  store_each<Warps * 32, TileColumns / kStored, 1>(
      1, buffer, to, tensor, tile_row, tile_column, [&](int n, Shared& staged) {
#pragma unroll
        for (int first = 0; first < Columns; first += kPart) {
          if ((column + first) / kStored != n) continue;
          store(staged, row, (column + first) % kStored, results.template columns<kPart>(first));
        }
      });
}

}  // namespace tma
