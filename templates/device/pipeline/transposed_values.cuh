#pragma once
// The values of attention transposed once by a whole grid, before it attends. A block that transposes the values of its
// own steps does so again for every tile of queries, beside the products, and takes a tenth longer for it. Here the
// blocks share the tiles of all values, and leave each in global memory as the bytes that the products read, so that a
// bulk copy loads a step.
#include "device/pipeline/ring.cuh"
#include "device/pipeline/shared_work.cuh"
#include "device/ptx/bulk.cuh"
#include "device/ptx/fence.cuh"
#include "device/tile/tma_tile.cuh"
#include "device/tile/transpose_bytes.cuh"

// `tiles` has as many tiles of Keys rows of Size bytes as all heads have steps; `counters` are of SharedWork.
template <int Keys, int Size> struct TransposedValues {
  using Tile = TransposedBytes<Keys, Size>;

  Tile* tiles;
  int steps;  // of a head
  SharedWork work;

  __device__ TransposedValues(u8* tiles, u8* counters, int heads, int keys)
      : tiles(reinterpret_cast<Tile*>(tiles)),
        steps(ceil_div<u32>(keys, Keys)),
        work{reinterpret_cast<u32*>(counters), static_cast<u32>(heads) * steps} {}

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
      const u32 number = smem.drawn[slot];
      if (number >= work.parts) break;
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
      work.add_done(made);
    }
  }
  // Waits until the tiles of all blocks are done; those of this one have then left its slots, too. Called once by the
  // warp that loads them.
  __device__ void await() const {
    work.await();
    fence::proxy_async_global();
  }

 private:
  // Draws a tile, and loads its values.
  template <class Smem> __device__ void start(Smem& smem, const CUtensorMap& V, u32 slot) const {
    const u32 number = work.draw(gridDim.x);
    smem.drawn[slot] = number;
    Barrier& loaded = smem.turned.full[slot];
    if (number < work.parts) {
      const int head = number / steps, step = number % steps;
      loaded.expect(sizeof(smem.v[0]));
      tma::load(smem.v[slot], V, loaded, {0, step * Keys, head});
    } else {
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
