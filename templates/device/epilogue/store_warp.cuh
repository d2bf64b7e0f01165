#pragma once
// Stores what the hook `epilogue` makes of a warp's sums to a tensor with any address and pitch, through a shared tile
// of the warp's own.
#include "device/epilogue/largest.cuh"
#include "device/epilogue/own_operands.cuh"
#include "device/tile/register_store.cuh"

// Stores the part of the sums inside the tensor to (row, column), 16 rows at a time. Called by all lanes of a warp. S
// is the type in which the hook computes; `more` are its arguments after the row and the column.
template <class S, class O, int Rows, int Columns, class To, class Sum, class H, class... More>
__device__ inline void store_warp(SharedTile<O, 16, Columns>& staged, const To& to, Extent tensor, int row, int column,
                                  const RegisterTile<layout::Mma<Rows, Columns>, Sum>& sums, const H& hooks,
                                  More... more) {
  const View<O, 2>& view = uncompared(to);
  const bool vectors = rows_of_16_bytes(view);
  auto results = sums.template as<S>();
  apply_epilogue(hooks, results, row, column, more...);
  compare(to, results, tensor, row, column);
#pragma unroll
  for (int i = 0; i < Rows; i += 16) {
    __syncwarp();
    store(staged, 0, 0, results.template rows<16>(i));
    __syncwarp();
    store_rows<32>(view, staged, tensor, row + i, column, threadIdx.x % 32, vectors);
  }
}
