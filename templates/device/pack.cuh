#pragma once
// Count neighbouring elements that move as one access of up to 16 bytes (several where they are more).
#include "device/types.cuh"

template <class T, int Count> struct alignas(Count * sizeof(T) < 16 ? Count * sizeof(T) : 16) Pack { T x[Count]; };
