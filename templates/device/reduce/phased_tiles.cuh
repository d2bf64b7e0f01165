#pragma once
// Rows that many blocks share in two phases: each block of the first one reduces a tile of a row, and each of the
// second one waits until all tiles of its row are reduced and goes on with what they gave. The blocks of a row's second
// phase come after those of the next row's first phase: then they rarely wait, and their tiles are still in L2. A block
// waits only for those before it in the order in which blocks begin, which are running or done.
#include "device/ptx/acq_rel.cuh"
#include "device/ptx/relaxed.cuh"

// A block's tile. The counters, one and two for each row, are 0 before a launch, and after it.
struct PhasedTile {
  bool second;
  int row, tile, tiles;  // `tiles` of the row
  u32* counters;         // of the row: blocks that have reduced their tiles, and blocks that have waited for them

  // That of the next block in the order in which blocks begin, of 2 * rows * tiles. Called by all threads.
  __device__ static PhasedTile next(u32* counters, int tiles) {
    __shared__ u32 number;
    if (threadIdx.x == 0) number = atomicInc(counters, gridDim.x - 1);
    __syncthreads();
    // Rows of tiles: the first phases of rows 0 and 1, the second of 0, the first of 2, the second of 1, and so on.
    const int turn = static_cast<int>(number / tiles), rows = static_cast<int>(gridDim.x / tiles) / 2;
    const bool last = turn == 2 * rows - 1;
    const bool second = last || (turn > 0 && turn % 2 == 0);
    const int row = turn == 0 ? 0 : last ? rows - 1 : second ? turn / 2 - 1 : turn / 2 + 1;
    return {second, row, static_cast<int>(number % tiles), tiles, counters + 1 + 2 * row};
  }
  // Called by one thread in the first phase, when what the tile gave is in global memory; behind a barrier of the block
  // if others wrote it.
  __device__ void arrive() const {
    fence::acq_rel_gpu();
    atomicAdd(&counters[0], 1);
  }
  // Returns in the second phase when the whole row has been reduced, and its blocks' results can be read. Called by all
  // threads.
  __device__ void wait() const {
    if (threadIdx.x == 0) {
      while (static_cast<int>(relaxed::load(&counters[0])) != tiles) __nanosleep(40);
      fence::acq_rel_gpu();
      if (static_cast<int>(atomicInc(&counters[1], tiles - 1)) == tiles - 1) relaxed::store(&counters[0], 0);
    }
    __syncthreads();
  }
};
