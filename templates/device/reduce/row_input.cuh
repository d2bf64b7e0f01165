#pragma once
// Rows of X through the hook `input`. Matrices and vectors that its text reads only at the element's own row and column
// are read with X, and matrices by accesses of 16 bytes, as X is: a load for each element would take as many
// instructions as a pack has elements. How the text says so is in device/epilogue/read_operands.cuh.
#include "device/reduce/register_row.cuh"

// What the thread's packs of a row have of one of these operands.
template <class Row, class Own> class OwnPacks {
  using Element = typename Own::Element;
  static constexpr int kEach = 16 / sizeof(Element), kReads = Row::kCount / kEach;
  static constexpr bool kPacked = Own::kPacked && Row::kCount % kEach == 0;
  const Own& own_;
  const Row& row_;
  uint4 words_[kPacked ? Row::kPacks * kReads : 1];

 public:
  __device__ OwnPacks(const Row& row, const Own& own) : own_(own), row_(row) {
    if constexpr (kPacked) {
#pragma unroll
      for (int n = 0; n < Row::kPacks * kReads; ++n)
        words_[n] = own.pack(row.row, row.column_of(n / kReads, n % kReads * kEach));
    }
  }
  // Returns what belongs to element i of pack p, converted.
  __device__ auto at(int p, int i) const {
    if constexpr (kPacked) return Own::value(reinterpret_cast<const Element*>(words_ + p * kReads)[i]);
    return Own::value(own_.across(row_.row, row_.column_of(p, i - i % 2)).at(i % 2));
  }
};

// Loads the row's elements through the hook.
template <class Row, class T, class H> struct RowInput {
  Row& row;
  const View<const T, 2>& from;
  const H& hooks;

  __device__ void load() const {
    row.load(from, 0.0F, [this](f32 x, int column) { return hooks.input(x, row.row, column); });
  }
  template <class... Owns> __device__ void operator()(const Owns&... owns) const {
    load_with(row.load_raw(from.data + row.row * from.stride[0]), OwnPacks<Row, Owns>(row, owns)...);
  }

 private:
  template <class Raw, class... Packs> __device__ void load_with(const Raw& raw, const Packs&... packs) const {
#pragma unroll
    for (int p = 0; p < Row::kPacks; ++p) {
#pragma unroll
      for (int i = 0; i < Row::kCount; ++i) {
        const f32 x = to_f32(raw.pack[p].at(i));
        row.x[p * Row::kCount + i] =
            row.holds(p, i) ? hooks.input_with(x, row.row, row.column_of(p, i), packs.at(p, i)...) : 0.0F;
      }
    }
  }
};
template <class H, class = void> constexpr bool kInputReadsOwn = false;
template <class H> constexpr bool kInputReadsOwn<H, decltype(void(&H::input_with))> = true;

template <class Row, class T, class H>
__device__ inline void load_input(Row& row, const View<const T, 2>& from, const H& hooks) {
  const RowInput<Row, T, H> input{row, from, hooks};
  if constexpr (Row::kWhole && kInputReadsOwn<H>)
    hooks.input_own(input);
  else
    input.load();
}
