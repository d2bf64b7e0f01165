#pragma once
// What the blocks of attention's backward pass by wgmma share: a producer warp, two consumer warpgroups, and between
// them warps that tell when tiles have been added to the sums of the gradients of queries, and that round those of
// heads whose tiles are complete. T, HD, WIDE, TILE, BOX, SIZE, VALUE_SIZE, STEP, STAGES, RESULTS and ATOMIC are the
// template's.
#include "device/pipeline/item_reader.cuh"
#include "device/pipeline/staged_shares.cuh"
#include "device/pipeline/tma_attention_backward.cuh"
#include "device/ptx/acquire.cuh"
#include "device/ptx/elect.cuh"
#include "device/ptx/lane.cuh"
#include "device/ptx/named_barrier.cuh"
#include "device/ptx/setmaxnreg.cuh"
#include "device/ptx/uniform.cuh"
#include "device/tile/rounded_sums.cuh"
#include "device/tile/shared_memory.cuh"
#include "device/tile/shared_tile.cuh"

#ifndef TMA_JIT_REFERENCE

constexpr bool kOrdered = ATOMIC == 0;
// In a fixed order consumers leave what they give in shared memory, from where one thread adds it. Of heads of 64 they
// add it from registers when their turn has come, which leaves room for a third stage and is faster; of heads of 128 it
// is slower.
constexpr bool kStaged = kOrdered && SIZE == 128;
// Threads that see to it that sums are added: one for what is in shared memory, else for each consumer one, or where
// consumers take turns one that gives the turns and one that tells other blocks what has been added, so that neither
// waits while the other does.
constexpr bool kTurns = kOrdered && !kStaged;
constexpr int kAdderThreads = kTurns ? 4 : kStaged ? 1 : 2;
// Of the three warps beside the producer, those with these threads; the others round pieces of sums.
constexpr int kAdders = kTurns ? 2 : 1, kRounders = 32 * (3 - kAdders);

// Tiles of 96 keys leave the consumers the registers that they need, and the other warps the rest.
constexpr int kConsumerRegisters = TILE == 96 ? 232 : 224, kOtherRegisters = TILE == 96 ? 40 : 56;

// What is between the consumers and these warps. Sums that are being rounded are there, too, if they have Room.
constexpr bool kRoom = !kStaged && (!WIDE || TILE == 96);
template <bool Staged, bool Room> struct SumsBetween {
  StagedShares staged;

  __device__ void init() { staged.init(); }
};
template <> struct SumsBetween<false, false> {
  Barrier turn[2][2];   // of each consumer and even and odd steps: it may add what the step gives, in a fixed order
  Barrier given[2][2];  // likewise: it has added that, or where any order will do, all that a tile gives
  Barrier told[2][2];   // likewise: other blocks know of it

  __device__ void init() {
    for (auto& of : turn) of[0].init(1), of[1].init(1);
    for (auto& of : given) of[0].init(4), of[1].init(4);
    for (auto& of : told) of[0].init(1), of[1].init(1);
  }
};
template <> struct SumsBetween<false, true> : SumsBetween<false, false> { SharedSums<kRounders> rounded; };

