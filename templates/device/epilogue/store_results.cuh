#pragma once
// Stores what the hook `epilogue` makes of the sums of a matrix product, through shared tiles and by TMA. S is the type
// in which it computes; `more` are its arguments after the row and the column in the tensor.
#include "device/epilogue/own_operands.cuh"
#include "device/epilogue/tma_store.cuh"
#include "device/ptx/setmaxnreg.cuh"
#include "device/tile/register_store.cuh"

namespace tma {

// The store of 64 rows of sums to (row, column), of which each warp of a warpgroup has 16, in parts of Shared's width.
// Ahead: the operands of the first part are read when it is constructed, and those of a part before the part before it
// is stored, which takes registers. Otherwise nothing uses the first ones, and the compiler leaves their reads out.
template <class S, class Shared, class H, bool Ahead> class SliceStore {
  using Part = Epilogue<layout::Mma<16, Shared::kColumns>, H>;

  const H& hooks_;
  int row_, column_;
  Part next_;

  __device__ Part part(int n) const {
    return Part(hooks_, row_ + threadIdx.x % kWarpgroup / 32 * 16, column_ + n * Shared::kColumns);
  }

 public:
  __device__ SliceStore(const H& hooks, int row, int column)
      : hooks_(hooks), row_(row), column_(column), next_(part(0)) {}

  // Called by a whole warpgroup; each has its own named barrier and buffers.
  template <int Buffers, class To, int Columns, class Sum, class... More>
  __device__ void write(int id, Shared (&buffers)[Buffers], const To& to, Extent tensor,
                        const RegisterTile<layout::Mma<16, Columns>, Sum>& sums, More... more) {
    constexpr int kPart = Shared::kColumns, kParts = Columns / kPart;
    const int warp_row = threadIdx.x % kWarpgroup / 32 * 16;
    store_each<kWarpgroup, kParts, kParts>(id, buffers, to, tensor, row_, column_, [&](int n, Shared& staged) {
      auto results = sums.template columns<kPart>(n * kPart).template as<S>();
      if constexpr (Ahead)
        next_.apply(results, more...);
      else
        apply_epilogue(hooks_, results, row_ + warp_row, column_ + n * kPart, more...);
      if (Ahead && n + 1 < kParts) next_ = part(n + 1);
      store(staged, warp_row, 0, results);
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
