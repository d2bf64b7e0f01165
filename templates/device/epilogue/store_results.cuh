#pragma once
// Stores what the hook `epilogue` makes of the sums of a matrix product, through shared tiles and by TMA. S is the type
// in which it computes; `more` are its arguments after the row and the column in the tensor.
#include "device/epilogue/own_operands.cuh"
#include "device/epilogue/tma_store.cuh"
#include "device/ptx/setmaxnreg.cuh"
#include "device/tile/register_store.cuh"

namespace tma {

// Stores 64 rows of sums, of which each warp of a warpgroup has 16, to (row, column). Called by a whole warpgroup; each
// has its own named barrier and buffers. Ahead: the operands of a part are read before the part before it is stored,
// which takes registers.
template <class S, bool Ahead, class Shared, int Buffers, class To, int Columns, class Sum, class H, class... More>
__device__ inline void store_slice(int id, Shared (&buffers)[Buffers], const To& to, Extent tensor, int row, int column,
                                   const RegisterTile<layout::Mma<16, Columns>, Sum>& sums, const H& hooks,
                                   More... more) {
  constexpr int kPart = Shared::kColumns, kParts = Columns / kPart;
  using PartEpilogue = Epilogue<layout::Mma<16, kPart>, H>;
  const int warp = threadIdx.x % kWarpgroup / 32;
  const auto epilogue_of = [&](int n) { return PartEpilogue(hooks, row + warp * 16, column + n * kPart); };
  PartEpilogue next = epilogue_of(0);
  store_each<kWarpgroup, kParts, kParts>(id, buffers, to, tensor, row, column, [&](int n, Shared& staged) {
    auto part = sums.template columns<kPart>(n * kPart).template as<S>();
    if constexpr (Ahead)
      next.apply(part, more...);
    else
      apply_epilogue(hooks, part, row + warp * 16, column + n * kPart, more...);
    if (Ahead && n + 1 < kParts) next = epilogue_of(n + 1);
    store(staged, warp * 16, 0, part);
  });
}

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
