#pragma once
// What the heads of attention have a number of each: the scales of their queries, keys and values, if SCALED, and their
// sinks, if SINKS; both are the template's. The tensors of others are empty.
#include "device/ptx/infinity.cuh"

struct HeadNumbers {
  View<const f32, 1> SQ, SK, SV, SINK;
  int sinks;  // heads that have a sink of their own; the following have the same again

  // Returns what products of a head's queries and keys are multiplied by.
  __device__ f32 product_scale(f32 scale, s64 head, s64 kv_head) const {
    if constexpr (SCALED == 1) {
      if (SQ.data != nullptr) scale *= SQ.data[head * SQ.stride[0]];
      scale *= SK.data[kv_head * SK.stride[0]];
    }
    return scale;
  }
  __device__ f32 query_scale(s64 head) const { return SCALED == 1 ? SQ.data[head * SQ.stride[0]] : 1; }
  __device__ f32 key_scale(s64 kv_head) const { return SCALED == 1 ? SK.data[kv_head * SK.stride[0]] : 1; }
  __device__ f32 value_scale(s64 kv_head) const { return SCALED == 1 ? SV.data[kv_head * SV.stride[0]] : 1; }
  // Returns the score of a head's sink, minus infinity where there are none.
  __device__ f32 sink(int head) const { return SINKS == 1 ? SINK.data[head % sinks * SINK.stride[0]] : -infinity(); }
};
