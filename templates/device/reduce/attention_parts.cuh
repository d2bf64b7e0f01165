#pragma once
// Attention over parts of the keys, and the parts' results combined in the order of the parts, so that the same parts
// give the same bits.
#include "device/ptx/ex2.cuh"
#include "device/ptx/infinity.cuh"
#include "device/tile/register_tile.cuh"

// Four neighbouring columns of one row.
struct AttentionResult {
  f32 greatest, sum;
  float4 value;

  __device__ void scale(f32 factor) {
    sum *= factor;
    value.x *= factor, value.y *= factor, value.z *= factor, value.w *= factor;
  }
  // Adds a result whose weights are multiplied by `factor`.
  __device__ void add(const AttentionResult& other, f32 factor) {
    sum = fmaf(other.sum, factor, sum);
    value.x = fmaf(other.value.x, factor, value.x), value.y = fmaf(other.value.y, factor, value.y);
    value.z = fmaf(other.value.z, factor, value.z), value.w = fmaf(other.value.w, factor, value.w);
  }
  // Adds a weight that has no value.
  __device__ void add_sink(f32 score) {
    const f32 before = greatest;
    greatest = fmaxf(greatest, score);
    scale(weight(before - greatest));
    sum += weight(score - greatest);
  }
  // Returns e to the power of x.
  __device__ static f32 weight(f32 x) { return ex2(x * kLog2e); }
  // The logarithm of the sum of e^score; minus infinity without keys.
  __device__ f32 log_sum_exp() const { return sum == 0 ? -infinity() : greatest + logf(sum); }
};

// Returns the result of `count` parts, at least one. part(i) is called for ascending i, beyond the last part too, where
// its result has no weight, for Batch parts before any is used.
template <int Batch, class Part> __device__ inline AttentionResult combined(int count, Part part) {
  constexpr f32 kAbsent = -3.0e38F;
  AttentionResult all = {kAbsent, 0, {}};
#pragma unroll 1
  for (int i = 0; i < count; i += Batch) {
    AttentionResult some[Batch];
#pragma unroll
    for (int j = 0; j < Batch; ++j) {
      some[j] = part(i + j);
      if (i + j >= count) some[j].greatest = kAbsent;
    }
    const f32 before = all.greatest;
#pragma unroll
    for (int j = 0; j < Batch; ++j) all.greatest = fmaxf(all.greatest, some[j].greatest);
    all.scale(AttentionResult::weight(before - all.greatest));
#pragma unroll
    for (int j = 0; j < Batch; ++j) all.add(some[j], AttentionResult::weight(some[j].greatest - all.greatest));
  }
  return all;
}

// The results of one part for Rows rows of queries: the greatest score, the sum of the weights e^(score - greatest),
// and the sums of the values by these weights. A row of floats takes Pitch of them; Columns + 8 avoids bank conflicts.
template <int Rows, int Columns, int Pitch = Columns> struct alignas(16) AttentionPart {
  f32 value[Rows][Pitch];
  float2 state[Rows];  // the greatest score and the sum

  // Stores a warp's results of some columns of some rows, from (row, column) on and before `rows`. The vectors have the
  // same value in all lanes of a row. The warp of column 0 stores what the rows' columns share.
  template <class Tile>
  __device__ void store(int row, int column, const Tile& tile, const typename Tile::Vector& most,
                        const typename Tile::Vector& sums, int rows = Rows) {
    using Layout = typename Tile::Layout;
#pragma unroll
    for (int i = 0; i < Layout::kRegisters; i += 2)
      if (row + Layout::row(Layout::slot(i)) < rows)
        *reinterpret_cast<float2*>(&value[row + Layout::row(Layout::slot(i))][column + Layout::column(i)]) =
            make_float2(tile.x[i], tile.x[i + 1]);
#pragma unroll
    for (int s = 0; s < Layout::kRowSlots; ++s)
      if (column == 0 && threadIdx.x % 4 == 0 && row + Layout::row(s) < rows)
        state[row + Layout::row(s)] = make_float2(most.x[s], sums.x[s]);
  }

  // Four neighbouring columns of one row. The thread of column 0 stores what the row's columns share.
  __device__ AttentionResult result(int row, int column) const {
    return {state[row].x, state[row].y, *reinterpret_cast<const float4*>(&value[row][column])};
  }
  __device__ void store(int row, int column, const AttentionResult& result) {
    *reinterpret_cast<float4*>(&value[row][column]) = result.value;
    if (column == 0) state[row] = make_float2(result.greatest, result.sum);
  }
};

// Returns the result of `count` parts, at least one, each `apart` after the one before. Loads Batch parts at a time,
// none of which depends on another.
template <int Batch, int Rows, int Columns, int Pitch>
__device__ inline AttentionResult combined(const AttentionPart<Rows, Columns, Pitch>* parts, int count, int apart,
                                           int row, int column) {
  return combined<Batch>(count, [&](int i) {
    const AttentionResult result = parts->result(row, column);
    if (i + 1 < count) parts += apart;
    return result;
  });
}
