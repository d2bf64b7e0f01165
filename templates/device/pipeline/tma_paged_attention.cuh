#pragma once
// The producer of attention kernels whose keys and values are in pages that sequences list. Tensors are [page, row,
// head, element]; a box is RUN rows of a page, which divides the size of a page, so that each lane loads one run of a
// step, whose page it looks up. RUN and the params of these files are the template's.
#include "device/pipeline/tma_attention.cuh"

#ifndef TMA_JIT_REFERENCE

// All steps of a tile from the last on, in the manner of SeenSteps.
template <class Work> class AllSteps {
 public:
  __device__ explicit AllSteps(const Work& work) : tile_({work}), step_(work.steps) {}
  __device__ int next() { return --step_; }
  __device__ const auto& over() const { return tile_; }

 private:
  struct {
    Work work;
  } tile_;
  int step_;
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

// Loads a run of a tile of keys or values, the lane's own, of one head. Rows of a page that is none become zeros.
template <class Tile>
__device__ inline void load_run(Tile& tile, const CUtensorMap& map, Barrier& full, int head, int2 at) {
  const int run = threadIdx.x % 32;
  if (run >= Tile::kRows / RUN) return;
#pragma unroll
  for (int p = 0; p < Tile::kPanels; ++p)
    tma::load(&tile.panel[p][run * RUN], map, full, {p * Tile::kPanel, head, at.y, at.x});
}

// As load_seen_backwards, and without a mask as load_attention_backwards. find(work) returns a SeenSteps, or AllSteps.
// Called by a warp. Loop invariant: before the values of a step are requested, its keys have been, and `here` is where
// the lane's run of both is.
template <int Consumers, class Smem, class Tiles, class Find>
__device__ inline void load_paged_backwards(Smem& smem, const CUtensorMap& Q, const CUtensorMap& K,
                                            const CUtensorMap& V, const PageTable& table, Tiles& tiles, Find find) {
  using Found = FoundSteps<decltype(find(tiles.work()))>;
  Producer queries(smem.queries);
  Producer keys(smem.keys), values(smem.values);
  const int lane = threadIdx.x % 32;
  const auto load_keys = [&](const Found& found) {
    const bool any = found.seen >= 0;
    if (!any && !kMaskGiven) return make_int2(-1, 0);
    const int step = kMaskGiven ? SeenStep::step(found.seen) : found.seen;
    const int2 at =
        any ? table.place(found.work().sequence, step * BN + lane * RUN, found.work().keys) : make_int2(-1, 0);
    u32 slot = 0;
    if (lane == 0)
      slot = kMaskGiven ? publish(smem.published, smem.keys, keys, SeenStep::before(found.seen, found.after),
                                  sizeof(smem.k[0]))
                        : keys.acquire(sizeof(smem.k[0]));
    slot = uniform(slot);
    if (any) load_run(smem.k[slot], K, smem.keys.full[slot], found.work().kv_head, at);
    return at;
  };
  bool more = tiles.more();
  if (more) {
    Found ahead(find(tiles.work()));
#pragma unroll 1
    while (more) {
      Found found = ahead;
      int2 here = load_keys(found);
      if (lane == 0) load_queries<Consumers>(smem, Q, tiles, queries, kMaskGiven || found.seen >= 0);
      __syncwarp();
      bool first = true;
#pragma unroll 1
      do {
        const bool any = found.seen >= 0;
        if (any) found.advance();
        const int2 there = any && found.seen >= 0 ? load_keys(found) : make_int2(-1, 0);
        if (any) {
          u32 slot = 0;
          if (lane == 0) slot = values.acquire(sizeof(smem.v[0]));
          slot = uniform(slot);
          load_run(smem.v[slot], V, smem.values.full[slot], found.work().kv_head, here);
        }
        if (first) {
          tiles.next();
          more = tiles.more();
          if (more) ahead = Found(find(tiles.work()));
        }
        first = false, here = there;
      } while (found.seen >= 0);
    }
  }
  if (lane == 0) publish_end<Consumers>(smem, tiles, queries);
  __syncwarp();
}

#endif
