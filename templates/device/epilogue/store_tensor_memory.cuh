#pragma once
// Stores what the hook `epilogue` makes of the sums of a matrix product from tensor memory, through shared tiles and by
// TMA: one row per thread.
#include "device/epilogue/largest_store.cuh"
#include "device/epilogue/own_operands.cuh"
#include "device/tile/register_store.cuh"
#include "device/tile/tcgen05_tile.cuh"

// Stores a tile of Columns columns to (row, column), whose sums `accumulators`, a Consumer of smem.accumulators, waits
// for; without steps (K = 0) they are 0. Called by four warps. S is the type in which the hook computes, Sum that of
// the sums; `more` are the hook's arguments after the row and the column. The copies of the tile's last parts to D may
// be in progress afterwards. The accumulator is released before these parts are stored.
template <class S, class Sum, int Columns, class Smem, class Accumulators, class To, class H, class... More>
__device__ inline void store_accumulator(Smem& smem, Accumulators& accumulators, int steps, const To& to, Extent tensor,
                                         int row, int column, const H& hooks, More... more) {
  constexpr int kThreads = 128, kPart = Smem::Staged::kColumns, kParts = Columns / kPart;
  const int warp = threadIdx.x / 32;
  const u32 slot = steps > 0 ? accumulators.wait() : 0;
  tcgen05::fence_after();
  const u32 from = tensor_memory::at(smem.address, warp * 32, slot * Columns);
  tma::store_each<kThreads, kParts, 1>(1, smem.staged, to, tensor, row, column,
                                       [&](int n, typename Smem::Staged& staged) {
                                         RegisterTile<layout::Lane<kPart>, Sum> sums = {};
                                         if (steps > 0) tcgen05::load(sums, from + n * kPart);
                                         auto part = sums.template as<S>();
                                         apply_epilogue(hooks, part, row + warp * 32, column + n * kPart, more...);
                                         compare(to, part, tensor, row + warp * 32, column + n * kPart);
                                         store(staged, warp * 32, 0, part);
                                         if (n == kParts - 1 && steps > 0) {
                                           tcgen05::fence_before();
                                           __syncwarp();
                                           if (threadIdx.x % 32 == 0)
                                             smem.accumulators.empty[slot].arrive_release_at(0);
                                         }
                                       });
}
