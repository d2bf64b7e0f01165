#pragma once
// Gradients of a norm whose rows threads keep in registers, as row_gradient.cuh names their parts; without Centered the
// mean is 0. The threads of a persistent grid walk over rows, of which each has the same columns of every row.
//
// What the files of such rows share of their manifests, which `use` this, after the let VECTORS, how many gradients of
// vectors there are:
//! param   THREADS = 256   in {64, 96, 128, 192, 256, 512} "of a block"
//! param   LANES   = 32    in {4, 8, 16, 32, 64, 96, 128, 192, 256, 512} "threads of a block that share a row: some of a warp, or the block"
//! param   PACKS   = 2     in {1, 2, 3, 4}          "reads of a thread of a row, which is kept in registers"
//! param   AHEAD   = 1     in {0, 1}                "1: a thread reads its next row before it works on one"
//! param   BLOCKS  = 2     in {1, 2, 3, 4, 6, 8}    "blocks of an SM: each walks over rows"
//! param   WHOLE   = 1     in {1, 2, 0}             "1: every row begins at 16 bytes and is whole packs; 2: a row of X begins at the same place in 16 bytes as that of DY"
//!
//! let     ROWS    = THREADS / LANES                "rows of a block at a time"
//! let     HELD    = LANES * PACKS * COUNT          "elements of a row that its threads hold"
//! let     EVERY   = WHOLE == 2 ? max(1, COUNT / ROWS) : 1 "a thread's rows begin at the same place in 16 bytes if the blocks are a multiple of this"
//! let     GRID    = max(EVERY, min(align_up(ceil_div(M, ROWS), EVERY), device.sm_count * BLOCKS / EVERY * EVERY))
//! let     ADDERS  = ceil_div(VECTORS * HELD, 64)   "blocks that add up the sums of the others"
//!
//! require LANES <= 32 || LANES == THREADS          "a row is a warp's or a block's"
//! require THREADS % LANES == 0 && (ROWS & (ROWS - 1)) == 0 "rows of a block are a power of two, so that some grids give a thread rows that begin alike"
//! require BLOCKS * THREADS <= 1024                 "the threads of an SM share its registers"
//! require PACKS != 3 || WHOLE > 0                  "three reads are for rows of which packs are aligned"
//! require N <= HELD - (WHOLE == 2 ? COUNT - 1 : 0) "a row must fit into its threads' registers"
//! require WHOLE != 1 || (N % COUNT == 0 && alignment(X) % 16 == 0 && stride(X, 0) % COUNT == 0 && alignment(DY) % 16 == 0 && stride(DY, 0) % COUNT == 0 && alignment(DX) % 16 == 0 && stride(DX, 0) % COUNT == 0) "rows begin at 16 bytes and are whole packs"
//! require WHOLE != 1 || VECTORS == 0 || alignment(W) % 16 == 0 "W is read in packs"
//! require WHOLE != 2 || (alignment(X) % 16 == 0 && alignment(DY) % 16 == 0 && stride(X, 0) >= 0 && stride(DY, 0) >= 0 && (stride(DY, 0) - stride(X, 0)) % COUNT == 0) "a row of X begins at the same place in 16 bytes as that of DY"
//!
//! workspace parts    VECTORS * GRID * HELD * 4
//! workspace counters (VECTORS > 0) * 12  zero
//!
//! launch  grid GRID + ADDERS  block THREADS
#include "device/reduce/column_sums.cuh"
#include "device/reduce/row_gradient.cuh"

template <class T, int Threads, int Lanes, int Packs, bool Ahead, int Blocks, int Whole, bool Centered, int Vectors>
class RegisterGradient {
 public:
  static constexpr int kCount = 16 / sizeof(T);
  static constexpr bool kUnits = Whole == 2;  // packs begin where addresses of a row are multiples of 16
  using Row = RegisterRow<Threads, Lanes, 1, kCount, Packs, Whole == 1>;
  using Columns = ColumnSums<Threads, Lanes, kCount, Packs, Vectors, kUnits>;

  struct Smem {
    Sums<2> partial[2][Threads / 32];
  };
  struct Matrices {
    const View<const T, 2>&X, &DY;
    const View<const T, 1>& W;
    int rows, columns;
  };

