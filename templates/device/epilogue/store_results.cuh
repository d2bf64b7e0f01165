#pragma once
// Stores what an epilogue makes of the sums of a matrix product, through shared tiles and by TMA. S is the type in
// which it computes: epilogue(x, row, column) is called for each sum x, whose row and column in the tensor these are.
#include "device/epilogue/tma_store.cuh"
#include "device/ptx/setmaxnreg.cuh"
#include "device/tile/register_store.cuh"

namespace tma {

// Stores 64 rows of sums, of which each warp of a warpgroup has 16, to (row, column). Called by a whole warpgroup; each
// has its own named barrier and buffers.
template <class S, class Shared, int Buffers, class To, int Columns, class Sum, class Epilogue>
__device__ inline void store_slice(int id, Shared (&buffers)[Buffers], const To& to, Extent tensor, int row, int column,
                                   const RegisterTile<layout::Mma<16, Columns>, Sum>& sums, Epilogue epilogue) {
  constexpr int kPart = Shared::kColumns, kParts = Columns / kPart;
  const int warp = threadIdx.x % kWarpgroup / 32;
  store_each<kWarpgroup, kParts, kParts>(id, buffers, to, tensor, row, column, [&](int n, Shared& staged) {
    auto part = sums.template columns<kPart>(n * kPart).template as<S>();
    part.map_at([&](S x, int r, int c) { return epilogue(x, row + warp * 16 + r, column + n * kPart + c); });
    store(staged, warp * 16, 0, part);
  });
}

// Stores a tile of TileColumns columns to (tile_row, tile_column). Called by Warps warps together, of which each has
// the sums from (row, column) of the tile on.
template <class S, int Warps, int TileColumns, class Shared, class To, int Rows, int Columns, class Sum, class Epilogue>
__device__ inline void store_tile(Shared (&buffer)[1], const To& to, Extent tensor, int tile_row, int tile_column,
                                  int row, int column, const RegisterTile<layout::Mma<Rows, Columns>, Sum>& sums,
                                  Epilogue epilogue) {
  constexpr int kStored = Shared::kColumns;
  constexpr int kPart = Columns < kStored ? Columns : kStored;  // columns of this warp in one buffer
  auto results = sums.template as<S>();
  results.map_at([&](S x, int r, int c) { return epilogue(x, tile_row + row + r, tile_column + column + c); });
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
