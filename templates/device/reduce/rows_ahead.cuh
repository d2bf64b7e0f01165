#pragma once
// Rows of two matrices that a block works on next, on their way to shared memory.
#include "device/reduce/register_row.cuh"

// Stages rows of each, of which all but one are being copied while a block works on one. Rows are whole packs; `step`
// is how many a block goes on each time. `copies` has room for 2 * Stages times what the block's threads hold.
template <int Stages, class Row, class T> class RowsAhead {
  using Pack = Words<T, Row::kCount>;
  static constexpr int kPlaces = Row::kPacks * Row::kThreads;

  const View<const T, 2>&a_, &b_;
  int step_, rows_, columns_;
  Pack* own_;  // the thread's places
  Row next_;   // whose copy begins next
  int begun_ = 0, taken_ = 0;

  __device__ Pack* place(int stage, int matrix) const { return own_ + (2 * stage + matrix) * kPlaces; }
  __device__ void begin_copy() {
    next_.begin_copy(a_.data + next_.row * a_.stride[0], place(begun_, 0));
    next_.begin_copy(b_.data + next_.row * b_.stride[0], place(begun_, 1));
    next_.advance(step_, rows_, columns_);
    begun_ = begun_ + 1 == Stages ? 0 : begun_ + 1;
  }

 public:
  __device__ RowsAhead(const Row& first, const View<const T, 2>& a, const View<const T, 2>& b, int step, int rows,
                       int columns, void* copies)
      : a_(a),
        b_(b),
        step_(step),
        rows_(rows),
        columns_(columns),
        own_(static_cast<Pack*>(copies) + threadIdx.x),
        next_(first) {
#pragma unroll
    for (int i = 1; i < Stages; ++i) begin_copy();
  }
  // Gives what a thread holds of the next row, which is `row`.
  __device__ void take(const Row& row, typename Row::template Raw<T>& a, typename Row::template Raw<T>& b) {
    begin_copy();
    cp_async::wait<2 * (Stages - 1)>();
    a = row.copied(a_.data + row.row * a_.stride[0], place(taken_, 0));
    b = row.copied(b_.data + row.row * b_.stride[0], place(taken_, 1));
    taken_ = taken_ + 1 == Stages ? 0 : taken_ + 1;
  }
};
// None: rows are loaded when they are needed.
template <class Row, class T> class RowsAhead<0, Row, T> {
 public:
  __device__ RowsAhead(const Row&, const View<const T, 2>&, const View<const T, 2>&, int, int, int, void*) {}
  __device__ void take(const Row&, typename Row::template Raw<T>&, typename Row::template Raw<T>&) {}
};
