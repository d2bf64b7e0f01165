#pragma once
// How the hook `epilogue` reads operands, which own_operands.cuh includes where there are some. Operands that its text
// reads only at the element's own row, column or both, or only at 0, are read beforehand: otherwise the reads for one
// element would wait for those of the element before. For such a text the preamble gives Hooks two more members:
//   epilogue_own(f)                                f(own<Row, Column>(operand), ...)
//   epilogue_with(x, row, column, ..., value, ...) the text, with a value in place of each of these operands
// A matrix whose rows consist of 16 bytes each is read by such accesses, along its rows, and exchanged among the lanes
// through the shared tile into which the results go: the lanes' own elements are pairs in eight different rows, of
// which each access would use half a sector of 32 bytes. All others are read in pairs.
#include "device/epilogue/own_operands.cuh"
#include "device/ptx/cp_async.cuh"
#include "device/ptx/ldmatrix.cuh"
#include "device/tile/two.cuh"

// What an own operand has for the registers of a tile of layout L whose first element is (row, column), in pairs.
// Transposed: the tile's rows are columns of the tensor.
template <class L, bool Transposed, class Own> class PairsOf {
  static constexpr bool kRow = Transposed ? Own::kColumn : Own::kRow;  // whether it differs between the tile's rows
  static constexpr bool kColumn = Transposed ? Own::kRow : Own::kColumn;
  static constexpr int kSlots = kRow ? L::kRowSlots : 1, kPairs = kColumn ? L::kPairs : 1;
  Two<typename Own::Element> pairs_[kSlots * kPairs];

  __device__ static constexpr int index(int i) { return (kRow ? L::slot(i) : 0) * kPairs + (kColumn ? L::pair(i) : 0); }

 public:
  // Elements that are read one at a time are in registers of their own until all have arrived.
  static constexpr bool kSingly = Transposed ? Own::kRow : Own::kColumn && !Own::kPaired;
  static constexpr int kRegisters = sizeof(pairs_) / 4 * (kSingly && sizeof(typename Own::Element) < 4 ? 2 : 1);

  __device__ PairsOf() {}
  __device__ PairsOf(int row, int column, const Own& own) {
#pragma unroll
    for (int i = 0; i < L::kRegisters; i += 2) {
      if ((!kRow && L::slot(i) > 0) || (!kColumn && L::pair(i) > 0)) continue;
      const int r = L::row(L::slot(i)), c = L::column(i);
      pairs_[index(i)] = Transposed ? own.down(row + c, column + r) : own.across(row + r, column + c);
    }
  }
  // Returns the element that belongs to register i, converted.
  __device__ auto at(int i) const {
    return Own::value(pairs_[index(i)].at(kColumn ? i % 2 : 0));
  }
  template <class Shared> __device__ const PairsOf& exchanged(Shared&, int, int) const {
    return *this;
  }
};

// The same of a matrix that was exchanged: each register's element.
template <class L, class Own> struct ExchangedOf {
  using Layout = L;
  using Element = typename Own::Element;
  static constexpr int kRegisters = L::kRegisters / 2 * sizeof(Two<Element>) / 4;
  Two<Element> pairs[L::kRegisters / 2];
  __device__ auto at(int i) const { return Own::value(pairs[i / 2].at(i % 2)); }
  template <int Count> __device__ void put(int column, mma::Matrices<Count> matrices) {
#pragma unroll
    for (int m = 0; m < Count; ++m) pairs[column / 4 + m].word = matrices.r[m];
  }
};

// Loads them from the part of a shared tile from (row, column) on: elements of 16 bits as matrices of 8 by 8, which are
// the pairs of 8 rows and 8 columns. Called by all lanes of a warp.
template <bool Transposed, class Shared, class Exchanged>
__device__ inline void load_exchanged(Shared& through, int row, int column, Exchanged& own) {
  using L = typename Exchanged::Layout;
  using Element = typename Exchanged::Element;
  if constexpr (sizeof(Element) == 2 && L::kRows == 16) {
    const int lane = threadIdx.x % 32, down = Transposed ? lane / 16 * 8 + lane % 8 : lane % 16,
              across = (Transposed ? lane / 8 % 2 : lane / 16) * 8;
#pragma unroll
    for (int j = 0; j < L::kColumns; j += 16) {
      const u32 at =
          smem_address(&through.at(row + down + (Transposed ? j : 0), column + across + (Transposed ? 0 : j)));
      if (j + 8 < L::kColumns)
        own.put(j, Transposed ? mma::ldmatrix_x4_trans(at) : mma::ldmatrix_x4(at));
      else
        own.put(j, Transposed ? mma::ldmatrix_x2_trans(at) : mma::ldmatrix_x2(at));
    }
  } else {
#pragma unroll
    for (int i = 0; i < L::kRegisters; i += 2) {
      const int r = L::row(L::slot(i)), c = L::column(i);
      if constexpr (Transposed)
        own.pairs[i / 2] = Two<Element>::of(through.template at<Element>(row + c, column + r),
                                            through.template at<Element>(row + c + 1, column + r));
      else
        own.pairs[i / 2] = through.template at<Two<Element>>(row + r, column + c);
    }
  }
}

