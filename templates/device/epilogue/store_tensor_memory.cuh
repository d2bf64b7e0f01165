#pragma once
// Stores what the hook `epilogue` makes of the sums of a matrix product from tensor memory, through shared tiles and by
// TMA: one row per thread.
#include "device/epilogue/largest_store.cuh"
#include "device/epilogue/own_operands.cuh"
#include "device/ptx/griddepcontrol.cuh"
#include "device/tile/register_store.cuh"
#include "device/tile/tcgen05_tile.cuh"

// The sums of a tile, whose first is at `from` in tensor memory, 32 rows for each warp; 0 unless there are `any`.
template <class Sum> struct TensorMemorySums {
  u32 from;
  bool any;

  template <int N> __device__ auto columns(int first) const {
    RegisterTile<layout::Lane<N>, Sum> sums = {};
    if (any) tcgen05::load(sums, from + first);
    return sums;
  }
};

// What stores them as they are.
struct Themselves {
  template <class Sums> __device__ const Sums& operator()(const Sums& sums, int, int) const { return sums; }
};

// Stores a tile of Stored columns to (row, column): of(sums, row, column) has its `columns`, of which `row` is the
// warp's first. The sums, of Columns columns, `accumulators`, a Consumer of smem.accumulators, waits for; without steps
// (K = 0) they are 0. Called by four warps. S is the type in which the hook computes, Sum that of the sums; `more` are
// the hook's arguments after the row and the column. The copies of the tile's last parts to D may be in progress
// afterwards. The accumulator is released before these parts are stored.
template <class S, class Sum, int Columns, int Stored, class Smem, class Accumulators, class To, class H, class Of,
          class... More>
__device__ inline void store_made_of(Smem& smem, Accumulators& accumulators, int steps, const To& to, Extent tensor,
                                     int row, int column, const H& hooks, Of of, More... more) {
  constexpr int kThreads = 128, kPart = Smem::Staged::kColumns, kParts = Stored / kPart;
  const int warp = threadIdx.x / 32, first = row + warp * 32;
  const u32 slot = steps > 0 ? accumulators.wait() : 0;
  tcgen05::fence_after();
  const TensorMemorySums<Sum> sums = {tensor_memory::at(smem.address, warp * 32, slot * Columns), steps > 0};
  const auto& made = of(sums, first, column);
  tma::store_each<kThreads, kParts, 1>(1, smem.staged, to, tensor, row, column,
                                       [&](int n, typename Smem::Staged& staged) {
                                         auto part = made.template columns<kPart>(n * kPart).template as<S>();
                                         apply_epilogue(hooks, part, first, column + n * kPart, more...);
                                         compare(to, part, tensor, first, column + n * kPart);
                                         store(staged, warp * 32, 0, part);
                                         if (n == kParts - 1 && steps > 0) {
                                           tcgen05::fence_before();
                                           __syncwarp();
                                           if (threadIdx.x % 32 == 0)
                                             smem.accumulators.empty[slot].arrive_release_at(0);
                                         }
                                       });
}

// The same for the sums themselves.
template <class S, class Sum, int Columns, class Smem, class Accumulators, class To, class H, class... More>
__device__ inline void store_accumulator(Smem& smem, Accumulators& accumulators, int steps, const To& to, Extent tensor,
                                         int row, int column, const H& hooks, More... more) {
  store_made_of<S, Sum, Columns, Columns>(smem, accumulators, steps, to, tensor, row, column, hooks, Themselves{},
                                          more...);
}

// Stores this block's tiles, after the kernel before this one, and returns how many they are. Called by four warps.
// Loop invariant: before a tile, all earlier accumulators are released and the copies of their last parts to D may be
// in progress.
template <class S, class Sum, int Columns, int Stored, class Smem, class Accumulators, class To, class Tiles, class H,
          class Of>
__device__ inline int store_tiles_made_of(Smem& smem, Accumulators accumulators, const To& to, Extent tensor,
                                          const Tiles& tiles, int steps, const H& hooks, Of of) {
  grid::wait();
  int count = 0;
  for (const int index : tiles) {
    ++count;
    const auto tile = tiles[index];
    store_made_of<S, Sum, Columns, Stored>(smem, accumulators, steps, to, tensor, tile.row * Smem::Staged::kRows,
                                           tile.column * Stored, hooks, of);
  }
  if (threadIdx.x == 0) tma::wait_read<0>();  // shared memory must outlive the stores that read it
  return count;
}

// The same for the sums themselves.
template <class S, class Sum, int Columns, class Smem, class Accumulators, class To, class Tiles, class H>
__device__ inline int store_tiles(Smem& smem, Accumulators accumulators, const To& to, Extent tensor,
                                  const Tiles& tiles, int steps, const H& hooks) {
  return store_tiles_made_of<S, Sum, Columns, Columns>(smem, accumulators, to, tensor, tiles, steps, hooks,
                                                       Themselves{});
}