template <class Items> struct BackwardSmem {
  using Work = typename Items::Work;

  SharedTile<T, BOX, SIZE> keys[TILE / BOX];  // of each consumer, or of both
  SharedTile<T, BOX, VALUE_SIZE> values[TILE / BOX];
  SharedTile<T, STEP, SIZE> queries[STAGES];
  SharedTile<T, STEP, VALUE_SIZE> result_gradients[RESULTS];
  SharedTile<T, BOX, STEP> gradients[WIDE ? 2 : 3][2];  // of the scores of steps: of each consumer, or after weights
  SumsBetween<kStaged, kRoom> between;
  alignas(8) f32 log_sum[STAGES][STEP], minus_delta[RESULTS][STEP];
  StepRecord records[kStepRecords];
  Items all;  // that the grid draws
  DrawnItem<Work> drawn[2];
  u32 count;                  // of the items drawn, of which those with tiles come first
  Pipeline<STAGES> steps;     // queries, log_sum and records
  Pipeline<RESULTS> results;  // gradients of results and minus_delta
  Pipeline<1> own;            // keys and values
  Pipeline<2> items;          // of `drawn`
  Barrier published[2][2];    // of each consumer and even and odd steps: it has published the step
  Barrier passed[2][2];       // likewise: it has multiplied what the consumers of wide heads have published

  // Called by one thread, followed by a barrier of the block. Each warp but the producer reads every item.
  template <class... Offsets> __device__ void init(const Dims& dims, const Offsets&... offsets) {
    all = Items(dims, offsets...);
    count = 0;
    steps.init(2, 2);
    results.init(2, 2);
    own.init(2);
    items.init(11);
    for (auto& of : published) of[0].init(1), of[1].init(1);
    for (auto& of : passed) of[0].init(4), of[1].init(4);
    between.init();
    fence_barrier_init();
  }
};

// Sees to it that what a consumer gives, or both leave in shared memory, is added, tile by tile: in the order of the
// tiles of keys where it is fixed. What a step gives comes during the second step after it.
template <class Smem> class SumsAdder {
 public:
  __device__ SumsAdder(Smem& smem, const QuerySums& sums, int thread)
      : smem_(smem), sums_(sums), consumer_(thread % 2), tells_(!kTurns || thread / 2 == 1) {}

  // Returns when all that the next tile gives has been added, or has its turn.
  __device__ void add_tile(int kv_head) {
    if constexpr (kStaged)
      while (!add_share()) {
      }
    else if constexpr (kTurns)
      while (!(tells_ ? tell() : give_turn())) {
      }
    else
      smem_.between.given[consumer_][0].wait(count_++ % 2);
    if (tells_) global::add_release(sums_.added(kv_head), kStaged ? 2 : 1);
  }

 private:
  // Each does so for the next step and returns whether it is the tile's last.
  __device__ bool add_share() {
    StagedShares& shares = smem_.between.staged;
    shares.full.wait(count_ % 2);
    const StepRecord record = smem_.records[count_++ % kStepRecords];
    if (record.none())
      shares.empty.arrive();
    else
      shares.add(sums_.of(record.number, 0), sums_.rank(record.number, 0), record.rank);
    return record.last();
  }
  // The consumer may add once the tiles before have, and what it gave two steps before has been told.
  __device__ bool give_turn() {
    const u32 step = count_++;
    smem_.published[consumer_][step % 2].wait(step / 2 % 2);
    const StepRecord record = smem_.records[step % kStepRecords];
    if (!record.none()) global::await(sums_.rank(record.number, consumer_), record.rank);
    smem_.between.told[consumer_][step % 2].wait(step / 2 % 2 ^ 1);
    smem_.between.turn[consumer_][step % 2].arrive();
    return record.last();
  }
  __device__ bool tell() {
    const u32 step = count_++;
    smem_.between.given[consumer_][step % 2].wait(step / 2 % 2);
    const StepRecord record = smem_.records[step % kStepRecords];
    if (!record.none()) global::store_release(sums_.rank(record.number, consumer_), record.rank + 1);
    smem_.between.told[consumer_][step % 2].arrive();
    return record.last();
  }

  Smem& smem_;
  const QuerySums& sums_;
  const int consumer_;
  const bool tells_;
  u32 count_ = 0;  // of steps, or in any order of tiles
};

