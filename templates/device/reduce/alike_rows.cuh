#pragma once
// Rows that begin anywhere in 16 bytes, of which a thread has several, one after the other, that begin at the same
// place. It so has the same columns of each of them, keeps its part of vectors, and reads the next row while it works
// on one.
//
// What the files of such rows share of their manifests, which `use` this after WHOLE, which is 2 for these rows:
//! param   BLOCKS  = 1     in {1, 4, 8, 16, 40, 128} "for each SM, beside and after each other, if a thread has several rows, which begin at the same place in 16 bytes"
//!
//! let     EVERY   = max(1, COUNT * LANES / THREADS) "a thread's rows begin at the same place in 16 bytes if the blocks are a multiple of this"
//! let     GRID    = WHOLE == 2 ? min(align_up(ceil_div(M, ROWS), EVERY), max(1, device.sm_count * BLOCKS / EVERY) * EVERY) : ceil_div(M, ROWS) * CLUSTER
//!
//! require BLOCKS == 1 || WHOLE == 2                "each row is a block's where they may begin at different places"
//! require WHOLE != 2 || (CLUSTER == 1 && KEPT == 1 && PACKS * COUNT <= 32) "a bit says of each of a thread's elements whether the row has it"
#include "device/reduce/register_row.cuh"

// The end of the last row of a matrix.
template <class T> __device__ inline const void* end_of(const View<T, 2>& of, int rows, int columns) {
  return of.data + (rows - 1) * of.stride[0] + columns;
}
// Whether no byte lies in both matrices or between their rows, whose pitches are not negative.
template <class A, class B>
__device__ inline bool apart(const View<A, 2>& a, const View<B, 2>& b, int rows, int columns) {
  return end_of(a, rows, columns) <= static_cast<const void*>(b.data) ||
         end_of(b, rows, columns) <= static_cast<const void*>(a.data);
}

// A RegisterRow in turn of each of the thread's rows; `Vectors` of as many columns are kept.
template <class T, int Threads, int Lanes, int Packs, int Vectors>
class AlikeRows : public RegisterRow<Threads, Lanes, 1, 16 / sizeof(T), Packs> {
 public:
  using Row = RegisterRow<Threads, Lanes, 1, 16 / sizeof(T), Packs>;
  static constexpr int kCount = Row::kCount;

  // The first row of `of` begins at 16 bytes, and no two rows of it have an element in common. What is stored has rows
  // that begin at the same places.
  __device__ AlikeRows(const View<const T, 2>& of, int rows, int columns)
      : Row(rows, columns), of_(of), rows_(rows), columns_(columns) {
    const int before = static_cast<int>(reinterpret_cast<u64>(of.data + Row::row * of.stride[0]) / sizeof(T) % kCount);
    Row::column = static_cast<int>(threadIdx.x) % Lanes * kCount - before;
    Row::left = columns - Row::column;
#pragma unroll
    for (int j = 0; j < Packs * kCount; ++j)
      if (Row::holds(j / kCount, j % kCount)) held_ |= 1U << j;
  }

  // Calls f() for each of the thread's rows, with the thread's part of the vectors at hand. If none of what is stored
  // is in the memory of the rows, `apart`, they are read with their neighbours' elements in the same 16 bytes. Called
  // by all threads of the grid.
  template <class F> __device__ void each(bool apart, const T* const (&vectors)[2], F f) {
    apart_ = apart && columns_ >= kCount;
    next_ = loaded(Row::row);
#pragma unroll
    for (int v = 0; v < Vectors; ++v) kept_[v] = Row::load_raw_anywhere(vectors[v]);
    constexpr int kRows = Threads / Lanes;
    const int step = static_cast<int>(gridDim.x) * kRows;
#pragma unroll 1
    for (int first = static_cast<int>(blockIdx.x) * kRows; first < rows_; first += step) {
      const bool inside = Row::row < rows_;
      if (kAlone && !inside) break;
      if (!kAlone) bits_ = inside ? held_ : 0;
      following_ = inside && step < rows_ - Row::row ? Row::row + step : rows_;
      convert_again();
      lacking_ = 0;
#pragma unroll
      for (int p = 0; p < Packs; ++p)
        if (__any_sync(0xffffffff, !has_all(p))) lacking_ |= 1U << p;
      f();
      if (step >= rows_ - first) break;
      Row::row = following_, turn_ ^= 1;
    }
  }

