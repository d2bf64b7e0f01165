#pragma once
// The producer of matrix products whose operands are loaded by TMA.
#include "device/pipeline/pipeline.cuh"
#include "device/ptx/griddepcontrol.cuh"
#include "device/tile/tma_operand_tile.cuh"

// Requests each of `steps` steps along K of each of this block's output tiles: load_early(slot, tile, step) and
// load_late for the slot that acquire() returns. Called by one thread of each block. One operand's first tile
// is requested before the kernel waits for the one before it; more of them would arrive before the other's first tile
// and delay the first product. If `begun`, the first step has been requested, and the kernel has waited. Loop
// invariant: all earlier steps, in the order of tiles and then of K, have been requested, each in the slot that its
// acquire returned; those not yet released are at most as many as there are slots.
template <class Tiles, class Acquire, class LoadLate, class LoadEarly>
__device__ inline void load_steps(const Tiles& tiles, int steps, Acquire acquire, LoadLate load_late,
                                  LoadEarly load_early, bool begun = false) {
  bool waited = begun;
  int step = begun;
  for (const int index : tiles) {
    const auto tile = tiles[index];
#pragma unroll 1
    for (; step < steps; ++step) {
      const u32 slot = acquire();
      load_early(slot, tile, step);
      if (!waited) grid::wait();
      waited = true;
      load_late(slot, tile, step);
    }
    step = 0;
  }
}

// The copies of a block's producer: tiles of A into `operands.a` and of B into `operands.b`, in the slots of a
// pipeline. A cluster's blocks share the tiles of A of those side by side, which are Beside, and of B of those below
// each other: each loads a part into all that share it. The boxes of the maps have BoxA rows of A, of which there are
// `rows`, and BoxB of B, of which there are `columns`. B is requested early, or A. A tile has a row and a column.
template <int BoxA, int BoxB, int Beside, bool EarlyA, class Operands, int Stages, int Blocks, class MapB = CUtensorMap>
class OperandLoads {
  static constexpr int kBelow = Blocks / Beside;
  static constexpr u32 kBytes = sizeof(Operands::a[0]) + sizeof(Operands::b[0]);

  Pipeline<Stages, Blocks>& pipeline_;
  Operands& operands_;
  const CUtensorMap& a_;
  const MapB& b_;
  int rows_, columns_, below_, beside_;

  // Each requests a part for all blocks that share the tile, or the whole for this block Alone.
  template <bool Alone, class Tile> __device__ void load_a(u32 slot, const Tile& tile, int step) const {
    auto& a = operands_.a[slot];
    const int at = tile.row * a.kExtent, k = step * a.kDepth;
    if constexpr (Alone)
      tma::load_operand<BoxA>(a, a_, pipeline_.full[slot], at, k, rows_);
    else
      tma::load_operand<BoxA, Beside, kBelow>(a, a_, pipeline_.full[slot], at, k, rows_, beside_, below_);
  }
  template <bool Alone, class Tile> __device__ void load_b(u32 slot, const Tile& tile, int step) const {
    auto& b = operands_.b[slot];
    const int at = tile.column * b.kExtent, k = step * b.kDepth;
    using tma::load_operand;  // or that of MapB
    if constexpr (Alone)
      load_operand<BoxB>(b, b_, pipeline_.full[slot], at, k, columns_);
    else
      load_operand<BoxB, kBelow>(b, b_, pipeline_.full[slot], at, k, columns_, below_, beside_ * kBelow);
  }
  template <bool Alone = false, class Tile> __device__ void load_early(u32 slot, const Tile& tile, int step) const {
    EarlyA ? load_a<Alone>(slot, tile, step) : load_b<Alone>(slot, tile, step);
  }
  template <bool Alone = false, class Tile> __device__ void load_late(u32 slot, const Tile& tile, int step) const {
    EarlyA ? load_b<Alone>(slot, tile, step) : load_a<Alone>(slot, tile, step);
  }

 public:
  __device__ OperandLoads(Pipeline<Stages, Blocks>& pipeline, Operands& operands, const CUtensorMap& a, int rows,
                          const MapB& b, int columns)
      : pipeline_(pipeline), operands_(operands), a_(a), b_(b), rows_(rows), columns_(columns) {
    const int rank = Blocks == 1 ? 0 : cluster::rank();
    below_ = rank % kBelow;
    beside_ = rank / kBelow;
  }

