#pragma once
// The producer of attention kernels whose keys and values are in pages that sequences list. Tensors are [page, row,
// head, element]; a box is RUN rows of a page, which divides the size of a page; each lane looks up the page of one run
// of a step. RUN and the params of these files are the template's.
#include "device/pipeline/tma_attention.cuh"
#include "device/ptx/elect.cuh"

#ifndef TMA_JIT_REFERENCE

// All tiles and steps of a block, in the manner of FoundTiles.
template <class Tiles> class AllTiles {
 public:
  __device__ explicit AllTiles(Tiles& tiles) : tiles_(tiles) {}

  typename Tiles::Work work;
  int seen = -1;

  __device__ bool next() {
    if (begun_) tiles_.next();
    begun_ = true;
    work = tiles_.work();
    seen = work.steps - 1;
    return tiles_.more();
  }
  __device__ void advance() {
    if (seen == work.steps - 1) tiles_.look_ahead();
    --seen;
  }
  __device__ int step() const { return seen; }

 private:
  Tiles& tiles_;
  bool begun_ = false;
};

// Where a lane's runs of keys are.
struct PageTable {
  const View<const s32, 2>& pages;
  int size;

  // Returns the page and the row of a key of the sequence; a page that is none beyond the `keys` that there are.
  __device__ int2 place(int sequence, int key, int keys) const {
    if (key >= keys) return make_int2(-1, 0);
    const int index = key / size;
    return make_int2(pages.data[sequence * pages.stride[0] + index * pages.stride[1]], key - index * size);
  }
};

// Loads a tile of keys or values of one head, whose runs are where the lanes say, each its own. Rows of a page that is
// none become zeros. Called by all lanes of a warp, of which one loads all runs, as loads by several lanes take turns.
template <class Tile>
__device__ inline void load_runs(Tile& tile, const CUtensorMap& map, Barrier& full, int head, int2 at) {
  constexpr int kRuns = Tile::kRows / RUN, kAtOnce = HD > 128 || kRuns % 2 != 0 ? 1 : 2;  // as registers suffice for
#pragma unroll 1
  for (int first = 0; first < kRuns; first += kAtOnce) {
    int2 of[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i)
      of[i] = make_int2(__shfl_sync(0xffffffff, at.x, first + i), __shfl_sync(0xffffffff, at.y, first + i));
    if (elect())
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i)
#pragma unroll
        for (int p = 0; p < Tile::kPanels; ++p)
          tma::load(&tile.panel[p][(first + i) * RUN], map, full, {p * Tile::kPanel, head, of[i].y, of[i].x});
    __syncwarp();
  }
}

// As load_found_backwards, of FoundTiles or AllTiles. Called by a warp. Loop invariant: before the values of a step are
// requested, its keys have been, and `here` is where the lane's run of both is.
template <int Consumers, class Smem, class Tiles>
__device__ inline void load_paged_backwards(Smem& smem, const CUtensorMap& Q, const CUtensorMap& K,
                                            const CUtensorMap& V, const PageTable& table, Tiles tiles) {
  using Work = typename Smem::Work;
  Producer queries(smem.queries);
  Producer keys(smem.keys), values(smem.values);
  const int lane = threadIdx.x % 32;
  const auto load_keys = [&] {
    const bool any = tiles.seen >= 0;
    if (!any && !kMaskGiven) return make_int2(-1, 0);
    const int first = tiles.step() * BN + lane * RUN;
    const int2 at = any ? table.place(tiles.work.sequence, first, tiles.work.keys) : make_int2(-1, 0);
    u32 slot = 0;
    if (elect())
      slot = kMaskGiven ? publish(smem.published, smem.keys, keys, tiles.seen, sizeof(smem.k[0]))
                        : keys.acquire(sizeof(smem.k[0]));
    slot = uniform(slot);
    if (any) load_runs(smem.k[slot], K, smem.keys.full[slot], tiles.work.kv_head, at);
    return at;
  };
#pragma unroll 1
  while (tiles.next()) {
    int2 here = load_keys();
    if (elect()) {
      const PublishedTile<Work> tile = {tiles.work, smem.work};
      load_queries<Consumers>(smem, Q, tile, queries, kMaskGiven || tiles.seen >= 0);
    }
    __syncwarp();
#pragma unroll 1
    while (tiles.seen >= 0) {
      tiles.advance();
      const int2 there = tiles.seen >= 0 ? load_keys() : make_int2(-1, 0);
      u32 slot = 0;
      if (elect()) slot = values.acquire(sizeof(smem.v[0]));
      slot = uniform(slot);
      load_runs(smem.v[slot], V, smem.values.full[slot], tiles.work.kv_head, here);
      here = there;
    }
  }
  if (elect()) publish_end<Consumers>(smem, PublishedTile<Work>{Work::none(), smem.work}, queries);
  __syncwarp();
}

#endif
