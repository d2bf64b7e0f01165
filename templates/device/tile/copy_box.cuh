#pragma once
// What `concat` and `split` share: boxes of three dimensions that the blocks of one grid copy, one box after another.
#include "device/tile/copy_row.cuh"

// Extents of a box, outermost first.
struct BoxExtents {
  s64 m, n, k;
};

// Run says which elements are neighbours on both sides: 0 none need be, 1 the k of a row, 2 the n * k of an m. With
// Whole these begin at 16 bytes on both sides and are whole units of 16 bytes. `block` counts from the box's first
// block: where the box has no such block, it is reduced by the box's blocks, and the result is false. Called by all
// threads of a block of 256, of which Lanes share a row.
template <int Run, int Lanes, bool Whole, class T>
__device__ inline bool copy_box(const View<T, 3>& to, const View<const T, 3>& from, const BoxExtents& box, u32& block) {
  constexpr int kRows = 256 / Lanes, kUnit = Run == 0 ? 1 : 16 / sizeof(T);
  const s64 rows = Run == 1 ? box.m * box.n : box.m, columns = Run == 1 ? box.k : box.n * box.k;
  // A grid has less than 2^31 blocks. Unsigned divisions by powers of two are shifts alone.
  const u32 across = static_cast<u32>(ceil_div<u64>(columns, kUnit * Lanes));
  const u32 blocks = static_cast<u32>(ceil_div<u64>(rows, kRows)) * across;
  if (block >= blocks) {
    block -= blocks;
    return false;
  }
  const u32 down = across == 1 ? block : block / across;  // mostly without a division
  const s64 row = s64{down} * kRows + threadIdx.x / Lanes;
  const s64 first = s64{block - down * across} * Lanes + threadIdx.x % Lanes, step = s64{across} * Lanes;
  if (row >= rows) return true;
  const bool narrow = row <= 0xffffffff;  // a division of 32 bits takes a fraction of one of 64
  const s64 m = Run == 1 ? (narrow ? static_cast<u32>(row) / static_cast<u32>(box.n) : row / box.n) : row;
  const s64 n = Run == 1 ? row - m * box.n : 0;
  T* const into = to.data + m * to.stride[0] + n * to.stride[1];
  const T* const of = from.data + m * from.stride[0] + n * from.stride[1];
  if constexpr (Run == 0) {
    for (s64 i = first; i < columns; i += step)
      into[i / box.k * to.stride[1] + i % box.k * to.stride[2]] =
          of[i / box.k * from.stride[1] + i % box.k * from.stride[2]];
  } else if constexpr (Whole) {
    if (first * kUnit < columns) reinterpret_cast<uint4*>(into)[first] = reinterpret_cast<const uint4*>(of)[first];
  } else {
    copy_row(into, of, columns, first, step);
  }
  return true;
}

// The part of a tensor from index `first` of its middle dimension on.
template <class T> __device__ inline View<T, 3> from_middle(const View<T, 3>& all, s64 first) {
  return {all.data + first * all.stride[1], {all.stride[0], all.stride[1], all.stride[2]}};
}
