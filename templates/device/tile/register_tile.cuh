#pragma once
// A tile of f32 in the registers of a warp, and vectors of one value a row beside it. Loops over them are unrolled: a
// register has no address. Only combine_lanes needs all lanes of the warp together.
#include "device/tile/layout.cuh"

// One value for each of the Slots rows that a lane holds parts of, each of which Lanes neighbouring lanes share.
template <int Slots, int Lanes> struct RowVector {
  f32 x[Slots];

  __device__ void fill(f32 value) {
#pragma unroll
    for (f32& e : x) e = value;
  }
  // x = f(x, the same row's value in another)
  template <class F> __device__ void map(const RowVector& other, F f) {
#pragma unroll
    for (int s = 0; s < Slots; ++s) x[s] = f(x[s], other.x[s]);
  }
  // Combines what the lanes that share a row hold; f is commutative, so all of them get the same bits.
  template <class F> __device__ void combine_lanes(F f) {
#pragma unroll
    for (int distance = 1; distance < Lanes; distance *= 2)
#pragma unroll
      for (f32& e : x) e = f(e, __shfl_xor_sync(0xffffffff, e, distance));
  }
};

template <class L> struct RegisterTile {
  using Layout = L;
  using Vector = RowVector<L::kRowSlots, L::kLanes>;  // of one value a row
  f32 x[L::kRegisters];

  __device__ void fill(f32 value) {
#pragma unroll
    for (f32& e : x) e = value;
  }
  // x = f(x)
  template <class F> __device__ void map(F f) {
#pragma unroll
    for (f32& e : x) e = f(e);
  }
  // x = f(x, row, column), which count from the tile's first element.
  template <class F> __device__ void map_at(F f) {
#pragma unroll
    for (int i = 0; i < L::kRegisters; ++i) x[i] = f(x[i], L::row(L::slot(i)), L::column(i));
  }
  // x = f(x, its row's value)
  template <class F> __device__ void map_rows(const Vector& rows, F f) {
#pragma unroll
    for (int i = 0; i < L::kRegisters; ++i) x[i] = f(x[i], rows.x[L::slot(i)]);
  }
  // Folds this lane's part of each row into `into`, in ascending columns; combine_lanes completes it.
  template <class F> __device__ void fold_rows(Vector& into, F f) const {
#pragma unroll
    for (int i = 0; i < L::kRegisters; ++i) into.x[L::slot(i)] = f(into.x[L::slot(i)], x[i]);
  }
  __device__ void add(const RegisterTile& other) {
#pragma unroll
    for (int i = 0; i < L::kRegisters; ++i) x[i] += other.x[i];
  }
  // The same to the columns from `first` on, as many as the other has.
  template <class Part> __device__ void add_columns(int first, const RegisterTile<Part>& other) {
#pragma unroll
    for (int i = 0; i < Part::kRegisters; ++i) x[L::template within<Part::kColumns>(first, i)] += other.x[i];
  }

  // The N columns from `first` on, a multiple of 8.
  template <int N> __device__ auto columns(int first) const {
    using Part = typename L::template WithColumns<N>;
    RegisterTile<Part> part;
#pragma unroll
    for (int i = 0; i < Part::kRegisters; ++i) part.x[i] = x[L::template within<N>(first, i)];
    return part;
  }

  // The N rows from `first` on, multiples of 16; accumulators of mma.sync only.
  template <int N> __device__ auto rows(int first) const {
    RegisterTile<layout::Mma<N, L::kColumns>> part;
#pragma unroll
    for (int i = 0; i < N * L::kColumns / 32; ++i) part.x[i] = x[first * L::kColumns / 32 + i];
    return part;
  }

  // The block of 16 rows by 8 columns that one mma.sync adds to.
  __device__ f32 (&block(int i, int j))[4] {
    return *reinterpret_cast<f32(*)[4]>(&x[(i * (L::kColumns / 8) + j) * 4]);
  }
};
