#pragma once
// The float64 product of two matrices, for references. T, U, O, TERMS and Dims are the template's.
#include "device/ptx/cvt.cuh"
#include "device/ptx/text.cuh"

#ifdef TMA_JIT_REFERENCE
// Returns an element of A or B as the units read it: f32 as one tf32, without the low 13 bits.
template <class X> __device__ inline f64 operand(X x) {
  if constexpr (ptx::kSame<X, f32> && TERMS == 1)
    return __uint_as_float(__float_as_uint(x) & 0xffffe000);
  else
    return to_f64(x);
}

// Returns a result within the range of O, where conversions to it saturate; as s8 it is rounded too.
__device__ inline f64 saturated(f64 x) {
  if constexpr (ptx::kSame<O, s8>) return isnan(x) ? 0 : fmin(fmax(rint(x), -128.0), 127.0);
  if constexpr (ptx::kSame<O, e4m3>) return isnan(x) ? x : fmin(fmax(x, -448.0), 448.0);
  return x;
}

// A thread computes a patch of D at a time, each element in ascending k. Rows and columns past the end repeat the last
// one and are not stored.
struct Patch {
  static constexpr int kSide = 4;
  s64 row, column;
  f64 sum[kSide][kSide];
};

__device__ inline void sum_patch(Patch& patch, const View<const T, 2>& A, const View<const U, 2>& B, const Dims& dims) {
  const T* a[Patch::kSide];
  const U* b[Patch::kSide];
  for (int i = 0; i < Patch::kSide; ++i) {
    const s64 row = patch.row + i, column = patch.column + i;
    a[i] = A.data + (row < dims.M ? row : dims.M - 1) * A.stride[0];
    b[i] = B.data + (column < dims.N ? column : dims.N - 1) * B.stride[0];
  }
  for (s64 k = 0; k < dims.K; ++k) {
    f64 x[Patch::kSide], y[Patch::kSide];
    for (int i = 0; i < Patch::kSide; ++i) {
      x[i] = operand(*a[i]);
      y[i] = operand(*b[i]);
      a[i] += A.stride[1];
      b[i] += B.stride[1];
    }
    for (int i = 0; i < Patch::kSide; ++i)
      for (int j = 0; j < Patch::kSide; ++j) patch.sum[i][j] += x[i] * y[j];
  }
}

// D = epilogue(A * B^T, row, column), of which each thread of the grid computes some patches.
template <class F>
__device__ inline void multiply_patches(const View<const T, 2>& A, const View<const U, 2>& B, const View<f64, 2>& D,
                                        const Dims& dims, F epilogue) {
  const s64 across = (s64{dims.N} + Patch::kSide - 1) / Patch::kSide;
  const s64 count = (s64{dims.M} + Patch::kSide - 1) / Patch::kSide * across;
  for (s64 index = s64{blockIdx.x} * blockDim.x + threadIdx.x; index < count; index += s64{gridDim.x} * blockDim.x) {
    Patch patch = {index / across * Patch::kSide, index % across * Patch::kSide};
    sum_patch(patch, A, B, dims);
    for (int i = 0; i < Patch::kSide; ++i) {
      for (int j = 0; j < Patch::kSide; ++j) {
        const s64 row = patch.row + i, column = patch.column + j;
        if (row >= dims.M || column >= dims.N) continue;
        const auto x = epilogue(patch.sum[i][j], static_cast<s32>(row), static_cast<s32>(column));
        D.data[row * D.stride[0] + column * D.stride[1]] = saturated(x);
      }
    }
  }
}
#endif
