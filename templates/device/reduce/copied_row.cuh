#pragma once
// Rows of which each block of a cluster keeps its part in shared memory. Bulk copies bring a part there, all of it at
// once and without a register; each pass over the row reads it from there.
//
// What kernels of such rows share of their manifests, which `use` this, after the lets LINES, how many rows there are,
// LENGTH, the elements of one, and COUNT, those of 16 bytes:
//! param   THREADS = 256   in {128, 256, 512}       "of a block"
//! param   CLUSTER = 1     in {1, 2, 4, 8}          "blocks that share a row"
//! param   PACKS   = 4     in {1, 2, 4, 8}          "packs of a row that a thread works on at a time"
//! param   SLOTS   = 1     in {1, 2, 3, 4}          "rows of which a block has its part in shared memory; 1: it has one row; more: it takes one after the other, while the next ones are on their way"
//! param   BLOCKS  = 4     in {1, 2, 3, 4, 6, 8}    "of an SM"
//!
//! let     PART    = ceil_div(LENGTH, THREADS * CLUSTER * COUNT) * THREADS * 16 "bytes of a block's part of a row"
//! let     SMEM    = 128 + SLOTS * PART
//!
//! require LENGTH * sizeof(T) > 32768               "shorter rows are kept in registers"
//! require CLUSTER <= device.cluster_max            "the device must have clusters of that size"
//! require SMEM + 1024 <= device.smem_per_block && (SMEM + 2048) * BLOCKS <= device.smem_per_sm "what the blocks of an SM keep must fit into its shared memory"
//! require BLOCKS * THREADS <= device.threads_per_sm && PACKS * COUNT * BLOCKS * THREADS <= 32768 "the threads of an SM share its registers"
//! require SLOTS == 1 || LINES > device.sm_count * BLOCKS / CLUSTER "a block that has one row needs one slot"
//!
//! cluster CLUSTER
//! launch  grid (SLOTS == 1 ? LINES : min(LINES, device.sm_count * BLOCKS / CLUSTER)) * CLUSTER  block THREADS  smem SMEM
//!
//! preset  CLUSTER = 1, BLOCKS = 4
//! preset  CLUSTER = 2, BLOCKS = 4
//! preset  CLUSTER = 4, BLOCKS = 4
//! preset  CLUSTER = 8, BLOCKS = 4
//! preset  CLUSTER = 8, BLOCKS = 3
//! preset  CLUSTER = 8, BLOCKS = 2
//! preset  CLUSTER = 8, BLOCKS = 1, THREADS = 512
//! preset  CLUSTER = 1, BLOCKS = 2
//! preset  CLUSTER = 1, BLOCKS = 1, THREADS = 512
#include "device/ptx/bulk.cuh"
#include "device/ptx/fence.cuh"
#include "device/reduce/register_row.cuh"

// A row is one of RegisterRow's, in parts of what its threads hold at a time. With one slot a cluster has one row; with
// more it takes one row after the other, and the rows of the other slots are on their way meanwhile.
template <class T, int Threads, int Cluster, int Packs, int Slots>
struct CopiedRow : RegisterRow<Threads, Threads, Cluster, 16 / sizeof(T), Packs, true> {
  using Row = RegisterRow<Threads, Threads, Cluster, 16 / sizeof(T), Packs, true>;
  using Pack = Words<T, Row::kCount>;
  static constexpr int kBarriers = 128;  // bytes of the barriers in front of the packs

  // `memory`, at a multiple of 128 bytes, is kBarriers bytes and, for each slot and pack of a thread of a row, 16 a
  // thread. begin_of(m) is the address of row m. Called by all threads of the grid.
  template <class Begin>
  __device__ CopiedRow(u8* memory, int rows, int columns, Begin begin_of)
      : Row(rows, columns),
        full_(reinterpret_cast<Barrier*>(memory)),
        packs_(reinterpret_cast<Pack*>(memory + kBarriers)),
        first_(Row::column),
        rows_(rows),
        columns_(columns) {
    if (threadIdx.x == 0) {
#pragma unroll
      for (int slot = 0; slot < Slots; ++slot) full_[slot].init(1);
      fence_barrier_init();
#pragma unroll 1
      for (int slot = 0; slot < Slots; ++slot) begin_copy(Row::row + slot * step(), slot, begin_of);
    }
    Row::wait_for_cluster();
    __syncthreads();
    if (any()) full_[0].wait(0);
  }
  // Whether there is a row to process.
  __device__ bool any() const {
    return Row::row < rows_;
  }

  // Goes on to the cluster's next row. Called by all threads of the block, each of which has read the present one. The
  // caller changes the parity of the reductions that it has used.
  template <class Begin> __device__ void next(Begin begin_of) {
    if constexpr (Slots == 1) {
      Row::row = rows_;
      return;
    }
    fence::proxy_async_shared();
    __syncthreads();
    if (threadIdx.x == 0) begin_copy(Row::row + Slots * step(), slot_, begin_of);
    if (++slot_ == Slots) slot_ = 0, phase_ ^= 1;
    Row::advance(step(), rows_, columns_);
    if (any()) full_[slot_].wait(phase_);
  }

  // Sets x to f(element, column) of the part of the row from `column` on and, beyond its end, to `outside`.
  template <class F> __device__ void read(f32 outside, F f) {
    const Pack* const from = packs_ + slot_ * slot_packs() + (Row::column - first_) / Row::kStep * Threads;
    const auto in = Row::template copied<T>(nullptr, from + threadIdx.x);
    if (Row::whole(Packs - 1))
      Row::template set<true>(in, outside, f);
    else
      Row::template set<false>(in, outside, f);
  }

  // The cluster's blocks have begun.
  __device__ void wait_for_cluster() const {}

 private:
  __device__ static int step() {
    return gridDim.x / Cluster;
  }
  __device__ int slot_packs() const {
    return ceil_div(columns_, Row::kStep) * Threads;
  }

  // Begins to copy the block's part of row m. Called by thread 0.
  template <class Begin> __device__ void begin_copy(int m, int slot, Begin begin_of) const {
    if (m >= rows_) return;
    constexpr int kChunk = Threads * Row::kCount;  // neighbouring columns
    const T* const from = begin_of(m);
    Pack* to = packs_ + slot * slot_packs();
    int bytes = 0;
    for (int column = first_; column < columns_; column += Row::kStep)
      bytes += min(kChunk, columns_ - column) * int{sizeof(T)};
    full_[slot].expect(bytes);
#pragma unroll 1
    for (int column = first_; column < columns_; column += Row::kStep, to += Threads)
      bulk::load(to, from + column, min(kChunk, columns_ - column) * sizeof(T), full_[slot]);
  }

  Barrier* const full_;
  Pack* const packs_;
  const int first_, rows_, columns_;  // first_: the thread's first column
  int slot_ = 0, phase_ = 0;
};
