#pragma once
// The producers of attention kernels whose operands are loaded by TMA. Called by one thread. Tensors are [head, row,
// element].
#include "device/pipeline/attention_steps.cuh"
#include "device/pipeline/found_steps.cuh"
#include "device/ptx/elect.cuh"
#include "device/tile/tma_tile.cuh"

// Loads the queries of the block's tile into `smem.q`, on the barrier `smem.queries`, and step by step the keys and
// values into the slots of `smem.pipeline`, in `smem.k` and `smem.v`. Loop invariant: before step i, the keys and
// values of steps 0 to i - 1 have been requested in order, each in the slot that its acquire returned; at most as many
// steps as slots are not yet released.
template <class Smem, class Work>
__device__ inline void load_attention(Smem& smem, const CUtensorMap& Q, const CUtensorMap& K, const CUtensorMap& V,
                                      const Work& work) {
  if (work.steps == 0) return;
  smem.queries.expect(sizeof(smem.q));
  tma::load(smem.q, Q, smem.queries, work.query_at(0).at);
  Producer producer(smem.pipeline);
  for (int step = 0; step < work.steps; ++step) {
    const u32 slot = producer.acquire(sizeof(smem.k[0]) + sizeof(smem.v[0]));
    const int row = step * smem.k[0].kRows;
    tma::load(smem.k[slot], K, smem.pipeline.full[slot], work.key_at(row).at);
    tma::load(smem.v[slot], V, smem.pipeline.full[slot], work.key_at(row).at);
  }
}

// The same for the steps that `steps` finds, a SeenSteps: which they are is published in `smem.published` with the
// slots, after the last of which follows an empty one. Called by a warp.
template <class Smem, class Work, class Steps>
__device__ inline void load_seen_attention(Smem& smem, const CUtensorMap& Q, const CUtensorMap& K, const CUtensorMap& V,
                                           const Work& work, Steps steps) {
  const bool issues = elect();
  if (issues) {
    smem.queries.expect(sizeof(smem.q));
    tma::load(smem.q, Q, smem.queries, work.query_at(0).at);
  }
  Producer producer(smem.pipeline);
  for (int seen = 0; seen >= 0;) {
    seen = steps.next();
    if (!issues) continue;
    const u32 slot = publish(smem.published, smem.pipeline, producer, seen, sizeof(smem.k[0]) + sizeof(smem.v[0]));
    if (seen < 0) continue;
    const int row = SeenStep::step(seen) * smem.k[0].kRows;
    tma::load(smem.k[slot], K, smem.pipeline.full[slot], work.key_at(row).at);
    tma::load(smem.v[slot], V, smem.pipeline.full[slot], work.key_at(row).at);
  }
  __syncwarp();
}

// A tile as load_queries and publish_end publish it.
template <class TheWork> struct PublishedTile {
  using Work = TheWork;
  static constexpr bool kPublished = true;

  Work tile;
  Work* works;  // of the slots of the queries

  __device__ const Work& work() const { return tile; }
  __device__ void publish(u32 slot) const { works[slot] = tile; }
};

// Publishes the block's tile with the slot of each consumer's queries, and loads them if there are `any` keys. Called
// by one thread.
template <int Consumers, class Smem, class Tiles, class Ring>
__device__ inline void load_queries(Smem& smem, const CUtensorMap& Q, const Tiles& tiles, Ring& queries, bool any) {
  const auto work = tiles.work();
#pragma unroll 1
  for (int i = 0; i < Consumers; ++i) {
    const u32 slot = queries.acquire();
    tiles.publish(slot);
    smem.queries.full[slot].expect(any ? sizeof(smem.q[0]) : 0);
    if (any) tma::load(smem.q[slot], Q, smem.queries.full[slot], work.query_at(i * 64).at);
  }
}

// Publishes with a slot of each consumer that no tile follows, where tiles are published. Called by one thread.
template <int Consumers, class Smem, class Tiles, class Ring>
__device__ inline void publish_end(Smem& smem, const Tiles& tiles, Ring& queries) {
  if constexpr (Tiles::kPublished) {
#pragma unroll 1
    for (int i = 0; i < Consumers; ++i) {
      const u32 slot = queries.acquire();
      tiles.publish(slot);
      smem.queries.full[slot].arrive();
    }
  }
}

// Announces, where other warps transpose the values, that no more come. Called by one thread.
template <class Smem, class Ring> __device__ inline void publish_no_values(Smem& smem, Ring& values) {
  if constexpr (Smem::kTransposes) {
    const u32 slot = values.acquire();
    smem.none[slot] = true;
    smem.values.full[slot].arrive();
  }
}

// Loads the values of a step into the next slot of their ring. Called by one thread.
template <class Smem, class Ring, class Work>
__device__ inline void load_values(Smem& smem, Ring& values, const CUtensorMap& V, int rank, const Work& work,
                                   int step) {
  const u32 slot = values.acquire(sizeof(smem.v[0]));
  tma::load_shares<Smem::kBlocks>(smem.v[slot], V, smem.values.full[slot], rank,
                                  work.key_at(step * smem.v[0].kRows).at);
}