// A warp's part of a matrix, 16 bytes at a time along the matrix's rows.
template <class L, bool Transposed, class Own> class PacksOf {
  using Element = typename Own::Element;
  static constexpr int kRows = Transposed ? L::kColumns : L::kRows, kColumns = Transposed ? L::kRows : L::kColumns;
  static constexpr int kCount = 16 / sizeof(Element), kAcross = kColumns / kCount;
  static constexpr int kPacks = ceil_div(kRows * kAcross, 32);
  static_assert(kColumns % kCount == 0);
  uint4 packs_[kPacks];

  // Calls f(pack, row, column) for each of the lane's, with its place in the part.
  template <class F> __device__ static void each(F f) {
#pragma unroll
    for (int n = 0; n < kPacks; ++n) {
      const int i = n * 32 + threadIdx.x % 32;
      if (kRows * kAcross % 32 == 0 || i < kRows * kAcross) f(n, i / kAcross, i % kAcross * kCount);
    }
  }

 public:
  static constexpr int kRegisters = 4 * kPacks;

  __device__ PacksOf() {}
  __device__ PacksOf(int row, int column, const Own& own) {
    each([&](int n, int r, int c) { packs_[n] = own.pack(row + r, column + c); });
  }
  // Called by all lanes of the warp. The part of `through` from (row, column) on is the warp's own; it may be written
  // again as soon as the call returns.
  template <class Shared> __device__ auto exchanged(Shared& through, int row, int column) const {
    each([&](int n, int r, int c) { through.template at<uint4>(row + r, column + c) = packs_[n]; });
    __syncwarp();
    ExchangedOf<L, Own> own;
    load_exchanged<Transposed>(through, row, column, own);
    __syncwarp();
    return own;
  }
};

// A shared tile in which a matrix lies where its elements' results go.
template <class Shared> struct Holding { using Element = typename Shared::Element; };

// The same of a matrix that has been copied to such a tile.
template <class L, bool Transposed, class Own> struct CopiesOf {
  static constexpr int kRegisters = 0;
  __device__ CopiesOf() {}
  __device__ CopiesOf(int, int, const Own&) {}
  template <class Shared> __device__ auto exchanged(Shared& through, int row, int column) const {
    ExchangedOf<L, Own> own;
    load_exchanged<Transposed>(through, row, column, own);
    return own;
  }
};

// The own operands of a text, one after the other.
template <class... Parts> struct OwnElements {
  static constexpr int kRegisters = 0;

  // Calls f with these values and then the elements that belong to register i.
  template <class F, class... Values> __device__ auto give(int, F f, Values... values) const { return f(values...); }
  template <class Shared> __device__ OwnElements exchanged(Shared&, int, int) const { return {}; }
};
template <class First, class... Rest> struct OwnElements<First, Rest...> {
  static constexpr int kRegisters = First::kRegisters + OwnElements<Rest...>::kRegisters;
  First first;
  OwnElements<Rest...> rest;

  template <class F, class... Values> __device__ auto give(int i, F f, Values... values) const {
    return rest.give(i, f, values..., first.at(i));
  }
  template <class Shared> __device__ auto exchanged(Shared& through, int row, int column) const {
    return joined(first.exchanged(through, row, column), rest.exchanged(through, row, column));
  }

 private:
  template <class F, class... R> __device__ static OwnElements<F, R...> joined(const F& f, const OwnElements<R...>& r) {
    return {f, r};
  }
};
__device__ inline OwnElements<> own_elements() {
  return {};
}
template <class First, class... Rest>
__device__ inline OwnElements<First, Rest...> own_elements(const First& first, const Rest&... rest) {
  return {first, own_elements(rest...)};
}