  // Called by all threads of the grid, which then call run() and, if there are Vectors, finish().
  __device__ RegisterGradient(const Matrices& of, Columns& columns, Smem& smem)
      : of_(of),
        columns_(columns),
        smem_(smem),
        share_(1 / static_cast<f32>(of.columns)),
        row_(row_of(of, columns)),
        cut_(kUnits ? row_.parts() : 0) {}

  // Stores DX, of which output(dx, row, column) gives the elements. It may be X or DY.
  template <class Output> __device__ void run(const View<T, 2>& DX, f32 eps, Output output) {
    ends_[0] = end_apart(of_.X, DX), ends_[1] = end_apart(of_.DY, DX);
    constexpr int kRows = Threads / Lanes;
    const int step = columns_.workers() * kRows;
    if constexpr (Ahead) read(row_, next_x_, next_dy_);
    if constexpr (Vectors > 0 && kKept) weight_ = row_.load_raw_anywhere(of_.W.data);
    for (int first = columns_.is_worker() ? blockIdx.x * kRows : of_.rows; first < of_.rows;) {
      if constexpr (Ahead) x_ = next_x_, dy_ = next_dy_;
      Row next = row_;
      next.advance(step, of_.rows, of_.columns);
      Ahead ? read(next, next_x_, next_dy_) : read(row_, x_, dy_);
      store(DX, RowGradient::of<Centered>(reduced(), share(), eps), output);
      row_.row = next.row, row_.left = next.left;
      if (step >= of_.rows - first) break;
      first += step;
    }
  }
  // Calls store(vector, column, sum) for each column of the other gradients once in the grid.
  template <class Store> __device__ void finish(Store store) {
    const int before = static_cast<int>(threadIdx.x) % Lanes * kCount - row_.column;
    columns_.finish(
        [&](int vector, int column, f32 sum) {
          if (column < of_.columns) store(vector, column, sum);
        },
        before);
  }

 private:
  using Raw = typename Row::template Raw<T>;
  using Pack = Words<T, kCount>;
  static constexpr bool kKept = kUnits || Blocks * Threads <= 256;  // a thread has registers for its part of W
  static constexpr bool kAgain = Packs * kCount > 16;               // and none for DY * W, which is computed again

  // Registers are too few for the numbers to which elements were converted before the row was reduced.
  static constexpr bool kFew = kAgain && (kUnits || !Centered);

  __device__ static Row row_of(const Matrices& of, const Columns& columns) {
    const int rows = columns.is_worker() ? of.rows : 0;
    if constexpr (kUnits) return Row(of.X, rows, of.columns);
    return Row(rows, of.columns);
  }
  // The share of an element in the mean of a row. With kFew it is computed for each row: the compiler does not keep
  // numbers across a division, which is a call for some operands.
  __device__ f32 share() const {
    if constexpr (!kFew) return share_;
    f32 columns = static_cast<f32>(of_.columns);
    asm volatile("" : "+f"(columns));
    return 1 / columns;
  }
  __device__ void read(const Row& row, Raw& x, Raw& dy) const {
    x = load(of_.X, row, ends_[0]);
    dy = load(of_.DY, row, ends_[1]);
  }
  __device__ static Raw load(const View<const T, 2>& from, const Row& row, const T* end) {
    const T* const begin = from.data + row.row * from.stride[0];
    if constexpr (!kUnits) return row.load_raw_anywhere(begin);
    return row.load_units(begin, end);
  }
  // The end of a matrix; null where DX may be in its memory.
  __device__ const T* end_apart(const View<const T, 2>& from, const View<T, 2>& DX) const {
    const T* const end = end_of(from);
    return from.data < end_of(DX) && DX.data < end ? nullptr : end;
  }
  template <class E> __device__ const E* end_of(const View<E, 2>& matrix) const {
    return matrix.data + (of_.rows - 1) * matrix.stride[0] + of_.columns;
  }
  __device__ Pack weight(int p) const {
    if constexpr (Vectors > 0 && !kKept) return row_.load_vector(of_.W, p);
    return weight_.pack[p];
  }
  // The weights of pack p for g(), where it needs them.
  __device__ Pack weight_again(int p) const {
    if constexpr (kAgain) return weight(p);
    return {};
  }
  __device__ f32 g(int p, int i, const Pack& weight) const {
    if constexpr (!kAgain) return row_.x[p * kCount + i];
    return weighted(p, i, weight);
  }
  __device__ f32 weighted(int p, int i, const Pack& weight) const {
    const f32 dy = to_f32(dy_.pack[p].at(i));
    return Vectors > 0 ? dy * to_f32(weight.at(i)) : dy;
  }