// The same for all of a block's tiles, with keys and values in rings of their own, `smem.keys` and `smem.values`, from
// the last step to the first; the values of a step follow the keys of the next. The queries of each consumer are a slot
// of `smem.queries`, in `smem.q`; of a tile without keys they are announced, but not loaded. With Smem::kBlocks blocks
// in a cluster, whose tiles have the same keys, each loads its share of them into all. The next tile is looked up once
// the first loads of a tile are on their way. V is what load_values takes. Called by a warp.
template <int Consumers, class Smem, class Values, class Tiles>
__device__ inline void load_attention_backwards(Smem& smem, const CUtensorMap& Q, const CUtensorMap& K, const Values& V,
                                                Tiles& tiles) {
  using Work = typename Tiles::Work;
  Producer queries(smem.queries);
  Producer keys(smem.keys), values(smem.values);
  const int rank = Smem::kBlocks == 1 ? 0 : cluster::rank();
  const auto load_keys = [&](int step, const Work& work) {
    const u32 slot = keys.acquire(sizeof(smem.k[0]));
    tma::load_shares<Smem::kBlocks>(smem.k[slot], K, smem.keys.full[slot], rank,
                                    work.key_at(step * smem.k[0].kRows).at);
  };
  const bool issues = elect();
  for (; tiles.more(); tiles.next()) {
    if (!Tiles::kPublished && !issues) continue;  // only tiles that are published are found by the whole warp
    const Work work = tiles.work();
    const int last = work.steps - 1;
    if (issues) {
      if (last >= 0) load_keys(last, work);
      load_queries<Consumers>(smem, Q, tiles, queries, last >= 0);
    }
#pragma unroll 1
    for (int step = last; step >= 0; --step) {
      if (issues) {
        if (step > 0) load_keys(step - 1, work);
        load_values(smem, values, V, rank, work, step);
      }
      if constexpr (Tiles::kPublished)
        if (step == last) tiles.look_ahead();
    }
  }
  if (issues) publish_end<Consumers>(smem, tiles, queries), publish_no_values(smem, values);
}

// The same of the tiles and steps that are found in `smem.found`. Each tile is published in `smem.work` with the slots
// of its queries, after the last of which follows none, and each step in `smem.published` with the slot of its keys; of
// a tile that has none, that there is none. Called by one thread.
template <int Consumers, class Smem>
__device__ inline void load_found_backwards(Smem& smem, const CUtensorMap& Q, const CUtensorMap& K,
                                            const CUtensorMap& V) {
  using Work = typename Smem::Work;
  Producer queries(smem.queries);
  Producer keys(smem.keys), values(smem.values);
  FoundTiles<Work, false> tiles(smem.found);
  const auto load_keys = [&] {
    const u32 slot = publish(smem.published, smem.keys, keys, tiles.seen, sizeof(smem.k[0]));
    if (tiles.seen < 0) return;
    tma::load(smem.k[slot], K, smem.keys.full[slot], tiles.work.key_at(tiles.step() * smem.k[0].kRows).at);
  };
#pragma unroll 1
  while (tiles.next()) {
    load_keys();
    load_queries<Consumers>(smem, Q, PublishedTile<Work>{tiles.work, smem.work}, queries, true);
#pragma unroll 1
    while (tiles.seen >= 0) {
      const int key = tiles.step() * smem.v[0].kRows;
      tiles.advance();
      if (tiles.seen >= 0) load_keys();
      const u32 slot = values.acquire(sizeof(smem.v[0]));
      tma::load(smem.v[slot], V, smem.values.full[slot], tiles.work.key_at(key).at);
    }
  }
  publish_end<Consumers>(smem, PublishedTile<Work>{Work::none(), smem.work}, queries), publish_no_values(smem, values);
}

// Stores the outputs that the consumers of load_attention_backwards leave in the slots of their queries, and releases
// the slots; `smem.made` has a barrier for each, completed when the output is in it. Rows among which a
// sequence ends are left to the consumers. Called by one thread.
template <int Consumers, class Smem, class Tiles>
__device__ inline void store_attention(Smem& smem, const CUtensorMap& O, Tiles tiles) {
  Ring<sizeof(smem.made) / sizeof(Barrier)> ring;
  for (; tiles.more(); tiles.next()) {
    const auto work = tiles.work();
#pragma unroll 1
    for (int i = 0; i < Consumers; ++i, ring.advance()) {
      smem.made[ring.slot].wait(ring.phase);
      if (!work.ends_within(i * 64, 64)) tma::store(O, smem.result(ring.slot), work.query_at(i * 64).at);
      tma::commit();
      tma::wait_read<0>();
      smem.queries.empty[ring.slot].arrive();
    }
  }
}
