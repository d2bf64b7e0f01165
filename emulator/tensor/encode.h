// Encoders of tensor maps for the emulator's driver table, with the arguments of cuTensorMapEncodeTiled, -Im2col and
// -Im2colWide (CUDA Driver API 13.0, "Tensor Map Object Management") and enumerators as integers.
#pragma once

#include <string>

#include "emulator/tensor/tensor_map.h"

namespace tma_jit::emulator::tensor {

// The arguments common to all three. `strides` has rank - 1 entries, the other arrays have rank.
struct EncodeArguments {
  u32 data_type = 0;  // CUtensorMapDataType
  u32 rank = 0;
  u64 address = 0;
  const u64* dims = nullptr;
  const u64* strides = nullptr;
  const u32* element_strides = nullptr;
  u32 interleave = 0;  // CUtensorMapInterleave
  u32 swizzle = 0;     // CUtensorMapSwizzle, including its atomicities
  u32 fill = 0;        // CUtensorMapFloatOOBfill
};

// Corners have rank - 2 entries in the order W, H, D; im2col::w has one, W.
struct Im2colBox {
  const int* lower = nullptr;
  const int* upper = nullptr;
  u32 channels = 0;
  u32 pixels = 0;
  bool wide = false;
};

// Both fill `map` and return an empty string, or return the rule that the arguments violate and leave `map` unchanged.
// The driver then returns CUDA_ERROR_INVALID_VALUE.
std::string encode_tiled(const EncodeArguments& arguments, const u32* box, TensorMap& map);
std::string encode_im2col(const EncodeArguments& arguments, const Im2colBox& box, TensorMap& map);

}  // namespace tma_jit::emulator::tensor
