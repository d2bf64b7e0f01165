#pragma once
// Rows of two matrices that the blocks of a persistent grid walk over, in shared memory: a ring of slots that bulk
// copies fill, so that the rows after the present ones are on their way without a register.
//
// What kernels that walk so share of their manifests, which `use` this, after the let VECTORS, how many sums of each
// column they collect, and COUNT, the elements of 16 bytes:
//! param   THREADS = 256   in {128, 256, 512}       "of a block"
//! param   LANES   = 32    in {4, 8, 16, 32, 128, 256, 512} "threads of a block that share a row: some of a warp, or the block"
//! param   PACKS   = 2     in {1, 2, 4}             "packs of a row that a thread has"
//! param   SLOTS   = 2     in {2, 3, 4, 6}          "of the ring, each of as many rows as the block works on at a time"
//! param   BLOCKS  = 2     in {1, 2, 3, 4}          "blocks of an SM: each walks over rows"
//!
//! let     ROWS    = THREADS / LANES                "rows of a block at a time"
//! let     HELD    = LANES * PACKS * COUNT          "elements of a row that its threads have"
//! let     GRID    = max(1, min(ceil_div(M, ROWS), device.sm_count * BLOCKS))
//! let     ADDERS  = ceil_div(VECTORS * HELD, 64)   "blocks that add up the sums of the others"
//! let     SMEM    = 128 + SLOTS * 2 * ROWS * N * sizeof(T)
//!
//! require LANES <= 32 || LANES == THREADS          "a row is a warp's or a block's"
//! require PACKS * COUNT <= 16                      "what a thread adds up must fit into registers"
//! require BLOCKS * THREADS <= 1024                 "the threads of an SM share its registers"
//! require N <= HELD && 2 * N > HELD                "a row must fit into its threads' registers, and fill half of them"
//! require SMEM + 1024 <= device.smem_per_block && (SMEM + 10240) * BLOCKS <= device.smem_per_sm "what the blocks of an SM keep must fit into its shared memory"
//! require N % COUNT == 0 && alignment(X) % 16 == 0 && stride(X, 0) % COUNT == 0 && alignment(DY) % 16 == 0 && stride(DY, 0) % COUNT == 0 && alignment(DX) % 16 == 0 && stride(DX, 0) % COUNT == 0 "rows begin at 16 bytes and are whole packs"
//! require VECTORS == 0 || alignment(W) % 16 == 0   "W is read in packs"
//!
//! workspace parts    VECTORS * GRID * HELD * 4
//! workspace counters (VECTORS > 0) * 16  zero
//!
//! launch  grid GRID + ADDERS  block THREADS  smem SMEM
#include "device/pipeline/pipeline.cuh"
#include "device/ptx/bulk.cuh"

// A slot has Rows rows of each matrix, without space between them. Called by all threads of a block unless stated.
template <class T, int Threads, int Rows, int Slots> class RowPairs {
 public:
  // `memory`, at a multiple of 128 bytes, has room for the pipeline, 128 bytes, and the slots. The block has rows
  // `first` on, then those `step` further, and so on.
  __device__ RowPairs(u8* memory, const View<const T, 2>& a, const View<const T, 2>& b, int rows, int columns,
                      int first, int step)
      : pipeline_(*reinterpret_cast<Pipeline<Slots>*>(memory)),
        slots_(reinterpret_cast<T*>(memory + 128)),
        a_(a),
        b_(b),
        rows_(rows),
        columns_(columns),
        next_(first),
        step_(step),
        producer_(pipeline_),
        consumer_(pipeline_) {
    static_assert(sizeof(Pipeline<Slots>) <= 128);
    if (threadIdx.x == 0) pipeline_.init(Threads / 32);
    __syncthreads();
#pragma unroll 1
    for (int i = 0; i < Slots; ++i) fill();
  }
  // Waits for the next rows. Row i of them is at a(i) and b(i) until release().
  __device__ void wait() {
    slot_ = consumer_.wait();
  }
  __device__ const T* a(int i) const {
    return slots_ + (slot_ * (2 * Rows) + i) * columns_;
  }
  __device__ const T* b(int i) const {
    return a(Rows + i);
  }
  // Called when the thread has read what it reads of these rows.
  __device__ void release() {
    pipeline_.release_warp(slot_);
    ++released_;
  }
  // Begins to copy the next rows if a slot has been released for them; waits until the block's other warps have
  // released it, too.
  __device__ void refill() {
    if (released_ == 0) return;
    --released_;
    fill();
  }

 private:
  __device__ void fill() {
    if (threadIdx.x >= 32 || next_ >= rows_) return;
    const int lane = threadIdx.x, count = min(Rows, rows_ - next_);
    const u32 slot = __shfl_sync(0xffffffff, lane == 0 ? producer_.acquire(count * columns_ * 2 * sizeof(T)) : 0, 0);
    T* const to = slots_ + slot * (2 * Rows) * columns_;
    copy(to, a_, slot, count, lane);
    copy(to + Rows * columns_, b_, slot, count, lane ^ 1);
    next_ = step_ < rows_ - next_ ? next_ + step_ : rows_;
  }
  // Lane 0 copies rows that have no space between them; all lanes others.
  __device__ void copy(T* to, const View<const T, 2>& from, u32 slot, int count, int lane) const {
    const T* const begin = from.data + next_ * from.stride[0];
    const bool dense = from.stride[0] == columns_;
    const int each = dense ? count : 1;
#pragma unroll 1
    for (int i = lane; i < (dense ? 1 : count); i += 32)
      bulk::load(to + i * columns_, begin + i * from.stride[0], each * columns_ * sizeof(T), pipeline_.full[slot]);
  }

  Pipeline<Slots>& pipeline_;
  T* const slots_;
  const View<const T, 2> a_, b_;
  const int rows_, columns_;
  int next_;
  const int step_;
  u32 slot_ = 0, released_ = 0;
  Producer<Slots, 1> producer_;
  Consumer<Slots, 1> consumer_;
};