// Adds all tiles, and tells that each has been added. Called by one of kAdders warps.
template <class Smem> __device__ inline void add_tiles(Smem& smem, const QuerySums& sums, int warp) {
  constexpr int kOfWarp = kAdderThreads / kAdders;
  const int lane = threadIdx.x % 32;
  SumsAdder<Smem> adder(smem, sums, warp * kOfWarp + lane);
  for (ItemReader<Smem> items(smem); items.more(); items.next()) {
    if (!items.has(kTile)) continue;
    if (kOfWarp == 1 ? elect() : lane < kOfWarp) adder.add_tile(items->tile.kv_head);
    __syncwarp();
  }
}

// Rounds the pieces of sums that come with a tile, beside the consumers. Called by kRounders threads.
template <class Smem, class Round> __device__ inline void round_pieces(Smem& smem, const Round& round, int thread) {
  for (ItemReader<Smem> items(smem); items.more(); items.next()) {
    if constexpr (!Smem::Work::kLatePieces) {
      if (!items.has(kTile) || !items.has(kPiece)) continue;
      const int anew = kRounders == 32 ? lane_anew() : thread / 32 * 32 + lane_anew();
      if constexpr (kRoom)
        round(items->piece, SharedSumsReader<kRounders>(smem.between.rounded, anew), anew, 4);
      else
        round(items->piece, RegisterSumsReader<kRounders>(), anew, 4);
    }
  }
}

// A consumer warpgroup's part of the body.
template <class Consumer, class Smem, class Round, class E>
__device__ inline void consume(Smem& smem, const Round& round, const View<E, 3>& DK, const View<E, 3>& DV,
                               const QuerySums& sums, f32 scale, const Hooks& hooks) {
  Consumer consumer(smem, hooks, scale, sums);
  ItemReader<Smem> items(smem);
  for (; items.has(kTile); items.next()) {
    consumer.make(items->tile, items.index(), DK, DV);
    round.made(items->tile);
  }
  for (; items.more(); items.next()) {  // pieces without a tile, which come last
    using Sums = SharedSums<2 * kWarpgroup>;
    static_assert(sizeof(Sums) <= sizeof(smem.gradients));
    sync(5, 2 * kWarpgroup);  // after which no consumer reads gradients of scores
    const int anew = threadIdx.x / 32 * 32 + lane_anew();
    if constexpr (Smem::Work::kStepSums > 1)
      round(items->piece, SplitSumsReader<2 * kWarpgroup, Smem::Work::kStepSums>(), anew, 3);
    else
      round(items->piece, SharedSumsReader(reinterpret_cast<Sums&>(smem.gradients), anew), anew, 3);
  }
  __syncwarp();
}

// The kernel's body, once shared memory has been initialised. Consumer is a class of consumer warpgroups, of the first
// or of the second, round(piece, reader, thread, barrier) rounds the sums of a piece, and round.made(tile) is called by
// each of the consumers' warps when it has stored the tile's gradients of keys.
template <template <class, int> class Consumer, class Smem, class Round, class E, class Search>
__device__ inline void make_gradients(Smem& smem, const StepMaps& from, const Round& round, const View<E, 3>& DK,
                                      const View<E, 3>& DV, const QuerySums& sums, f32 scale, const Dims& dims,
                                      const Hooks& hooks, const Search& search) {
  const int thread = threadIdx.x - 2 * kWarpgroup, warp = thread / 32;
  if (thread >= 0) {
    give_registers<kOtherRegisters>();
    if (warp == 0) {
      GradientProducer<kOrdered, Smem, Search>(smem, from, search).load(dims, sums.counters);
    } else if (warp <= kAdders) {
      add_tiles(smem, sums, warp - 1);
    } else {
      round_pieces(smem, round, thread - kWarpgroup + kRounders);
    }
    __syncwarp();
  } else {
    take_registers<kConsumerRegisters>();
    if (!WIDE || threadIdx.x < kWarpgroup)
      consume<Consumer<Smem, 0>>(smem, round, DK, DV, sums, scale, hooks);
    else
      consume<Consumer<Smem, 1>>(smem, round, DK, DV, sums, scale, hooks);
  }
}

#endif