  // What RegisterRow's functions of these names do.
  __device__ int turn() const {
    return turn_;
  }
  __device__ bool holds(int p, int i) const {
    return bits() >> (p * kCount + i) & 1;
  }
  template <int Vector> __device__ Words<T, kCount> vector(const View<const T, 1>&, int p) const {
    return kept_[Vector].pack[p];
  }
  template <class F> __device__ void each_pack(F f) {
#pragma unroll
    for (int p = 0; p < Packs; ++p) lacking_ >> p & 1 ? f(p, false) : f(p, true);
  }
  template <class F> __device__ void load(const View<const T, 2>&, f32 outside, F f) {
    each_pack([&](int p, bool all) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        const f32 x = to_f32(next_.pack[p].at(i));
        Row::x[p * kCount + i] = all || holds(p, i) ? f(x, Row::column_of(p, i)) : outside;
      }
    });
    next_ = loaded(following_);
  }
  template <class O, class F> __device__ void store(const View<O, 2>& to, F f) const {
    O* const begin = to.data + Row::row * to.stride[0] + Row::column;
#pragma unroll
    for (int p = 0; p < Packs; ++p) {
      const Pack<O, kCount> out = Row::template rounded<O>(f(p));
      if ((lacking_ >> p & 1) == 0 || has_all(p)) {
        store_whole_pack(begin + p * Row::kStep, out);
      } else {
#pragma unroll
        for (int i = 0; i < kCount; ++i)
          if (holds(p, i)) begin[p * Row::kStep + i] = out.x[i];
      }
    }
  }
  template <class O> __device__ void store(const View<O, 2>& to) const {
    store(to, [this](int p) { return [this, p](int i) { return Row::x[p * kCount + i]; }; });
  }

 private:
  using Raw = typename Row::template Raw<T>;
  static_assert(Packs * kCount <= 32);

  static constexpr bool kAlone = Lanes >= 32;  // a warp has no other row at a time
  static constexpr u32 kAll = (1U << kCount) - 1;

  // Which elements of this row the thread has.
  __device__ u32 bits() const {
    return kAlone ? held_ : bits_;
  }
  __device__ static u32 of_pack(u32 bits, int p) {
    return bits >> p * kCount & kAll;
  }
  __device__ bool has_all(int p) const {
    return of_pack(bits(), p) == kAll;
  }
  // Of a row, what the thread's packs hold; 0 where that is not the row's, or may be its neighbours'.
  __device__ Raw loaded(int row) const {
    Raw in = {};
    if (row >= rows_) return in;
    const T* const from = of_.data + row * of_.stride[0] + Row::column;
    const bool neighbours = apart_ && row < rows_ - 1;
#pragma unroll
    for (int p = 0; p < Packs; ++p) {
      if (of_pack(held_, p) == kAll || (neighbours && of_pack(held_, p) != 0))
        in.pack[p] = *reinterpret_cast<const Words<T, kCount>*>(from + p * Row::kStep);
    }
    if (neighbours) return in;
#pragma unroll
    for (int p = 0; p < Packs; ++p) {
      if (of_pack(held_, p) == kAll) continue;
#pragma unroll
      for (int i = 0; i < kCount; ++i)
        if (held_ >> (p * kCount + i) & 1) in.pack[p].set(i, from[p * Row::kStep + i]);
    }
    return in;
  }
  // Has the compiler convert bits and the kept vectors in each row: as words they take fewer registers.
  __device__ void convert_again() {
    u32& bits = kAlone ? held_ : bits_;
    asm volatile("" : "+r"(bits));
    if constexpr (sizeof(T) == 4) return;
#pragma unroll
    for (int v = 0; v < Vectors; ++v)
#pragma unroll
      for (auto& words : kept_[v].pack)
#pragma unroll
        for (u32& word : words.word) asm volatile("" : "+r"(word));
  }

  const View<const T, 2>& of_;
  const int rows_, columns_;
  bool apart_;
  int turn_ = 0, following_;  // the thread's next row, or beyond the matrix
  u32 held_ = 0, bits_;       // a bit for each element of the thread, of any row and of this one
  u32 lacking_;               // and one for each pack of which a thread of the warp lacks an element
  Raw next_, kept_[Vectors > 0 ? Vectors : 1];
};

// A row that threads keep in registers, as WHOLE says.
template <class T, int Threads, int Lanes, int Cluster, int Packs, int Whole, int Vectors> struct RowOf {
  using Type = RegisterRow<Threads, Lanes, Cluster, 16 / sizeof(T), Packs, Whole == 1>;
};
template <class T, int Threads, int Lanes, int Packs, int Vectors>
struct RowOf<T, Threads, Lanes, 1, Packs, 2, Vectors> {
  using Type = AlikeRows<T, Threads, Lanes, Packs, Vectors>;
};
