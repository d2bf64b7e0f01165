#pragma once
// Rows that many blocks share: each of a row's first blocks reduces a tile of it, and the row's second blocks go on
// with the tiles when all are reduced. If blocks keep their tiles, a first block goes on with its own. That needs all
// first blocks of a row at once, which nothing promises: each waits for a limited time, and leaves its tile to a second
// block otherwise, which reads it again. A second block waits only for blocks before it in the order in which blocks
// begin, which are running or done.
#include "device/ptx/acq_rel.cuh"
#include "device/ptx/globaltimer.cuh"
#include "device/ptx/relaxed.cuh"

// How the blocks of a grid divide `rows` rows of `tiles` tiles each. A second block has a tile of its own, or looks for
// those of kSearched kept ones that were left.
struct TileOrder {
  static constexpr int kSearched = 32;

  int rows, tiles;
  bool keeps;

  __device__ int seconds() const { return keeps ? ceil_div(tiles, kSearched) : tiles; }
  // Words of counters of a row, behind the first word of all.
  __device__ int counters() const { return keeps ? 2 + tiles : 2; }
};

// A block's tile, or the range of those that it looks for. The counters are 0 before a launch, and after it.
struct KeptTile {
  const TileOrder& order;
  bool second;
  int row, tile, end;
  u32* counters;  // of the row: blocks that have reduced tiles, second blocks that have waited for them, and how each
                  // tile ended that was kept

  // That of the next block, in the order in which blocks begin. Called by all threads.
  __device__ KeptTile(const TileOrder& order, u32* counters) : order(order) {
    __shared__ u32 begun;
    if (threadIdx.x == 0) begun = atomicInc(counters, gridDim.x - 1);
    __syncthreads();
    // The first blocks of row 0; then, row by row, those of the next row and the second ones of the row; and the second
    // ones of the last row.
    const int number = static_cast<int>(begun) - order.tiles, turn = order.tiles + order.seconds();
    const int before = number < 0 ? -1 : number / turn, place = number < 0 ? static_cast<int>(begun) : number % turn;
    const int firsts = before == order.rows - 1 ? 0 : order.tiles;
    second = place >= firsts;
    row = second ? before : before + 1;
    tile = second ? (place - firsts) * (order.keeps ? TileOrder::kSearched : 1) : place;
    end = order.keeps && second ? min(tile + TileOrder::kSearched, order.tiles) : tile + 1;
    this->counters = counters + 1 + s64{row} * order.counters();
  }

  // Called by one thread of a first block, when what the tile gave is in global memory; behind a barrier of the block
  // if others wrote it.
  __device__ void arrive() const {
    fence::acq_rel_gpu();
    atomicAdd(&counters[0], 1);
  }
  // Whether the whole row has been reduced before the time is over. Called by one thread of a first block if blocks
  // keep tiles; after a barrier all may read what the row's blocks gave.
  __device__ bool wait_for(u64 nanoseconds) const {
    const u64 begin = now_ns();
    while (!is_reduced()) {
      if (now_ns() - begin > nanoseconds) return false;
      __nanosleep(40);
    }
    fence::acq_rel_gpu();
    return true;
  }
  // Says whether this tile is done, or left to a second block. Called once by one thread of its first block, which
  // does not wait for the row afterwards.
  __device__ void settle(bool done) const { relaxed::store(&state(tile), done ? kDone : kLeft); }

  // Returns the tiles of a second block that were left, bit i for tile + i, when all have ended. Called by a warp.
  __device__ u32 left() const {
    const int own = tile + static_cast<int>(threadIdx.x) % 32;
    u32 found = kDone;
    if (own < end) {
      while ((found = relaxed::load(&state(own))) == 0) __nanosleep(100);
      relaxed::store(&state(own), 0);
    }
    return __ballot_sync(0xffffffff, found == kLeft);
  }
  // Returns when the whole row has been reduced. Called by one thread of each second block, after the tiles that it
  // looks for have ended; after a barrier all may read what the row's blocks gave.
  __device__ void wait() const {
    while (!is_reduced()) __nanosleep(40);
    fence::acq_rel_gpu();
    const u32 seconds = order.seconds();
    if (atomicInc(&counters[1], seconds - 1) == seconds - 1) relaxed::store(&counters[0], 0);
  }

 private:
  static constexpr u32 kDone = 1, kLeft = 2;

  __device__ bool is_reduced() const { return static_cast<int>(relaxed::load(&counters[0])) == order.tiles; }
  __device__ u32& state(int of) const { return counters[2 + of]; }
};
