#pragma once
// The rows of one of several sequences that lie one after the other in a tensor, found by offsets on the device.
#include "device/types.cuh"

struct SequenceRows {
  s64 first;
  int count;

  __device__ SequenceRows(s64 first, int count) : first(first), count(count) {}
  // Of sequence b: from offsets[b] to offsets[b + 1], but inside the tensor and at most `most`.
  __device__ SequenceRows(const View<const s32, 1>& offsets, s64 b, s64 rows, s64 most) {
    first = max(s64{0}, min(rows, s64{offsets.data[b * offsets.stride[0]]}));
    const s64 end = max(first, min(rows, s64{offsets.data[(b + 1) * offsets.stride[0]]}));
    count = static_cast<int>(min(end - first, most));
  }
};
