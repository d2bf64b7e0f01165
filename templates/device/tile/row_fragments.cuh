#pragma once
// Products of rows of B with few rows of A by mma.sync, D^T = B * A^T, whose operands are read from global memory into
// the registers in which the instruction wants them. Lane 4g + q reads 16 bytes of row g at a time, and its bytes are
// 4q to 4q + 3 of each half of the 32 bytes of K of two products: the columns of K are permuted, in A as in B. The
// fragments of all types agree in bytes. PTX ISA 9.0, "Matrix Fragments for mma.m16n8k16 with floating point type" and
// the next.
#include "device/ptx/cp_async.cuh"
#include "device/ptx/ld.cuh"
#include "device/ptx/mma.cuh"
#include "device/tile/unit_types.cuh"

// A step of 128 bytes of K: RowsA rows of A, a multiple of 8, with elements of T, and RowsB rows of B, a multiple of
// 16, with elements of U, which are as large. Vec is the number of bytes that a lane reads at once: rows begin at
// multiples of it, and unless it is the size of an element, elements are neighbours.
template <class T, class U, int Vec, int RowsA, int RowsB> struct RowStep {
  static constexpr int kElement = sizeof(T);
  static constexpr bool kNeighbours = Vec > kElement;
  static constexpr int kVec = kNeighbours ? Vec : 4;             // bytes of loads of more than one element
  static constexpr int kColumns = 128 / kElement, kHalves = 2;   // each half is 16 bytes of each of four lanes
  static constexpr int kHalf = kColumns / 2, kWord = kHalf / 4;  // elements
  static constexpr int kWords = kHalves * (RowsA + RowsB) / 8;   // of 16 bytes that a lane reads
  using Product = mma::Mma<16, 8, 32 / kElement, U, T, typename Unit<T>::Sum>;

  // A warp's accumulators: x[j][i] are those of rows 16j to 16j + 15 of B and 8i to 8i + 7 of A.
  struct Sums {
    typename Unit<T>::Sum x[RowsB / 16][RowsA / 8][4];
  };
  // Where lanes keep a step in shared memory. A lane accesses nothing but its own words.
  struct Slot {
    using Step = RowStep;
    uint4 words[kWords][32];
  };

  // The rows that a lane reads. Rows past the end repeat the last one.
  struct Rows {
    const u8 *a[RowsA / 8], *b[RowsB / 8];
    s64 apart_a, apart_b;  // bytes from one column to the next
    int first;             // column of K at which the lane begins

    Rows() = default;
    __device__ Rows(const View<const T, 2>& A, const View<const U, 2>& B, int rows_a, int rows_b, int first_b)
        : apart_a(kElement * (kNeighbours ? 1 : A.stride[1])),
          apart_b(kElement * (kNeighbours ? 1 : B.stride[1])),
          first(threadIdx.x % 4 * kWord) {
      const int row = threadIdx.x % 32 / 4;
#pragma unroll
      for (int i = 0; i < RowsA / 8; ++i) a[i] = row_of(A, min(i * 8 + row, rows_a - 1));
#pragma unroll
      for (int j = 0; j < RowsB / 8; ++j) b[j] = row_of(B, min(first_b + j * 8 + row, rows_b - 1));
    }
    // Half of them rows of G, and then the same of B. Elements are neighbours.
    __device__ Rows(const View<const T, 2>& A, const View<const U, 2>& G, const View<const U, 2>& B, int rows_a,
                    int rows_b, int first_b)
        : Rows(A, G, rows_a, rows_b, first_b) {
      static_assert(kNeighbours);
      const int row = threadIdx.x % 32 / 4;
#pragma unroll
      for (int j = 0; j < RowsB / 16; ++j) b[RowsB / 16 + j] = row_of(B, min(first_b + j * 8 + row, rows_b - 1));
    }

   private:
    template <class View> __device__ static const u8* row_of(const View& x, int row) {
      return reinterpret_cast<const u8*>(x.data + row * x.stride[0]);
    }
  };

  uint4 a[RowsA / 8][kHalves], b[RowsB / 8][kHalves];

  // Loads the step-th 128 bytes of K, all of which exist, of A, of B or of both.
  __device__ void load_a(const Rows& rows, int step) {
    each_of_a(rows, step, whole);
  }
  __device__ void load_b(const Rows& rows, int step) {
    each_of_b(rows, step, whole);
  }
  __device__ void load(const Rows& rows, int step) {
    each(rows, step, whole);
  }
  // The same for the last columns, some of which do not exist and are 0.
  __device__ void load_last(const Rows& rows, int step, int columns) {
    each(rows, step,
         [&](const u8* from, s64 apart, s64 column, bool) { return loaded(from, apart, columns - column); });
  }
  // Starts copies of the same columns as `load` by cp.async. Vec is at least 4.
  __device__ static void copy(Slot& slot, const Rows& rows, int step) {
    int word = 0;
    RowStep().each(rows, step, [&](const u8* from, s64, s64, bool once) {
      const u32 to = smem_address(&slot.words[word++][threadIdx.x % 32]);
      if (Vec == 16 && once) {
        cp_async::cg(to, from);
      } else {
#pragma unroll
        for (int i = 0; i < 16; i += kVec) cp_async::ca<kVec>(to + i, from + i);
      }
      return uint4{};
    });
  }
  // Reads what this lane copied, after it has waited for its copies.
  __device__ void read(const Slot& slot) {
    int word = 0;
    each(Rows{}, 0, [&](const u8*, s64, s64, bool) { return slot.words[word++][threadIdx.x % 32]; });
  }

  // sums += the products.
  __device__ void multiply(Sums& sums) const {
#pragma unroll
    for (int j = 0; j < RowsB / 16; ++j)
#pragma unroll
      for (int h = 0; h < kHalves; ++h) {
        const uint4 &upper = b[2 * j][h], &lower = b[2 * j + 1][h];
#pragma unroll
        for (int i = 0; i < RowsA / 8; ++i) {
          const uint4& x = a[i][h];
          auto& of = reinterpret_cast<typename Product::Accumulator(&)[4]>(sums.x[j][i]);
          Product::multiply(of, {upper.x, lower.x, upper.y, lower.y}, {x.x, x.y});
          Product::multiply(of, {upper.z, lower.z, upper.w, lower.w}, {x.z, x.w});
        }
      }
  }

 private:
  // Sets each word to f(address of its first element, distance of its elements in bytes, column of K, whether it is of
  // B). The two pieces of 16 bytes of a row's 128 come one after the other.
  template <class F> __device__ void each(const Rows& rows, int step, F f) {
    each_of_a(rows, step, f);
    each_of_b(rows, step, f);
  }
  template <class F> __device__ void each_of_a(const Rows& rows, int step, F f) {
    const s64 column = s64{step} * kColumns + rows.first;
#pragma unroll
    for (int i = 0; i < RowsA / 8; ++i)
#pragma unroll
      for (int h = 0; h < kHalves; ++h)
        a[i][h] = f(rows.a[i] + (column + h * kHalf) * rows.apart_a, rows.apart_a, column + h * kHalf, false);
  }
  template <class F> __device__ void each_of_b(const Rows& rows, int step, F f) {
    const s64 column = s64{step} * kColumns + rows.first;
#pragma unroll
    for (int j = 0; j < RowsB / 8; ++j)
#pragma unroll
      for (int h = 0; h < kHalves; ++h)
        b[j][h] = f(rows.b[j] + (column + h * kHalf) * rows.apart_b, rows.apart_b, column + h * kHalf, true);
  }
  // A whole word.
  __device__ static uint4 whole(const u8* from, s64 apart, s64, bool once) {
    if constexpr (kNeighbours)
      return once ? global::load_16_once<Vec>(from) : global::load_16<Vec>(from);
    else
      return loaded(from, apart, kWord);
  }
  // The first `left` elements of a word; the others are 0.
  __device__ static uint4 loaded(const u8* from, s64 apart, s64 left) {
    if (kNeighbours && left >= kWord) return global::load_16<kVec>(from);
    u32 word[4] = {};
#pragma unroll
    for (int i = 0; i < kWord; ++i)
      if (i < left) word[i * kElement / 4] |= element(from + i * apart) << i * kElement % 4 * 8;
    return make_uint4(word[0], word[1], word[2], word[3]);
  }
  __device__ static u32 element(const u8* from) {
    if constexpr (kElement == 1)
      return *from;
    else
      return *reinterpret_cast<const u16*>(from);
  }
};
