#pragma once
// Rows of a matrix that threads keep in registers between reading and writing them. A row belongs to a warp, a block or
// the blocks of a cluster; each of its threads holds Packs packs of Count adjacent elements.
#include "device/reduce/block.cuh"
#include "device/reduce/cluster.cuh"
#include "device/tile/pack.cuh"

// Shared memory of as many reductions; each is used once by a launch.
template <int Threads, int Cluster, int Reductions> struct RowSmem {
  f32 warps[Reductions][Threads / 32], blocks[Reductions][Cluster];
};

// Lanes of the block's Threads threads share a row: 32, or all of them, which a cluster of more than one block
// requires. Blocks are counted along x.
template <int Threads, int Lanes, int Cluster, int Count, int Packs> struct RegisterRow {
  static_assert(Lanes == 32 || Lanes == Threads);
  static_assert(Cluster == 1 || Lanes == Threads);
  static constexpr int kStep = Lanes * Cluster * Count;  // columns from one pack of a thread to its next

  int row, column;  // of this thread's first element
  int left;         // elements of the row from `column` on; 0 or fewer where the thread holds none
  f32 x[Packs * Count];

  __device__ RegisterRow(int rows, int columns) {
    row = blockIdx.x / Cluster * (Threads / Lanes) + threadIdx.x / Lanes;
    column = (threadIdx.x % Lanes + (Cluster == 1 ? 0 : cluster::rank()) * Lanes) * Count;
    left = row < rows ? columns - column : 0;
  }

  // Of element i of pack p: its column, and whether the row has it.
  __device__ int column_of(int p, int i) const { return column + p * kStep + i; }
  __device__ bool holds(int p, int i) const { return p * kStep + i < left; }

  // Sets x to f(element, column) and, beyond the end of the row, to `outside`.
  template <class T, class F> __device__ void load(const View<const T, 2>& from, f32 outside, F f) {
    const T* const at = from.data + row * from.stride[0] + column;
#pragma unroll
    for (int p = 0; p < Packs; ++p) {
      const Pack<T, Count> in = load_pack<Count>(at + p * kStep, left - p * kStep);
#pragma unroll
      for (int i = 0; i < Count; ++i) {
        x[p * Count + i] = holds(p, i) ? f(to_f32(in.x[i]), column_of(p, i)) : outside;
      }
    }
  }

  // Stores, as element i of pack p, what f(p)(i) returns: f(p) loads what belongs to a pack, one pack at a time.
  template <class O, class F> __device__ void store(const View<O, 2>& to, F f) const {
#pragma unroll
    for (int p = 0; p < Packs; ++p) {
      const auto element = f(p);
      Pack<O, Count> out;
#pragma unroll
      for (int i = 0; i < Count; ++i) out.x[i] = from_f32<O>(element(i));
      store_pack(&to.data[row * to.stride[0] + column + p * kStep], out, left - p * kStep);
    }
  }
  // Stores x.
  template <class O> __device__ void store(const View<O, 2>& to) const {
    store(to, [this](int p) { return [this, p](int i) { return x[p * Count + i]; }; });
  }

  // Loads the elements of a vector in the columns of pack p; 0 beyond its end.
  template <class T> __device__ Pack<T, Count> load_vector(const View<const T, 1>& from, int p) const {
    return load_pack<Count>(from.data + column + p * kStep, left - p * kStep);
  }

  // Combines one value of each thread of the row into one that all get. `turn` numbers the reductions of a launch.
  template <int Reductions, class F>
  __device__ f32 reduce(RowSmem<Threads, Cluster, Reductions>& smem, int turn, f32 value, f32 neutral, F f) const {
    if constexpr (Lanes == 32) return warp_reduce(value, f);
    return cluster_reduce(block_reduce<Threads>(value, smem.warps[turn], neutral, f), smem.blocks[turn], f);
  }
  template <int Reductions> __device__ f32 sum(RowSmem<Threads, Cluster, Reductions>& smem, int turn, f32 value) const {
    return reduce(smem, turn, value, 0.0F, [](f32 a, f32 b) { return a + b; });
  }
  template <int Reductions> __device__ f32 max(RowSmem<Threads, Cluster, Reductions>& smem, int turn) const {
    const f32 none = __int_as_float(0xff800000);
    f32 most = none;
#pragma unroll
    for (const f32 e : x) most = fmaxf(most, e);
    return reduce(smem, turn, most, none, [](f32 a, f32 b) { return fmaxf(a, b); });
  }

  // The logarithm of the sum of exp(x) over the row, whose elements beyond the end are minus infinity. The greatest
  // element is taken out of the sum first, which so neither overflows nor vanishes.
  __device__ f32 log_sum_exp(RowSmem<Threads, Cluster, 2>& smem) const {
    const f32 log2e = 1.44269504F, most = max(smem, 0);
    f32 rest = 0;
#pragma unroll
    for (const f32 e : x) rest += exp2f((e - most) * log2e);
    return most + logf(sum(smem, 1, rest));
  }
};
