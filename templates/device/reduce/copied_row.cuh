#pragma once
// A row of which each block of a cluster keeps its part in shared memory. Bulk copies bring it there, all of it at once
// and without a register; each pass over the row reads it from there.
//
// What kernels of such rows share of their manifests, which `use` this, after the lets LINES, how many rows there are,
// LENGTH, the elements of one, VECTORS, how many vectors are read again with every row, and COUNT, elements of 16
// bytes:
//! param   THREADS = 256   in {128, 256, 512}       "of a block"
//! param   CLUSTER = 1     in {1, 2, 4, 8}          "blocks that share a row"
//! param   PACKS   = 2     in {1, 2, 4, 8}          "packs of a row that a thread works on at a time"
//! param   BLOCKS  = 1     in {1, 2, 3, 4, 6, 8}    "of an SM"
//!
//! let     PART    = ceil_div(LENGTH, THREADS * CLUSTER * COUNT) * THREADS * 16 "bytes of a block's part of a row"
//! let     SMEM    = 128 + PART
//!
//! require CLUSTER <= min(device.cluster_max, device.sm_count * BLOCKS) "the device must have clusters of that size, and room for one"
//! require SMEM + 1024 <= device.smem_per_block && (SMEM + 2048) * BLOCKS <= device.smem_per_sm "what the blocks of an SM keep must fit into its shared memory"
//! require BLOCKS * THREADS <= device.threads_per_sm && PACKS * COUNT * BLOCKS * THREADS <= 32768 "the threads of an SM share its registers"
//!
//! cluster CLUSTER
//! launch  grid LINES * CLUSTER  block THREADS  smem SMEM
//!
//! preset  CLUSTER = 2, BLOCKS = 6
//! preset  CLUSTER = 4, BLOCKS = 6
//! preset  CLUSTER = 8, BLOCKS = 6
//! preset  CLUSTER = 8, BLOCKS = 4, PACKS = 4
//! preset  CLUSTER = 8, BLOCKS = 3, PACKS = 1, THREADS = 512  when VECTORS >= 1
//! preset  CLUSTER = 8, BLOCKS = 3, PACKS = 4
//! preset  CLUSTER = 8, BLOCKS = 2, PACKS = 4
//! preset  CLUSTER = 8, BLOCKS = 1, PACKS = 4, THREADS = 512
//! preset  CLUSTER = 1, BLOCKS = 4
//! preset  CLUSTER = 1, BLOCKS = 2, PACKS = 4
//! preset  CLUSTER = 1, BLOCKS = 1, PACKS = 4, THREADS = 512
#include "device/ptx/bulk.cuh"
#include "device/reduce/register_row.cuh"

// A RegisterRow in parts of what its threads hold at a time.
template <class T, int Threads, int Cluster, int Packs>
struct CopiedRow : RegisterRow<Threads, Threads, Cluster, 16 / sizeof(T), Packs, true> {
  using Row = RegisterRow<Threads, Threads, Cluster, 16 / sizeof(T), Packs, true>;
  using Pack = Words<T, Row::kCount>;

  // `memory`, at a multiple of 128 bytes, is 128 bytes and 16 for each pack of a thread. begin_of(m) is the address of
  // row m. Called by all threads of the grid; waits for the cluster's other blocks, and for the row.
  template <class Begin>
  __device__ CopiedRow(u8* memory, int rows, int columns, Begin begin_of)
      : Row(rows, columns), packs_(reinterpret_cast<Pack*>(memory + 128)), first_(Row::column) {
    Barrier& full = *reinterpret_cast<Barrier*>(memory);
    if (threadIdx.x == 0) {
      full.init(1);
      fence_barrier_init();
      copy(begin_of(Row::row), columns, full);
    }
    Row::wait_for_cluster();
    __syncthreads();
    full.wait(0);
  }

  // Sets x to f(element, column) of the part of the row from `column` on and, beyond its end, to `outside`.
  template <class F> __device__ void read(f32 outside, F f) {
    const Pack* const from = packs_ + (Row::column - first_) / Row::kStep * Threads + threadIdx.x;
    const auto in = Row::template copied<T>(from);
    if (Row::whole(Packs - 1))
      Row::template set<true>(in, outside, f);
    else
      Row::template set<false>(in, outside, f);
  }

  // The cluster's blocks have begun.
  __device__ void wait_for_cluster() const {}

 private:
  // Begins to copy the block's part of the row. Called by thread 0.
  __device__ void copy(const T* from, int columns, Barrier& full) const {
    constexpr int kChunk = Threads * Row::kCount;  // neighbouring columns
    const auto bytes = [&](int column) { return min(kChunk, columns - column) * static_cast<int>(sizeof(T)); };
    int all = 0;
    for (int column = first_; column < columns; column += Row::kStep) all += bytes(column);
    full.expect(all);
    Pack* to = packs_;
#pragma unroll 1
    for (int column = first_; column < columns; column += Row::kStep, to += Threads)
      bulk::load(to, from + column, bytes(column), full);
  }

  Pack* const packs_;
  const int first_;  // the thread's first column
};
