// Tensor maps as the emulator encodes them: the logical fields that cuTensorMapEncode* takes and tensormap.replace
// changes, in the 128 bytes of a CUtensorMap. The real encoding is opaque and never read.
#pragma once

#include <array>

#include "emulator/word.h"

namespace tma_jit::emulator {

struct TensorMap {
  // "TMAP" and a version; what is not a map, or was damaged, does not have it.
  static constexpr u64 kMagic = 0x0001'50414D54'4554U;
  static constexpr std::size_t kBytes = 128;

  enum class Mode : u8 { tile, im2col, im2col_w, im2col_w128 };
  // As CUtensorMapDataType counts.
  enum class Type : u8 {
    uint8,
    uint16,
    uint32,
    int32,
    uint64,
    int64,
    float16,
    float32,
    float64,
    bfloat16,
    float32_ftz,
    tfloat32,
    tfloat32_ftz,
    u4_align8,
    u4_align16,
    u6_align16
  };
  // As CUtensorMapSwizzle counts.
  enum class Swizzle : u8 { none, b32, b64, b128, b128_atom32, b128_atom32_flip8, b128_atom64 };

  u64 magic = 0;
  u64 unused = 0;  // a fix for real drivers clears a bit of the second word
  u64 address = 0;
  std::array<u64, 4> strides{};  // bytes, of dimensions 1 to rank - 1
  std::array<u32, 5> last{};     // extents - 1, innermost first
  std::array<u16, 5> box{};      // elements; im2col: channels and pixels in the first two
  std::array<s16, 3> lower{}, upper{};
  std::array<u8, 5> steps{};  // element strides
  u8 rank = 0;
  Type type = Type::uint8;
  u8 interleave = 0;
  Swizzle swizzle = Swizzle::none;
  bool fill_nan = false;
  Mode mode = Mode::tile;

  u64 extent(std::size_t i) const { return u64{last[i]} + 1; }
};
static_assert(sizeof(TensorMap) <= TensorMap::kBytes);

// How elements lie in memory: `elements` of them are `global` bytes there and `shared` bytes here.
struct ElementUnit {
  u32 elements, global, shared;
};
ElementUnit unit_of(TensorMap::Type type);

// Where a byte of shared memory goes: patterns of 16-byte chunks (of 8 bytes for flip8) that depend on the address.
inline u32 swizzled(u32 address, TensorMap::Swizzle swizzle) {
  switch (swizzle) {
    case TensorMap::Swizzle::none: return address;
    case TensorMap::Swizzle::b32: return address ^ (address >> 3 & 0x10U);
    case TensorMap::Swizzle::b64: return address ^ (address >> 3 & 0x30U);
    case TensorMap::Swizzle::b128: return address ^ (address >> 3 & 0x70U);
    case TensorMap::Swizzle::b128_atom32: return address ^ (address >> 2 & 0x60U);
    case TensorMap::Swizzle::b128_atom32_flip8: return address ^ (address >> 2 & 0x60U) ^ (address >> 4 & 0x08U);
    case TensorMap::Swizzle::b128_atom64: return address ^ (address >> 1 & 0x40U);
  }
  return address;
}
// The pattern's period: what a tile's address must be a multiple of.
u32 period_of(TensorMap::Swizzle swizzle);

}  // namespace tma_jit::emulator
