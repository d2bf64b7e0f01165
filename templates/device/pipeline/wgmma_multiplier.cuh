#pragma once
// The consumer of a matrix product by wgmma whose operands are loaded by TMA.
#include "device/pipeline/pipeline.cuh"
#include "device/pipeline/turns.cuh"
#include "device/ptx/setmaxnreg.cuh"
#include "device/ptx/uniform.cuh"
#include "device/tile/wgmma_operand_tile.cuh"

// The products of one consumer warpgroup: Slices blocks of 64 rows, from block `first` of each of its tiles on. Smem
// has operand tiles `a` and `b` of each slot of its `pipeline`. With Lag a slot is released one step late, so that the
// tensor cores go on; without it at once, where other consumers keep them busy and the ring is short.
template <class Smem, class Accumulators, int Slices, bool Lag, int Stages, int Blocks> class WgmmaMultiplier {
 public:
  __device__ WgmmaMultiplier(Smem& smem, int first) : smem_(smem), consumer_(smem.pipeline), first_(first) {}

  // Multiplies one tile. The first product of a tile overwrites acc; without steps (K = 0) acc keeps its initial zeros.
  // Calls read(0) to read(Reads - 1) meanwhile, up to four steps apart, the last when all but Left steps have been
  // started; and late() when all have been.
  template <int Reads, int Left, class Read, class Late>
  __device__ void accumulate(int steps, Accumulators (&acc)[Slices], Read read, Late late) {
    u32 before = 0;
    int step = 0;
    const int apart = Reads > 0 ? max(0, min(4, (steps - Left) / (Reads + !Reads))) : 0;
#pragma unroll 1
    for (int n = 0; n < Reads; ++n) {
      const int end = max(0, steps - Left - (Reads - 1 - n) * apart);
      accumulate_steps(step, end, acc, before);
      read(n);
      step = end;
    }
    accumulate_steps(step, steps, acc, before);
    late();
    wgmma::wait<0>();
    if (Lag && steps > 0) smem_.pipeline.release_warpgroup(before);
  }

  // Multiplies one tile of 8-bit types, whose sums wgmma keeps to 14 bits: each step has its own sums, which are added
  // in f32, Part columns at a time. Of two Sets of them one is added while the tensor cores compute the other; a single
  // one leaves the tensor cores to the other consumers meanwhile. Waits and products follow each other without
  // branches, because otherwise ptxas serialises the products.
  template <int Part, int Sets> __device__ void accumulate_promoted(int steps, Accumulators& acc) {
    acc.fill(0);
    if (steps == 0) return;
    if constexpr (Part < Accumulators::Layout::kColumns)
      accumulate_parts<Part>(steps, acc);
    else if constexpr (Sets == 1)
      accumulate_alone(steps, acc);
    else
      accumulate_in_turn(steps, acc);
  }

  // Skips a tile that the other consumer processes.
  __device__ void skip(int steps) {
    consumer_.skip(steps);
  }

 private:
  // Loop invariant: the products of all steps before `step` have been started, only with Lag the last may be
  // incomplete, and the slots of all others are released; its own is `before`.
  __device__ void accumulate_steps(int step, int end, Accumulators (&acc)[Slices], u32& before) {
#pragma unroll 1  // more unrolling gains no speed and triples ptxas's time
    for (; step < end; ++step) {
      const u32 slot = start(acc, step > 0);
      wgmma::wait<Lag ? Slices : 0>();
      if (!Lag)
        smem_.pipeline.release_warpgroup(slot);
      else if (step > 0)
        smem_.pipeline.release_warpgroup(before);
      before = slot;
    }
  }

  // One set of sums.
  __device__ void accumulate_alone(int steps, Accumulators& acc) {
    Accumulators sums[1];
#pragma unroll 1
    for (int step = 0; step < steps; ++step) finish<0>(start(sums, false), sums[0], acc);
  }

  // Two sets, of even and of odd steps.
  __device__ void accumulate_in_turn(int steps, Accumulators& acc) {
    Accumulators even[1], odd[1];
    u32 even_slot = start(even, false), odd_slot;
    int left = steps;
#pragma unroll 1
    for (; left > 2; left -= 2) {
      odd_slot = start(odd, false);
      finish<1>(even_slot, even[0], acc);
      even_slot = start(even, false);
      finish<1>(odd_slot, odd[0], acc);
    }
    if (left == 2) {
      odd_slot = start(odd, false);
      finish<1>(even_slot, even[0], acc);
      finish<0>(odd_slot, odd[0], acc);
    } else {
      finish<0>(even_slot, even[0], acc);
    }
  }

  // Two sets, of even and of odd parts of Part columns. Loop invariant: part 0 of the slot has been started, and all
  // before it are added.
  template <int Part> __device__ void accumulate_parts(int steps, Accumulators& acc) {
    constexpr int kParts = Accumulators::Layout::kColumns / Part;
    static_assert(kParts % 2 == 0);
    RegisterTile<layout::Mma<16, Part>> sums[2];
    u32 slot = consumer_.wait();
    start(sums[0], slot, 0);
    const auto go_on = [&] {
#pragma unroll
      for (int p = 1; p < kParts; ++p) {
        start(sums[p % 2], slot, p * Part);
        wgmma::wait<1>();
        acc.add_columns((p - 1) * Part, sums[(p - 1) % 2]);
      }
    };
    int left = steps;
#pragma unroll 1
    for (; left > 1; --left) {
      go_on();
      const u32 next = consumer_.wait();
      start(sums[0], next, 0);
      finish<1>(slot);
      acc.add_columns((kParts - 1) * Part, sums[1]);
      slot = next;
    }
    if (left == 1) {  // always; without this ptxas 13.0 serialises the products of the loop
      go_on();
      finish<0>(slot);
      acc.add_columns((kParts - 1) * Part, sums[1]);
    } else {
      wgmma::wait<0>();
    }
  }

  template <int Count> __device__ u32 start(Accumulators (&acc)[Count], bool onto) {
    const u32 slot = consumer_.wait();
#pragma unroll
    for (int i = 0; i < Count; ++i) wgmma::multiply(acc[i], smem_.a[slot], (first_ + i) * 64, smem_.b[slot], onto);
    return slot;
  }
  // The same for the columns from `column` on, of a slot that has been waited for.
  template <class Sums> __device__ void start(Sums& sums, u32 slot, int column) {
    wgmma::multiply(sums, smem_.a[slot], first_ * 64, smem_.b[slot], column, false);
  }
  template <int Pending> __device__ void finish(u32 slot) {
    wgmma::wait<Pending>();
    smem_.pipeline.release_warpgroup(slot);
  }
  template <int Pending> __device__ void finish(u32 slot, const Accumulators& part, Accumulators& acc) {
    finish<Pending>(slot);
    acc.add(part);
  }

  Smem& smem_;
  Consumer<Stages, Blocks> consumer_;
  int first_;
};

