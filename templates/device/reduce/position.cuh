#pragma once
// Finds an element of a row by the sum of measures up to it, in the order of columns: the element that a random number
// chooses by the elements' probabilities. Sums are integers, so that the result does not depend on who adds them.
#include "device/reduce/row_passes.cuh"

// Shared memory of each block: sums of a pack of each thread, of warps and of blocks, for even and for odd parts.
template <int Threads, int Cluster, int Packs> struct PositionSmem {
  u64 warps[2][Packs][Threads / 32], blocks[2][Packs * Cluster];
};

// Calls found(p, i) in the thread that has the first element, i of pack p, up to and with which the measures add up to
// more than `target`. Called by all threads of the blocks that share a row; measure(x) is that of an element, 0 beyond
// the ends of the row. The row is read in `parts` parts unless it is Kept.
template <bool Kept, int Threads, int Cluster, int Packs, class Row, class Read, class Measure, class Found>
__device__ inline void find_position(Row& row, PositionSmem<Threads, Cluster, Packs>& smem, int parts, Read read,
                                     u64 target, Measure measure, Found found) {
  constexpr int kWarps = Threads / 32;
  const auto add = [](u64 a, u64 b) { return a + b; };
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, rank = Cluster == 1 ? 0 : cluster::rank();
  for (int part = 0; part < parts; ++part) {
    if constexpr (!Kept) read();
    auto& warps = smem.warps[part % 2];
    auto& blocks = smem.blocks[part % 2];
    u64 pack[Packs];
#pragma unroll
    for (int p = 0; p < Packs; ++p) {
      pack[p] = 0;
#pragma unroll
      for (int i = 0; i < Row::kCount; ++i) pack[p] += measure(row.x[p * Row::kCount + i]);
      const u64 sum = warp_reduce(pack[p], add);
      if (lane == 0) warps[p][warp] = sum;
    }
    __syncthreads();
    if (threadIdx.x < Packs * Cluster) {  // the sum of each pack goes to each block
      u64 sum = 0;
      for (const u64 x : warps[threadIdx.x / Cluster]) sum += x;
      u64* const to = &blocks[threadIdx.x / Cluster * Cluster + rank];
      *(Cluster == 1 ? to : cluster::map(to, threadIdx.x % Cluster)) = sum;
    }
    cluster::sync_blocks<Cluster>();
    int at = 0;
    while (at < Packs * Cluster && blocks[at] <= target) target -= blocks[at++];
    if (at < Packs * Cluster) {
      if (at % Cluster != rank) return;
      int owner = 0;
      while (owner < kWarps - 1 && warps[at / Cluster][owner] <= target) target -= warps[at / Cluster][owner++];
      if (owner != warp) return;
#pragma unroll
      for (int p = 0; p < Packs; ++p) {
        if (p != at / Cluster) continue;
        u64 upto = pack[p];
#pragma unroll
        for (int distance = 1; distance < 32; distance *= 2) {
          const u64 other = __shfl_up_sync(0xffffffff, upto, distance);
          if (lane >= distance) upto += other;
        }
        u64 before = upto - pack[p];
#pragma unroll
        for (int i = 0; i < Row::kCount; ++i) {
          const u64 next = before + measure(row.x[p * Row::kCount + i]);
          if (before <= target && target < next) found(p, i);
          before = next;
        }
      }
      return;
    }
    row.advance_parts(1);
  }
}
