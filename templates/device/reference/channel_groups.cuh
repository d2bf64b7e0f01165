#pragma once
// What the float64 references of norms over groups of channels share.
//
// What these kernels share of their manifests, which `use` this:
//! type    T       = bf16  in {f32, bf16, f16}      "elements of X, W and B"
//! dim     N, C, S         in 0..2147483647         "batch, channels, and elements of a channel, such as height times width"
//! dim     G               in 1..65536              "groups"
//!
//! param   AFFINE  = 2     in {0, 1, 2}             "1: there is a W; 2: and a B"
//!
//! let     COUNT   = 16 / sizeof(T)                 "elements of a pack, which is read at once"
//! let     LENGTH  = C / G * S                      "elements of a group, which are neighbours"
//!
//! require C % G == 0                               "every group has as many channels"
//! require LENGTH <= 2147483647 && N * G <= 2147483647 "groups and the elements of one are counted in 31 bits"
//! require N == 0 || S == 0 || ((S == 1 || stride(X, 2) == 1) && (C <= 1 || stride(X, 1) == S)) "elements of a group of X are neighbours"
//!
//! tensor  X : T[N, C, S]
//! tensor  W : T[C]  when AFFINE >= 1
//! tensor  B : T[C]  when AFFINE >= 2
//! scalar  eps : f32 = 0.00001
//!
//! hook    input(f32 x, s32 n, s32 c, s32 s) : f32 = x   "applied to each element first"
#include "device/reference/row_reduce.cuh"

// A group of channels, whose mean and variance all threads of a block find. operator()(j) is its element j, normalised.
template <int Affine, class T> struct ReferenceGroup {
  const View<const T, 3>& X;
  const View<const T, 1>&W, &B;
  const Dims& dims;
  const Hooks& hooks;
  s64 n, first, length;  // its batch and first channel, and its elements
  f64 mean, deviation;

  __device__ ReferenceGroup(s64 group, const View<const T, 3>& X, const View<const T, 1>& W, const View<const T, 1>& B,
                            f32 eps, const Dims& dims, const Hooks& hooks)
      : X(X), W(W), B(B), dims(dims), hooks(hooks) {
    n = group / dims.G, first = group % dims.G * (dims.C / dims.G), length = s64{dims.C / dims.G} * dims.S;
    mean = row_sum(length, [&](s64 j) { return input(j); }) / length;
    const auto square = [&](s64 j) { return (input(j) - mean) * (input(j) - mean); };
    deviation = sqrt(row_sum(length, square) / length + eps);
  }

  __device__ s64 channel(s64 j) const { return first + j / dims.S; }
  __device__ f64 operator()(s64 j) const {
    f64 y = (input(j) - mean) / deviation;
    if (Affine >= 1) y *= to_f64(W.data[channel(j) * W.stride[0]]);
    if (Affine >= 2) y += to_f64(B.data[channel(j) * B.stride[0]]);
    return y;
  }

 private:
  __device__ f64 input(s64 j) const {
    const s64 c = channel(j), s = j % dims.S;
    return hooks.input(to_f64(X.data[n * X.stride[0] + c * X.stride[1] + s * X.stride[2]]), n, c, s);
  }
};