  // Requests a block's first step into slot 0 when nothing but its barrier `full` has been initialised: what the blocks
  // of a cluster share later each loads for itself here, because they learn of each other's barriers 0.5 us later.
  template <class Tile> __device__ void begin(const Tile& tile, int step) const {
    pipeline_.full[0].expect(kBytes);
    load_early<true>(0, tile, step);
    grid::wait();
    load_late<true>(0, tile, step);
  }
  // Requests the steps of all tiles, but for the first if it has `begun`.
  template <class Tiles> __device__ void load(const Tiles& tiles, int steps, bool begun) const {
    using Tile = decltype(tiles[0]);
    Producer producer(pipeline_, begun);
    load_steps(
        tiles, steps, [&] { return producer.acquire(kBytes); },
        [&](u32 slot, const Tile& tile, int step) { load_late(slot, tile, step); },
        [&](u32 slot, const Tile& tile, int step) { load_early(slot, tile, step); }, begun);
    if constexpr (Blocks > 1) producer.drain();
  }
  // Requests the steps of one tile from the one after `first`, with which it has begun, to before `end`, each `apart`
  // from the one before.
  template <class Tile> __device__ void load_others(const Tile& tile, int first, int end, int apart) const {
    Producer producer(pipeline_, first < end);
#pragma unroll 1
    for (int step = first + apart; step < end; step += apart) {
      const u32 slot = producer.acquire(kBytes);
      load_early(slot, tile, step);
      load_late(slot, tile, step);
    }
    if constexpr (Blocks > 1) producer.drain();
  }
};

// The same for a block without a cluster, all steps of all its tiles.
template <int BoxA, int BoxB, int Stages, class Smem, class MapB, class Tiles>
__device__ inline void load_operands(Pipeline<Stages>& pipeline, Smem& smem, const CUtensorMap& A, int rows,
                                     const MapB& B, int columns, const Tiles& tiles, int steps) {
  const OperandLoads<BoxA, BoxB, 1, false, Smem, Stages, 1, MapB> loads(pipeline, smem, A, rows, B, columns);
  loads.load(tiles, steps, false);
}

// The same for blocks that multiply by tcgen05, alone or in pairs: each loads its rows of A and its share of those of
// B. A slot of the pipeline `operands` is free once the products that read it are complete in both blocks of a pair.
// The even block's barrier counts the bytes of both.
template <int Blocks, class Smem, class MapB, class Tiles>
__device__ inline void load_shares(Smem& smem, const CUtensorMap& A, const MapB& B, const Tiles& tiles, int steps) {
  using Tile = decltype(tiles[0]);
  Producer producer(smem.operands);
  load_steps(
      tiles, steps,
      [&] {
        const u32 slot = producer.acquire();
        if (tiles.rank() == 0) smem.operands.full[slot].expect(Blocks * (sizeof(smem.a[0]) + sizeof(smem.b[0])));
        return slot;
      },
      [&](u32 slot, const Tile& tile, int step) {
        auto& a = smem.a[slot];
        const int k = step * a.kDepth, row = tile.row * a.kExtent;
        tma::load_of_pair<Blocks>(a, A, smem.operands.full[slot], {a.column(row, k), a.row(row, k)});
      },
      [&](u32 slot, const Tile& tile, int step) {
        using tma::load_share;  // or that of MapB
        auto& b = smem.b[slot];
        load_share<Blocks>(b, B, smem.operands.full[slot], tile.column, step * b.kDepth, tiles.rank());
      });
}

// The same for a batch of products. A has `count_a` matrices and B `count_b`: one for each product, or one for all.
template <int Stages, class Smem, class Tiles>
__device__ inline void load_batch_operands(Pipeline<Stages>& pipeline, Smem& smem, const CUtensorMap& A, int count_a,
                                           const CUtensorMap& B, int count_b, const Tiles& tiles, int steps) {
  Producer producer(pipeline);
  for (const int index : tiles) {
    const auto tile = tiles[index];
    const int of_a = min(tile.matrix, count_a - 1), of_b = min(tile.matrix, count_b - 1);
    const int row = tile.row * smem.a[0].kExtent, column = tile.column * smem.b[0].kExtent;
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
      const int k = step * smem.a[0].kDepth;
      const u32 slot = producer.acquire(sizeof(smem.a[0]) + sizeof(smem.b[0]));
      auto& a = smem.a[slot];
      auto& b = smem.b[slot];
      tma::load(a, A, pipeline.full[slot], {a.column(row, k), a.row(row, k), of_a});
      tma::load(b, B, pipeline.full[slot], {b.column(column, k), b.row(column, k), of_b});
    }
  }
}