// How an operand is read: by 16 bytes if there is a shared tile whose elements are as large as its own.
template <class Shared, class Own>
constexpr bool kPacked = Own::kPacked && sizeof(typename Own::Element) == sizeof(typename Shared::Element);
template <class Own> constexpr bool kPacked<void, Own> = false;
template <class L, bool Transposed, class Shared, class Own, bool Packed> struct PartOf {
  using Type = PairsOf<L, Transposed, Own>;
};
template <class L, bool Transposed, class Shared, class Own> struct PartOf<L, Transposed, Shared, Own, true> {
  using Type = PacksOf<L, Transposed, Own>;
};
template <class L, bool Transposed, class Shared, class Own> struct PartOf<L, Transposed, Holding<Shared>, Own, true> {
  using Type = CopiesOf<L, Transposed, Own>;
};

// Reads what own operands have for a tile of layout L whose first element is (row, column).
template <class L, bool Transposed, class Shared> struct OwnReader {
  int row, column;
  template <class... Owns> __device__ auto operator()(const Owns&... owns) const {
    return own_elements(
        typename PartOf<L, Transposed, Shared, Owns, kPacked<Shared, Owns>>::Type(row, column, owns)...);
  }
};

// Copies Rows x Columns elements from (row, column) on of a matrix that is read by 16 bytes, to `to` from (at, beside)
// on, for Holding. Called by all lanes of a warp, which wait for it; only one matrix can be copied. Returns how many
// there are.
template <int N> struct Count { static constexpr int value = N; };
template <int Rows, int Columns, class Shared> struct OwnCopy {
  Shared& to;
  int at, beside, row, column;
  template <class... Owns>
  __device__ Count<(0 + ... + int{kPacked<Shared, Owns>})> operator()(const Owns&... owns) const {
    (copy(owns), ...);
    return {};
  }

 private:
  template <class Own> __device__ void copy(const Own& own) const {
    if constexpr (kPacked<Shared, Own>) {
      constexpr int kCount = 16 / sizeof(typename Own::Element), kAcross = Columns / kCount;
#pragma unroll 1
      for (int i = threadIdx.x % 32; i < Rows * kAcross; i += 32) {
        const int r = i / kAcross, c = i % kAcross * kCount;
        own.copy_pack(smem_address(&to.at(at + r, beside + c)), row + r, column + c);
      }
    }
  }
};

template <class L, class H, bool Transposed, class Shared>
class Epilogue<L, H, Transposed, Shared, decltype(void(&H::epilogue_with))> {
  using Reader = OwnReader<L, Transposed, Shared>;
  struct Call {
    const H* hooks;
    template <class... Values> __device__ auto operator()(Values... values) const {
      return hooks->epilogue_with(values...);
    }
  };
  const H* hooks_;
  int row_, column_;
  using Elements = decltype(static_cast<const H*>(nullptr)->epilogue_own(Reader{}));
  Elements elements_;

  template <class E, class S, class... More>
  __device__ void apply_with(const E& elements, RegisterTile<L, S>& tile, More... more) const {
#pragma unroll
    for (int i = 0; i < L::kRegisters; ++i) {
      const int r = L::row(L::slot(i)), c = L::column(i);
      tile.x[i] = elements.give(i, Call{hooks_}, tile.x[i], row_ + (Transposed ? c : r), column_ + (Transposed ? r : c),
                                more...);
    }
  }

 public:
  static constexpr int kRegisters = Elements::kRegisters;

  __device__ Epilogue() {}
  __device__ Epilogue(const H& hooks, int row, int column)
      : hooks_(&hooks), row_(row), column_(column), elements_(hooks.epilogue_own(Reader{row, column})) {}
  template <class S, class Through, class... More>
  __device__ void apply_through(Through& through, int row, int column, RegisterTile<L, S>& tile, More... more) const {
    apply_with(elements_.exchanged(through, row, column), tile, more...);
  }
  template <class S, class... More> __device__ void apply(RegisterTile<L, S>& tile, More... more) const {
    apply_with(elements_, tile, more...);
  }
};

template <class H, class Shared>
constexpr int kCopied<H, Shared, decltype(void(&H::epilogue_with))> =
    decltype(static_cast<const H*>(nullptr)->epilogue_own(
        OwnCopy<16, 16, Shared>{*static_cast<Shared*>(nullptr)}))::value;

// Begins to copy it so.
template <int Rows, int Columns, class H, class Shared>
__device__ inline void copy_operand(const H& hooks, Shared& to, int at, int beside, int row, int column) {
  hooks.epilogue_own(OwnCopy<Rows, Columns, Shared>{to, at, beside, row, column});
}

// Waits until the lanes of the warp can read what they have copied.
__device__ inline void wait_for_copies() {
  cp_async::wait_all();
  __syncwarp();
}
