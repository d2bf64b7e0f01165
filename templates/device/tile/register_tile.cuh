#pragma once
// A tile of f32, or of s32, in the registers of a warp, and vectors with one value per row. Loops over them must be
// unrolled, because registers have no addresses. Only combine_lanes must be called by all lanes of the warp.
#include "device/tile/layout.cuh"

// One value for each of the Slots rows of which a lane holds parts; Lanes adjacent lanes share each row.
template <int Slots, int Lanes> struct RowVector {
  f32 x[Slots];

  __device__ void fill(f32 value) {
#pragma unroll
    for (f32& e : x) e = value;
  }
  // x = f(x, the same row's value in the other vector)
  template <class F> __device__ void map(const RowVector& other, F f) {
#pragma unroll
    for (int s = 0; s < Slots; ++s) x[s] = f(x[s], other.x[s]);
  }
  // Combines the values of the lanes that share a row. f must be commutative, so that all of them get the same bits.
  template <class F> __device__ void combine_lanes(F f) {
#pragma unroll
    for (int distance = 1; distance < Lanes; distance *= 2)
#pragma unroll
      for (f32& e : x) e = f(e, __shfl_xor_sync(0xffffffff, e, distance));
  }
};

template <class L, class X = f32> struct RegisterTile {
  using Layout = L;
  using Vector = RowVector<L::kRowSlots, L::kLanes>;  // one value per row
  X x[L::kRegisters];

  __device__ void fill(X value) {
#pragma unroll
    for (X& e : x) e = value;
  }
  // x = f(x)
  template <class F> __device__ void map(F f) {
#pragma unroll
    for (X& e : x) e = f(e);
  }
  // x = f(x, row, column), counted from the tile's first element
  template <class F> __device__ void map_at(F f) {
#pragma unroll
    for (int i = 0; i < L::kRegisters; ++i) x[i] = f(x[i], L::row(L::slot(i)), L::column(i));
  }
  // x = f(x, its row's value)
  template <class F> __device__ void map_rows(const Vector& rows, F f) {
#pragma unroll
    for (int i = 0; i < L::kRegisters; ++i) x[i] = f(x[i], rows.x[L::slot(i)]);
  }
  // x = f(x, its column's value); `columns` is aligned to 8 bytes. Only for accumulators of mma.sync and wgmma, whose
  // registers are pairs of neighbouring columns.
  template <class F> __device__ void map_columns(const f32* columns, F f) {
#pragma unroll
    for (int i = 0; i < L::kRegisters; i += 2) {
      const float2 pair = *reinterpret_cast<const float2*>(&columns[L::column(i)]);
      x[i] = f(x[i], pair.x);
      x[i + 1] = f(x[i + 1], pair.y);
    }
  }
  // Folds this lane's part of each row into `into`, in ascending columns; combine_lanes completes the reduction.
  template <class F> __device__ void fold_rows(Vector& into, F f) const {
#pragma unroll
    for (int i = 0; i < L::kRegisters; ++i) into.x[L::slot(i)] = f(into.x[L::slot(i)], x[i]);
  }
  __device__ void add(const RegisterTile& other) {
#pragma unroll
    for (int i = 0; i < L::kRegisters; ++i) x[i] += other.x[i];
  }
  // Adds another tile to the columns from `first` on, a multiple of 8, before the asm statements that follow.
  template <class Part> __device__ void add_columns(int first, const RegisterTile<Part, X>& other) {
#pragma unroll
    for (int i = 0; i < Part::kRegisters; ++i) {
      X& sum = x[L::template within<Part::kColumns>(first, i)];
      sum += other.x[i];
    }
  }
  __device__ void multiply(const RegisterTile& other) {
#pragma unroll
    for (int i = 0; i < L::kRegisters; ++i) x[i] *= other.x[i];
  }

  // Returns the tile in another type of number.
  template <class Y> __device__ auto as() const {
    RegisterTile<L, Y> to;
#pragma unroll
    for (int i = 0; i < L::kRegisters; ++i) to.x[i] = static_cast<Y>(x[i]);
    return to;
  }

  // Returns the N columns from `first` on, a multiple of 8.
  template <int N> __device__ auto columns(int first) const {
    using Part = typename L::template WithColumns<N>;
    RegisterTile<Part, X> part;
#pragma unroll
    for (int i = 0; i < Part::kRegisters; ++i) part.x[i] = x[L::template within<N>(first, i)];
    return part;
  }

  // Puts another tile in place of the columns from `first` on, a multiple of 8.
  template <class Part> __device__ void put_columns(int first, const RegisterTile<Part, X>& other) {
#pragma unroll
    for (int i = 0; i < Part::kRegisters; ++i) x[L::template within<Part::kColumns>(first, i)] = other.x[i];
  }

  // Returns the N rows from `first` on, multiples of 16; only for accumulators of mma.sync.
  template <int N> __device__ auto rows(int first) const {
    RegisterTile<layout::Mma<N, L::kColumns>, X> part;
#pragma unroll
    for (int i = 0; i < N * L::kColumns / 32; ++i) part.x[i] = x[first * L::kColumns / 32 + i];
    return part;
  }

  // Returns the block of 16 rows by 8 columns that one mma.sync updates.
  __device__ X (&block(int i, int j))[4] {
    return *reinterpret_cast<X(*)[4]>(&x[(i * (L::kColumns / 8) + j) * 4]);
  }
};
