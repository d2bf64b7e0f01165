#pragma once
// A tensor that hooks read element by element, which a request calls an operand. A hook's `bias[column]` is compiled as
// `bias(column)`.
#include "device/ptx/cp_async.cuh"
#include "device/ptx/cvt.cuh"
#include "device/tile/interval.cuh"
#include "device/tile/pack.cuh"
#include "device/tile/two.cuh"

#define TMA_JIT_OPERANDS  // the kernel has some

// What is read in place of an element beyond a tensor.
template <class T> __device__ const T zero_element = {};

// A row or vector: its first element, and how many it has.
template <class T> struct Line {
  const T* data;
  u32 count;
};

// Value is the type to which an element is converted: f32, or f64 in a reference and if hooks compute in it; integers
// are not converted. Neighbours is whether elements of the innermost dimension are adjacent, so that the distances of
// their addresses are constants. Together elements of that dimension, whose first index is a multiple of Together, are
// in range together, and begin at a multiple of their bytes; at most 16 bytes. Repeated states that a thread reads the
// same elements for many results: what is beyond the tensor is then no branch but another address, as only without
// branches the compiler loads an element once for all of them.
template <class T, int Rank, class Value, bool Neighbours, int Together = 1, bool Repeated = false> struct Operand {
  using Element = T;
  static constexpr bool kPaired = Together > 1, kPacked = Together * sizeof(T) == 16;

  const T* data;
  s64 stride[Rank];  // in elements, outermost first; 0 along a broadcast dimension
  s64 extent[Rank];  // the largest s64 along a broadcast dimension

  // Returns the element at these indices, outermost first; 0 if one is out of range, as in the part of a last tile
  // beyond the tensor. Indices are integers.
  template <class... Index, class = decltype((Index{} % 1 + ...))> __device__ Value operator()(Index... index) const {
    static_assert(sizeof...(Index) == Rank, "an operand is read with one index a dimension");
    bool inside = true;
    const T* at = data;
    int dimension = 0;
    ((inside = inside && is_within(index, extent[dimension]), at += step(index, dimension), ++dimension), ...);
    if constexpr (Repeated) return value(*(inside ? at : &zero_element<T>));
    return inside ? value(*at) : Value{};
  }
  __device__ static Value value(T x) { return converted(x, Value{}); }

  // What a tile has beyond the tensor is not read: another thread may be writing the last row.
  // Returns the address of row `row` of a matrix, and how many of its elements a 32-bit index reaches; 0 if there is no
  // such row.
  __device__ Line<T> line(s32 row) const {
    return {data + row * stride[0], is_within(row, extent[0]) ? reach(extent[Rank - 1]) : 0};
  }
  // The same of a vector.
  __device__ Line<T> line() const { return {data, reach(extent[Rank - 1])}; }
  // Returns the elements `index`, which is even, and `index` + 1 of a row or vector; 0 beyond its end.
  __device__ Two<T> two(Line<T> of, s32 index) const {
    if constexpr (kPaired) {
      if (static_cast<u32>(index) >= of.count) return Two<T>::of(T{}, T{});
      return *reinterpret_cast<const Two<T>*>(of.data + index);
    }
    return Two<T>::of(one(of, index), one(of, index + 1));
  }
  // Returns the 16 bytes of a row or vector that begin with element `index`, a multiple of Together; 0 beyond its end.
  __device__ uint4 pack(Line<T> of, s32 index) const {
    static_assert(kPacked);
    if (static_cast<u32>(index) >= of.count) return {};
    return *reinterpret_cast<const uint4*>(of.data + index);
  }
  // Returns its element `index`; 0 beyond its end.
  __device__ T one(Line<T> of, s32 index) const {
    return static_cast<u32>(index) < of.count ? of.data[step(index, Rank - 1)] : T{};
  }
  // Returns an interval that contains the elements, integers, at all indices within these intervals; of at most one
  // dimension there may be several, up to kMost. Called by all lanes of a warp.
  template <class... Index, class = EnableIf<(is_interval<Index> || ...)>, class = decltype((Interval(Index(0)), ...)),
            class V = Value, class = decltype(Interval(V{}))>
  __device__ Interval operator()(Index... index) const {
    static_assert(sizeof...(Index) == Rank, "an operand is read with one index a dimension");
    Elements range = {data, 0, 1, 0, 1};
    int dimension = 0, several = 0;
    (add(range, Interval(index), dimension++, several), ...);
    return over_lanes(several <= 1 ? range : Elements{data, 0, 0, 0, 0});
  }

 private:
  // A 32-bit index needs one comparison; if the extent has more than 31 bits, the index is within it unless it is
  // negative.
  template <class Index> __device__ static bool is_within(Index index, s64 extent) {
    if constexpr (sizeof(Index) == sizeof(int) && Index(-1) < Index(0))
      return static_cast<u32>(index) < reach(extent);
    else
      return static_cast<u64>(index) < static_cast<u64>(extent);
  }
  __device__ static u32 reach(s64 extent) { return extent >> 31 != 0 ? 0x80000000u : static_cast<u32>(extent); }
  __device__ s64 step(s64 index, int dimension) const {
    return Neighbours && dimension == Rank - 1 ? index : index * stride[dimension];
  }
  __device__ static f32 converted(T x, f32) { return to_f32(x); }
  __device__ static f64 converted(T x, f64) { return to_f64(x); }
  template <class Integer> __device__ static Integer converted(T x, Integer) { return x; }

  // Elements that differ in one index: elements i * pitch for 0 <= i < count, of which those from begin to end - 1 are
  // in the tensor. No elements: too many.
  struct Elements {
    const T* from;
    s64 pitch;
    int count, begin, end;
  };
  static constexpr int kMost = 512;

  __device__ void add(Elements& range, Interval index, int dimension, int& several) const {
    const s64 count = s64{index.hi} - index.lo + 1;
    if (index.is_point()) {
      if (!is_within(index.lo, extent[dimension])) range.end = range.begin = 0;
    } else if (count <= kMost) {
      const bool none = range.begin == range.end;
      range.count = count;
      range.pitch = step(1, dimension);
      range.begin = none ? 0 : min(count, max(s64{0}, -s64{index.lo}));
      range.end = none ? 0 : max(s64{range.begin}, min(s64{index.hi} + 1, extent[dimension]) - index.lo);
      ++several;
    } else {
      several = Rank + 1;
    }
    range.from += step(index.lo, dimension);
  }

  // Returns the least and the greatest of the lane's elements. If all lanes have the same, they read together.
  __device__ static Interval over_lanes(const Elements& own) {
    constexpr int kPack = 16 / sizeof(T);
    const bool beyond = own.begin > 0 || own.end < own.count;  // 0 is read there
    s32 least = beyond ? 0 : 0x7fffffff, most = beyond ? 0 : -0x7fffffff - 1;
    const auto add = [&](T x) { least = min(least, s32(x)), most = max(most, s32(x)); };
    int i = own.begin;
    if (is_same(reinterpret_cast<u64>(own.from)) && is_same(own.pitch) && is_same(own.count) && is_same(own.begin) &&
        is_same(own.end)) {
#pragma unroll 4
      for (i += threadIdx.x % 32; i < own.end; i += 32) add(own.from[i * own.pitch]);
      least = __reduce_min_sync(0xffffffff, least), most = __reduce_max_sync(0xffffffff, most);
    } else {
      const bool aligned = own.pitch == 1 && reinterpret_cast<u64>(own.from + i) % 16 == 0;
#pragma unroll 1
      for (; aligned && i + 4 * kPack <= own.end; i += 4 * kPack) {
        const Pack<T, 4 * kPack> pack = load_whole_pack<4 * kPack>(own.from + i);
#pragma unroll
        for (int j = 0; j < 4 * kPack; ++j) add(pack.x[j]);
      }
#pragma unroll 1
      for (; i < own.end; ++i) add(own.from[i * own.pitch]);
    }
    return own.count > 0 ? Interval(least, most) : Interval::anything();
  }
  template <class X> __device__ static bool is_same(X x) {
    return __all_sync(0xffffffff, x == __shfl_sync(0xffffffff, x, 0));
  }
};