  // Sets the row's elements outside of it to 0. Invariant of what follows: between two uses of partial sums there is
  // the barrier of others.
  __device__ void clear(int p) {
    if (cut_ >> p & 1) row_.clear_outside(x_.pack[p], p), row_.clear_outside(dy_.pack[p], p);
  }
  // Adds up the row, whose mean is 0.
  __device__ PartSums reduced_about_zero() {
    Sums<2> squares = {};
#pragma unroll
    for (int p = 0; p < Packs; ++p) {
      clear(p);
      const Pack w = weight(p);
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        const f32 x = to_f32(x_.pack[p].at(i)), of_element = visited(p, i, w);
        squares.x[0] += x * x, squares.x[1] += x * of_element;
      }
    }
    squares = row_.sums(smem_.partial[turn_], squares);
    turn_ ^= 1;
    return {0, squares.x[0], 0, squares.x[1]};
  }
  __device__ PartSums reduced() {
    if constexpr (!Centered) return reduced_about_zero();
    Sums<2> means = {}, squares = {};
#pragma unroll
    for (int p = 0; p < Packs; ++p) {
      clear(p);
      const Pack w = weight(p);
#pragma unroll
      for (int i = 0; i < kCount; ++i) means.x[0] += to_f32(x_.pack[p].at(i)), means.x[1] += visited(p, i, w);
    }
    means = row_.sums(smem_.partial[0], means);
    means.x[0] *= share();
#pragma unroll
    for (int p = 0; p < Packs; ++p) {
      if (Whole == 0 || (cut_ >> p & 1) != 0)
        add_squares(p, means.x[0], true, squares);
      else
        add_squares(p, means.x[0], false, squares);
    }
    squares = row_.sums(smem_.partial[1], squares);
    return {means.x[0], squares.x[0], means.x[1], squares.x[1]};
  }
  // What g() returns later of an element that is visited the first time.
  __device__ f32 visited(int p, int i, const Pack& weight) {
    const f32 of_element = weighted(p, i, weight);
    if constexpr (!kAgain) row_.x[p * kCount + i] = of_element;
    if constexpr (Vectors > 1) columns_.x[1][p * kCount + i] += to_f32(dy_.pack[p].at(i));
    return of_element;
  }
  // Adds what pack p gives, of which the row has all elements or none if it is not `in_part`.
  __device__ void add_squares(int p, f32 mean, bool in_part, Sums<2>& squares) const {
    if (!in_part && !row_.whole(p)) return;
    const Pack w = weight_again(p);
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const f32 distance = !in_part || row_.holds(p, i) ? to_f32(x_.pack[p].at(i)) - mean : 0.0F;
      squares.x[0] += distance * distance, squares.x[1] += distance * g(p, i, w);
    }
  }

  template <class Output> __device__ void store(const View<T, 2>& DX, const RowGradient& at, Output output) {
    const ElementGradient<T, Centered> element(at);
    const auto gradient = [&](int p) {
      const Pack w = weight_again(p);
      return [&, p, w](int i) {
        const f32 h = element.h(to_f32(x_.pack[p].at(i)));
        if constexpr (Vectors > 0) columns_.x[0][p * kCount + i] += to_f32(dy_.pack[p].at(i)) * h;
        return output(element.dx(g(p, i, w), h), row_.row, row_.column_of(p, i));
      };
    };
    kUnits ? row_.store(DX, gradient) : row_.store_anywhere(DX, of_.rows, of_.columns, gradient);
  }

  const Matrices& of_;
  Columns& columns_;
  Smem& smem_;
  const f32 share_;
  Row row_;
  const u32 cut_;  // packs of which a thread of the warp has a part only
  int turn_ = 0;
  Raw x_, dy_, next_x_, next_dy_, weight_ = {};
  const T* ends_[2];  // of X and of DY, for load_units
};
