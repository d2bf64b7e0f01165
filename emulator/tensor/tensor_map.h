// The emulator's tensor map. The device's format is opaque (CUDA Driver API 13.0, "Tensor Map Object Management"); this
// one has the same size, the fields that PTX names in tensormap.replace, and a magic number. Kernels may copy it,
// replace its fields and pass it on as bytes.
#pragma once

#include <array>

#include "emulator/word.h"

namespace tma_jit::emulator::tensor {

// In the order of .elemtype of tensormap.replace (PTX ISA 9.0, table "tensormap.replace new_val").
enum class ElementType : u8 {
  u8,
  u16,
  u32,
  s32,
  u64,
  s64,
  f16,
  f32,
  f32_ftz,
  f64,
  bf16,
  tf32,
  tf32_ftz,
  b4x16,
  b4x16_p64,
  b6x16_p32
};
enum class Interleave : u8 { none, b16, b32 };
enum class SwizzleMode : u8 { none, b32, b64, b128 };
enum class Atomicity : u8 { b16, b32, b32_flip_b8, b64 };  // of the 128-byte mode
enum class Fill : u8 { zero, nan };
enum class Walk : u8 { tile, im2col, im2col_wide };

inline constexpr u32 kMagic = 0x70616d74;  // "tmap"
inline constexpr int kMaxRank = 5;

// Elements of dimension 0 are contiguous.
struct TensorMap {
  u32 magic;
  ElementType element;
  u8 rank;
  Interleave interleave;
  SwizzleMode swizzle;
  Atomicity atomicity;
  Fill fill;
  Walk walk;
  u8 flags;      // reserved, 0
  u16 channels;  // im2col: elements of dimension 0 per pixel
  u16 pixels;    // im2col: pixels per column
  u64 address;
  std::array<u64, kMaxRank> dims;         // elements
  std::array<u64, kMaxRank - 1> strides;  // bytes, of dimensions 1 to rank - 1
  std::array<u16, kMaxRank> box;          // elements
  std::array<u8, kMaxRank> element_strides;
  std::array<u8, 1> padding;
  std::array<s16, 3> lower;  // im2col: corners of the bounding box in W, H, D
  std::array<s16, 3> upper;
};
static_assert(sizeof(TensorMap) == 128);

// The fields that tensormap.replace may change.
enum class Field : u8 {
  global_address,
  rank,
  box_dim,
  global_dim,
  global_stride,
  element_stride,
  elemtype,
  interleave_layout,
  swizzle_mode,
  swizzle_atomicity,
  fill_mode
};

int element_bits(ElementType element);  // 4 for b4x16
// Bytes between elements in global memory; 0 for packed formats.
int element_bytes(ElementType element);

// Reads the map from 128 bytes. Throws a tensor_map fault if they hold no map, or one that no instruction may use.
TensorMap read_map(const void* bytes);

// Performs one tensormap.replace on 128 bytes. They must hold an encoded map or zeros, which become a map. `rank` is
// encoded as in PTX, less one.
void replace(void* bytes, Field field, u32 ordinal, u64 value);

// Returns the first rule of the encoders that the map violates, as a sentence; empty if there is none.
const char* broken_rule(const TensorMap& map);

// Bytes of the range within which the swizzle moves chunks; 0 for none.
u32 swizzle_span(const TensorMap& map);

}  // namespace tma_jit::emulator::tensor
