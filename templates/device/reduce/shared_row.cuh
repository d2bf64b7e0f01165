#pragma once
// A row of numbers of which each block of a cluster has a range of packs: kept in shared memory, or computed from
// global memory in each pass. Each thread has every Threads-th pack of its block.
#include "device/ptx/cvt.cuh"
#include "device/ptx/infinity.cuh"
#include "device/reduce/aligned_row.cuh"
#include "device/reduce/prefix.cuh"

// F(x, column) gives the number of an element.
template <class T, int Threads, bool Kept, class F> struct SharedRow {
  static constexpr int kCount = AlignedRow<T>::kCount, kQuads = kCount / 4;
  static constexpr int kLoads = 4;  // of a thread in flight

  const AlignedRow<T>& row;
  const F& number;
  float4* kept;      // packs * kQuads
  int first, packs;  // of the block

  __device__ SharedRow(const AlignedRow<T>& row, const F& number, void* kept, int rank, int blocks)
      : row(row), number(number), kept(static_cast<float4*>(kept)) {
    const int all = static_cast<int>(row.packs), each = ceil_div(all, blocks);
    first = min(rank * each, all);
    packs = min(each, all - first);
  }

  // The numbers of pack p of the block, whose elements these are; minus infinity beyond the ends of the row.
  __device__ void compute(int p, const Elements<T>& elements, f32 (&x)[kCount]) const {
    if (row.has_whole(first + p, first + p)) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) x[i] = number(to_f32(elements[i]), column(p, i));
      return;
    }
    const PackRange range = row.range(first + p);
#pragma unroll
    for (int i = 0; i < kCount; ++i) x[i] = range.has(i) ? number(to_f32(elements[i]), column(p, i)) : -infinity();
  }
  __device__ int column(int p, int i) const {
    return static_cast<int>(row.index_of(first + p, i));
  }

  // The same as they are kept.
  __device__ void load(int p, f32 (&x)[kCount]) const {
    if constexpr (Kept) {
#pragma unroll
      for (int q = 0; q < kQuads; ++q) *reinterpret_cast<float4*>(&x[q * 4]) = kept[q * packs + p];
    } else {
      compute(p, row.load(first + p), x);
    }
  }

  // Calls f(x) for each number of the thread's packs; the first time, which keeps them, and after a barrier of the
  // block later.
  template <class Each> __device__ void first_pass(Each f) const {
    for (int base = threadIdx.x; base < packs; base += kLoads * Threads) {
      Elements<T> elements[kLoads];
#pragma unroll
      for (int u = 0; u < kLoads; ++u)
        if (base + u * Threads < packs) elements[u] = row.load(first + base + u * Threads);
#pragma unroll
      for (int u = 0; u < kLoads; ++u) {
        const int p = base + u * Threads;
        if (p >= packs) continue;
        alignas(16) f32 x[kCount];
        compute(p, elements[u], x);
#pragma unroll
        for (int q = 0; q < kQuads; ++q)
          if constexpr (Kept) kept[q * packs + p] = *reinterpret_cast<const float4*>(&x[q * 4]);
#pragma unroll
        for (const f32 y : x) f(y);
      }
    }
  }
  template <class Each> __device__ void next_pass(Each f) const {
    next_pass_at([&](f32 x, int, int) { f(x); });
  }
  // The same with f(x, p, i) for element i of pack p, whose column is column(p, i).
  template <class Each> __device__ void next_pass_at(Each f) const {
    Elements<T> next;
    if (!Kept && threadIdx.x < packs) next = row.load(first + threadIdx.x);
#pragma unroll 1
    for (int p = threadIdx.x; p < packs; p += Threads) {
      alignas(16) f32 x[kCount];
      if constexpr (Kept) {
        load(p, x);
      } else {
        const Elements<T> elements = next;
        if (p + Threads < packs) next = row.load(first + p + Threads);
        compute(p, elements, x);
      }
#pragma unroll
      for (int i = 0; i < kCount; ++i) f(x[i], p, i);
    }
  }

  // The sum of measure(x) over packs that follow each other, which are the thread's for find_position.
  template <class Measure> __device__ u64 sum_in_order(Measure measure) const {
    u64 sum = 0;
#pragma unroll 1
    for (int p = begin(); p < end(); ++p) {
      alignas(16) f32 x[kCount];
      load(p, x);
#pragma unroll
      for (const f32 y : x) sum += measure(y);
    }
    return sum;
  }
  // Calls found(column, x) in the thread that has the block's first number up to and with which the measures add up to
  // more than `target`, if those of all do. `sum` is what sum_in_order returned. Called by all threads of the block;
  // `partial` may be reused after another barrier.
  template <class Measure, class Found>
  __device__ void find_position(u64 (&partial)[Threads / 32], u64 sum, u64 target, Measure measure, Found found) const {
    u64 before = block_prefix<Threads>(sum, partial).before;
    if (target < before || target - before >= sum) return;
    for (int p = begin(); p < end(); ++p) {
      alignas(16) f32 x[kCount];
      load(p, x);
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        const u64 upto = before + measure(x[i]);
        if (before <= target && target < upto) found(column(p, i), x[i]);
        before = upto;
      }
    }
  }

 private:
  // The packs of a thread in order: as many of each, an odd number, so that neighbouring threads read from different
  // banks.
  __device__ int each() const {
    return ceil_div(packs, Threads) | 1;
  }
  __device__ int begin() const {
    return threadIdx.x * each();
  }
  __device__ int end() const {
    return min(packs, begin() + each());
  }
};
