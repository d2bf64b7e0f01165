#pragma once
// A list of tensors that a template declares: one parameter of the kernel.
#include "device/types.cuh"

// Count entries, as many as the list's param counts at most; Entry is View or CUtensorMap. An entry that the request
// does not give is zero.
template <class Entry, int Count> struct TensorList {
  Entry entry[Count];
  __device__ const Entry& operator[](int i) const { return entry[i]; }
};