// Multiplies a consumer warpgroup's blocks of 64 rows, Slices of each tile, and for each calls store = begin(tile,
// block), read(store, n) for each n below Store::kAhead, and finish(store, sums): of the first block it reads while its
// products are computed, the last some 3000 cycles before their end. Called by each consumer warpgroup. With Pingpong
// two consumers make whole tiles alternately, by the `turns` of Smem; else each of Consumers has its rows of every
// tile. Part and Sets are those of accumulate_promoted, or Part is 0. Loop invariant: before a tile, this consumer has
// waited for or skipped every slot of all earlier tiles, and has released those that it waited for.
template <class Accumulators, int Consumers, int Slices, bool Pingpong, int Part, int Sets, class Store, int Stages,
          int Blocks, class Smem, class Tiles, class Begin, class Read, class Finish>
__device__ inline void multiply_tiles(Pipeline<Stages, Blocks>&, Smem& smem, const Tiles& tiles, int steps, Begin begin,
                                      Read read, Finish finish) {
  const int group = uniform(threadIdx.x / kWarpgroup), first = Pingpong ? 0 : group * Slices;
  constexpr int kStep = Slices * Accumulators::Layout::kColumns * (Pingpong ? 2 : 4);  // cycles of the tensor cores
  constexpr int kLeft = ceil_div(3000, kStep), kReads = Part > 0 ? 0 : Store::kAhead;
  constexpr bool kLag = Consumers < 3;  // three wait for fewer loads so: 0.5 to 1 % on an H200
  WgmmaMultiplier<Smem, Accumulators, Slices, kLag, Stages, Blocks> multiplier(smem, first);
  Turn turn(smem.turns, group);
  bool others = Pingpong && group == 1;  // whether the next tile is the other consumer's
  Accumulators acc[Slices] = {};
  for (const int index : tiles) {
    if (others) {
      multiplier.skip(steps);
      others = false;
      continue;
    }
    others = Pingpong;
    Store store;
    if constexpr (kReads > 0) store = begin(tiles[index], first);
    if constexpr (Part > 0) {
      multiplier.template accumulate_promoted<Part, Sets>(steps, acc[0]);
    } else {
      if (Pingpong && steps > 0) turn.begin();
      multiplier.template accumulate<kReads, kLeft>(
          steps, acc, [&](int n) { read(store, n); },
          [&] {
            if constexpr (kReads == 0) store = begin(tiles[index], first);
            if (Pingpong && steps > 0) turn.end();
          });
    }
#pragma unroll
    for (int i = 0; i < Slices; ++i) {
      if (i > 0 || Part > 0) {
        store = begin(tiles[index], first + i);
#pragma unroll
        for (int n = 0; n < Store::kAhead; ++n) read(store, n);
      }
      finish(store, acc[i]);
    }
  }
}
