//! kernel  schedules  "D[tile, step] = 1 where exactly one block made that step of that tile; D's last row is the number of visits and of steps that the last block sees made"
//! arch    sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a, sm_121a
//! dim     STEPS = 7
//! dim     BLOCKS = 5
//! param   KIND   = 0  in 0..4
//! param   ROWS   = 6  in {1, 6}                     "of tiles"
//! let     COLUMNS = 3
//! let     TILES  = ROWS * COLUMNS
//! tensor  D : s32[TILES + 1, STEPS]  out
//! workspace counters 12 zero                        "tickets, visits, blocks that are done"
//! launch  grid BLOCKS  block 64
//! work    flops 0  bytes 4 * TILES * STEPS
//! preset  KIND = 0             "schedule: persistent blocks, groups of tile rows"
//! preset  KIND = 1             "schedule: longest first"
//! preset  KIND = 2             "schedule: parts of each tile's steps (split-K)"
//! preset  KIND = 3             "schedule: equal parts of all steps (stream-K)"
//! preset  KIND = 3, ROWS = 1   "schedule: several blocks a tile (stream-K)"
//! preset  KIND = 4             "schedule: tickets"
//! reference schedules_reference  grid 1  block 64

#include "device/reduce/grid.cuh"
#include "device/schedule/dynamic.cuh"
#include "device/schedule/longest_first.cuh"
#include "device/schedule/persistent.cuh"
#include "device/schedule/split.cuh"

#ifndef TMA_JIT_REFERENCE

struct Visits {
  View<s32, 2> d;
  u32* counters;

  __device__ void visit(int tile, Range steps) const {
    if (threadIdx.x != 0) return;
    for (int step = steps.first; step < steps.end; ++step) d.data[tile * d.stride[0] + step * d.stride[1]] = 1;
    atomicAdd(&counters[1], steps.end - steps.first);
  }
  // The last block stores the sum of the visits and of what it sees of the others', and resets the counters to zero.
  __device__ void finish(int blocks, int steps) const {
    if (threadIdx.x != 0 || !last_arriver(&counters[2], blocks)) return;
    u32 sum = atomicExch(&counters[1], 0);
    for (int i = 0; i < TILES * steps; ++i) sum += d.data[i / steps * d.stride[0] + i % steps * d.stride[1]];
    for (int step = 0; step < steps; ++step) d.data[TILES * d.stride[0] + step * d.stride[1]] = sum;
    atomicExch(&counters[0], 0);
  }
};

extern "C" __global__ void schedules(View<s32, 2> D, u8* counters, const Dims dims) {
  __shared__ u32 ticket;
  const Visits visits = {D, reinterpret_cast<u32*>(counters)};
  const Range all = {0, dims.STEPS};
  if constexpr (KIND == 0) {
    const PersistentTiles<16, 8, 4> tiles(ROWS * 16, COLUMNS * 8 - 3);
    for (const int index : tiles) visits.visit(tiles[index].row * COLUMNS + tiles[index].column, all);
  } else if constexpr (KIND == 1) {
    const LongestFirst order = {ROWS, COLUMNS};
    for (int i = blockIdx.x; i < order.count(); i += dims.BLOCKS)
      visits.visit(order.row(i) * COLUMNS + order.column(i), all);
  } else if constexpr (KIND == 2) {
    for (int tile = 0; tile < TILES; ++tile) visits.visit(tile, split(dims.STEPS, dims.BLOCKS, blockIdx.x));
  } else if constexpr (KIND == 3) {
    for (StreamK work(TILES, dims.STEPS, dims.BLOCKS, blockIdx.x); work.more(); work.next())
      visits.visit(work.piece().tile, work.piece().steps);
  } else {
    TicketSchedule tickets(visits.counters, ticket);
    for (u32 tile = tickets.next(); tile < TILES; tile = tickets.next()) visits.visit(tile, all);
  }
  visits.finish(dims.BLOCKS, dims.STEPS);
}

#else

extern "C" __global__ void schedules_reference(View<f64, 2> D, const Dims dims) {
  for (int i = threadIdx.x; i < (TILES + 1) * dims.STEPS; i += blockDim.x)
    D.data[i / dims.STEPS * D.stride[0] + i % dims.STEPS * D.stride[1]] =
        i / dims.STEPS < TILES ? 1 : 2 * TILES * dims.STEPS;
}

#endif