// An operand that a hook reads only at the row, the column or both of the element that it is given; or, if neither, a
// vector of which it reads only the first element.
template <bool Row, bool Column, class O> struct OwnOperand {
  static constexpr bool kRow = Row, kColumn = Column, kPaired = O::kPaired, kPacked = Row && Column && O::kPacked;
  using Element = typename O::Element;
  const O& operand;

  // Returns what belongs to (row, column) and to (row, column + 1); `column` is even.
  __device__ Two<Element> across(s32 row, s32 column) const {
    if constexpr (Column) return operand.two(line(row), column);
    const Element x = operand.one(operand.line(), Row ? row : 0);
    return Two<Element>::of(x, x);
  }
  // Returns what belongs to (row, column) and to (row + 1, column).
  __device__ Two<Element> down(s32 row, s32 column) const {
    if constexpr (Column) return Two<Element>::of(operand.one(line(row), column), operand.one(line(row + 1), column));
    return Two<Element>::of(operand.one(operand.line(), Row ? row : 0), operand.one(operand.line(), Row ? row + 1 : 0));
  }
  // Returns the 16 bytes that begin at (row, column), a multiple of the elements that they contain.
  __device__ uint4 pack(s32 row, s32 column) const { return operand.pack(line(row), column); }
  __device__ static auto value(Element x) { return O::value(x); }
  // Copies these 16 bytes to shared memory, or zeros.
  __device__ void copy_pack(u32 to, s32 row, s32 column) const {
    const Line<Element> from = line(row);
    cp_async::cg(to, from.data + column, static_cast<u32>(column) < from.count ? 16 : 0);
  }

 private:
  __device__ Line<Element> line(s32 row) const {
    if constexpr (Row) return operand.line(row);
    return operand.line();
  }
};
template <bool Row, bool Column, class O> __device__ inline OwnOperand<Row, Column, O> own(const O& operand) {
  return {operand};
}
