#pragma once
// Applies the hook `epilogue` to the registers of a tile. Operands that its text reads only at the element's own row,
// column or both are read beforehand, two neighbours at a time: otherwise the reads for one element would wait for
// those of the element before. For such a text the preamble gives Hooks two more members:
//   epilogue_own(f)                                f(own<Row, Column>(operand), ...)
//   epilogue_with(x, row, column, ..., value, ...) the text, with a value in place of each of these operands
#include "device/tile/register_tile.cuh"
#include "device/tile/two.cuh"

// What own operands of these types have for the registers of a tile of layout L whose first element is (row, column).
// Transposed: the tile's rows are columns of the tensor.
template <class L, bool Transposed, class... Owns> class OwnElements {  // none left
 public:
  __device__ OwnElements(int, int) {}
  // Calls f with these values and then the elements that belong to register i, converted.
  template <class F, class... Values> __device__ auto give(int, F f, Values... values) const { return f(values...); }
};
template <class L, bool Transposed, class First, class... Rest> class OwnElements<L, Transposed, First, Rest...> {
  static constexpr bool kRow = Transposed ? First::kColumn : First::kRow;  // whether it differs between the tile's rows
  static constexpr bool kColumn = Transposed ? First::kRow : First::kColumn;
  static constexpr int kSlots = kRow ? L::kRowSlots : 1, kPairs = kColumn ? L::kPairs : 1;
  Two<typename First::Element> pairs_[kSlots * kPairs];
  OwnElements<L, Transposed, Rest...> rest_;

  __device__ static constexpr int index(int i) { return (kRow ? L::slot(i) : 0) * kPairs + (kColumn ? L::pair(i) : 0); }

 public:
  __device__ OwnElements(int row, int column, const First& first, const Rest&... rest) : rest_(row, column, rest...) {
#pragma unroll
    for (int i = 0; i < L::kRegisters; i += 2) {
      if ((!kRow && L::slot(i) > 0) || (!kColumn && L::pair(i) > 0)) continue;
      const int r = L::row(L::slot(i)), c = L::column(i);
      pairs_[index(i)] = Transposed ? first.down(row + c, column + r) : first.across(row + r, column + c);
    }
  }
  template <class F, class... Values> __device__ auto give(int i, F f, Values... values) const {
    return rest_.give(i, f, values..., First::value(pairs_[index(i)].at(kColumn ? i % 2 : 0)));
  }
};

// The epilogue of a tile of layout L whose first element is (row, column). It is constructed when the operands are to
// be read. More are the hook's arguments after the column.
template <class L, class H, bool Transposed = false, class = void> class Epilogue {
  const H* hooks_;
  int row_, column_;

 public:
  __device__ Epilogue(const H& hooks, int row, int column) : hooks_(&hooks), row_(row), column_(column) {}
  template <class S, class... More> __device__ void apply(RegisterTile<L, S>& tile, More... more) const {
    tile.map_at([&](S x, int r, int c) {
      return hooks_->epilogue(x, row_ + (Transposed ? c : r), column_ + (Transposed ? r : c), more...);
    });
  }
};
template <class L, class H, bool Transposed> class Epilogue<L, H, Transposed, decltype(void(&H::epilogue_with))> {
  struct Reader {
    int row, column;
    template <class... Owns> __device__ auto operator()(const Owns&... owns) const {
      return OwnElements<L, Transposed, Owns...>(row, column, owns...);
    }
  };
  struct Call {
    const H* hooks;
    template <class... Values> __device__ auto operator()(Values... values) const {
      return hooks->epilogue_with(values...);
    }
  };
  const H* hooks_;
  int row_, column_;
  decltype(static_cast<const H*>(nullptr)->epilogue_own(Reader{})) elements_;

 public:
  __device__ Epilogue(const H& hooks, int row, int column)
      : hooks_(&hooks), row_(row), column_(column), elements_(hooks.epilogue_own(Reader{row, column})) {}
  template <class S, class... More> __device__ void apply(RegisterTile<L, S>& tile, More... more) const {
#pragma unroll
    for (int i = 0; i < L::kRegisters; ++i) {
      const int r = L::row(L::slot(i)), c = L::column(i);
      tile.x[i] = elements_.give(i, Call{hooks_}, tile.x[i], row_ + (Transposed ? c : r),
                                 column_ + (Transposed ? r : c), more...);
    }
  }
};

// Applies the epilogue to a tile, 16 columns after the other, so that few operands are in registers at a time.
template <bool Transposed = false, class L, class H, class S, class... More>
__device__ inline void apply_epilogue(const H& hooks, RegisterTile<L, S>& tile, int row, int column, More... more) {
  constexpr int kPart = L::kColumns % 16 == 0 ? 16 : L::kColumns;
#pragma unroll
  for (int first = 0; first < L::kColumns; first += kPart) {
    auto part = tile.template columns<kPart>(first);
    Epilogue<typename L::template WithColumns<kPart>, H, Transposed>(hooks, row + (Transposed ? first : 0),
                                                                     column + (Transposed ? 0 : first))
        .apply(part, more...);
    tile.put_columns(first, part);
  }
}
