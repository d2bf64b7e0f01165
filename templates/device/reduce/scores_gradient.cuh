#pragma once
// The gradient of scores from that of their softmax or of its logarithm.
#include "device/ptx/ex2.cuh"
#include "device/reduce/row_passes.cuh"

// Of Y = softmax(S): DS = (DY - the row's sum of DY * Y) * Y; with Logarithm of Y = log(softmax(S)): DS = DY - the
// row's sum of DY * exp(Y). Row is a RegisterRow that keeps rows in registers, or reads them again in each pass.
template <bool Logarithm, bool Kept, class Row, class Smem, class T, class O, class H>
__device__ inline void scores_gradient(const View<const T, 2>& Y, const View<const T, 2>& DY, const View<O, 2>& DS,
                                       Row& row, Smem& smem, const H& hooks) {
  typename Row::template Raw<T> y, dy;
  const auto read = [&] {
    y = row.load_raw(Y.data + row.row * Y.stride[0]);
    dy = row.load_raw(DY.data + row.row * DY.stride[0]);
  };
  f32 sum = 0;
  first_pass<Kept>(row, read, [&] {
#pragma unroll
    for (int p = 0; p < Row::kPacks; ++p) {
#pragma unroll
      for (int i = 0; i < Row::kCount; ++i) {
        const f32 gradient = to_f32(dy.pack[p].at(i));
        sum += Logarithm ? gradient : to_f32(y.pack[p].at(i)) * gradient;
      }
    }
  });
  row.wait_for_cluster();
  sum = row.sum(smem, 0, sum);
  next_pass<Kept>(row, read, [&] {
    row.store(DS, [&](int p) {
      return [=, &row, &hooks, &y, &dy](int i) {
        const f32 gradient = to_f32(dy.pack[p].at(i)), result = to_f32(y.pack[p].at(i));
        const f32 ds = Logarithm ? gradient - sum * ex2(result * kLog2e) : (gradient - sum) * result;
        return hooks.output(ds, row.row, row.column_of(p, i));
      };
    });
  });
}
