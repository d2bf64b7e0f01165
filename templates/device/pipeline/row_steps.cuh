#pragma once
// A warp's share of the steps of a product of few rows, several of which are in flight.
#include "device/ptx/griddepcontrol.cuh"
#include "device/tile/row_fragments.cuh"

// Sums every Parts-th of the first `steps` steps, from the part-th on. Called by a warp; Step is a RowStep. Rows of B
// are requested before the kernel waits for the one before it, as many as are in flight at a time. Loop invariant: the
// steps before `step` are summed, and the next Ahead of this part are in flight.
template <int Parts, int Ahead, class Step>
__device__ inline void sum_steps(const typename Step::Rows& rows, int steps, int part, typename Step::Sums& sums) {
  Step x[Ahead];
#pragma unroll
  for (int i = 0; i < Ahead; ++i)
    if (part + i * Parts < steps) x[i].load_b(rows, part + i * Parts);
  grid::wait();
#pragma unroll
  for (int i = 0; i < Ahead; ++i)
    if (part + i * Parts < steps) x[i].load_a(rows, part + i * Parts);
#pragma unroll 1
  for (int step = part; step < steps; step += Ahead * Parts) {
#pragma unroll
    for (int i = 0; i < Ahead; ++i) {
      const int at = step + i * Parts, next = at + Ahead * Parts;
      if (at >= steps) break;
      x[i].multiply(sums);
      if (next < steps) x[i].load(rows, next);
    }
  }
}

// The same by cp.async through a ring of slots in shared memory, which are the warp's own. It waits before it requests
// anything.
template <int Parts, int Ahead, class Slot, class Rows, class Sums>
__device__ inline void sum_steps(Slot (&slots)[Ahead], const Rows& rows, int steps, int part, Sums& sums) {
  using Step = typename Slot::Step;
  const auto start = [&](int slot, int step) {
    if (step < steps) Step::copy(slots[slot], rows, step);
    cp_async::commit();
  };
  grid::wait();
#pragma unroll 1
  for (int i = 0; i < Ahead; ++i) start(i, part + i * Parts);
  int slot = 0;
#pragma unroll 1
  for (int step = part; step < steps; step += Parts, slot = slot + 1 == Ahead ? 0 : slot + 1) {
    Step x;
    cp_async::wait<Ahead - 1>();
    x.read(slots[slot]);
    x.multiply(sums);
    start(slot, step + Ahead * Parts);
  }
}
