#pragma once
// The values of attention transposed once by a whole grid, before it attends. A block that transposes the values of its
// own steps does so again for every tile of queries, beside the products, and takes a tenth longer for it. Here the
// blocks share the tiles of all values, and leave each in global memory as the bytes that the products read, so that a
// bulk copy loads a step. Blocks draw the tiles: a tile that is not done belongs to a block that runs, so that waiting
// for all of them ends however few blocks the device runs at a time.
#include "device/pipeline/ring.cuh"
#include "device/ptx/acq_rel.cuh"
#include "device/ptx/acquire.cuh"
#include "device/ptx/bulk.cuh"
#include "device/ptx/fence.cuh"
#include "device/tile/tma_tile.cuh"
#include "device/tile/transpose_bytes.cuh"

// `tiles` has heads * steps tiles of Keys rows of Size bytes. `counters` are three words, 0 before and after each
// launch: tiles drawn, tiles done, and blocks that have seen all done.
template <int Keys, int Size> struct TransposedValues {
  using Tile = TransposedBytes<Keys, Size>;

  Tile* tiles;
  u32* counters;
  int heads, steps;

  __device__ TransposedValues(u8* tiles, u8* counters, int heads, int keys)
      : tiles(reinterpret_cast<Tile*>(tiles)),
        counters(reinterpret_cast<u32*>(counters)),
        heads(heads),
        steps(ceil_div<u32>(keys, Keys)) {}

  __device__ Tile* tile(int head, int step) const { return tiles + (s64{head} * steps + step); }

  // Transposes the tiles that the block draws. Smem has two tiles `v`, two `transposed`, two numbers `drawn`, and the
  // barriers `turned.full` of one arrival. Called by all Threads threads of the block, after a barrier. Loop invariant:
  // the next tile is drawn, and its values are on their way into its slot; the tile before last has left its slot.
  template <int Threads, class Smem> __device__ void make(Smem& smem, const CUtensorMap& V) const {
    if (threadIdx.x == 0) start(smem, V, 0);
    u32 made = 0;
#pragma unroll 1
    for (Ring<2> ring;; ring.advance(), ++made) {
      const u32 slot = ring.slot;
      smem.turned.full[slot].wait(ring.phase);
      const int number = smem.drawn[slot];
      if (number >= heads * steps) break;
      if (threadIdx.x == 0) start(smem, V, slot ^ 1);
      transpose_bytes<Threads / 32>(smem.transposed[slot], smem.v[slot], threadIdx.x / 32);
      fence::proxy_async_shared();
      if (threadIdx.x == 0) bulk::wait_read<0>();
      __syncthreads();
      if (threadIdx.x != 0) continue;
      bulk::store(tiles + number, &smem.transposed[slot], sizeof(Tile));
      bulk::commit();
    }
    if (threadIdx.x == 0) {
      bulk::wait<0>();
      if (made > 0) global::add_release(&counters[1], made);
    }
  }
  // Waits until the tiles of all blocks are done; those of this one have then left its slots, too. Called once by the
  // warp that loads them.
  __device__ void await() const {
    global::await(&counters[1], heads * steps);
    fence::proxy_async_global();
    __syncwarp();
    if (threadIdx.x % 32 != 0) return;
    fence::acq_rel_gpu();
    if (atomicInc(&counters[2], gridDim.x - 1) != gridDim.x - 1) return;
    fence::acq_rel_gpu();  // the others have read the counter that the last block resets
    counters[1] = 0;
  }

 private:
  // Draws a tile, and loads its values. Each block draws one number beyond the last tile, and who draws the last of
  // these resets the counter.
  template <class Smem> __device__ void start(Smem& smem, const CUtensorMap& V, u32 slot) const {
    const int number = atomicAdd(&counters[0], 1);
    smem.drawn[slot] = number;
    Barrier& loaded = smem.turned.full[slot];
    if (number < heads * steps) {
      loaded.expect(sizeof(smem.v[0]));
      tma::load(smem.v[slot], V, loaded, {0, number % steps * Keys, number / steps});
    } else {
      if (number == heads * steps + static_cast<int>(gridDim.x) - 1) counters[0] = 0;
      loaded.arrive();
    }
  }
};

// As load_values of tma_attention.cuh.
template <class Smem, class Ring, class Work, int Keys, int Size>
__device__ inline void load_values(Smem& smem, Ring& values, const TransposedValues<Keys, Size>& V, int,
                                   const Work& work, int step) {
  const u32 slot = values.acquire(sizeof(smem.transposed[0]));
  bulk::load(&smem.transposed[slot], V.tile(work.kv_head, step), sizeof(smem.transposed[0]), smem.values.full[slot]);
}
