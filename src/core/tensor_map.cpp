#include <tma_jit/tensor_map.h>

#include <array>

#include "core/map_types.h"

namespace tma_jit {

std::string_view name_of(MapType type) {
  return kMapTypes[static_cast<std::size_t>(type)].name;
}

std::optional<MapType> map_type_named(std::string_view name) {
  for (const MapTypeRow& row : kMapTypes) {
    if (row.name == name) return row.type;
  }
  return std::nullopt;
}

int bits_of(MapType type) {
  return kMapTypes[static_cast<std::size_t>(type)].bits;
}

bool is_packed(MapType type) {
  return bits_of(type) < 8;
}

MapType map_type_of(DType type) {
  switch (type) {
    case DType::u8:
    case DType::s8:
    case DType::e4m3:
    case DType::e5m2: return MapType::u8;
    case DType::u16:
    case DType::s16: return MapType::u16;
    case DType::u32: return MapType::u32;
    case DType::s32: return MapType::s32;
    case DType::u64: return MapType::u64;
    case DType::s64: return MapType::s64;
    case DType::f16: return MapType::f16;
    case DType::bf16: return MapType::bf16;
    case DType::f32: return MapType::f32;
    case DType::f64: return MapType::f64;
  }
  return MapType::u8;
}

std::string_view name_of(MapMode mode) {
  constexpr std::array<std::string_view, 4> kNames = {"tile", "im2col", "im2col_w", "im2col_w128"};
  return kNames[static_cast<std::size_t>(mode)];
}

std::uint32_t span_of(Swizzle swizzle) {
  constexpr std::array<std::uint32_t, 7> kSpans = {0, 32, 64, 128, 128, 128, 128};
  return kSpans[static_cast<std::size_t>(swizzle)];
}

std::uint32_t atom_of(Swizzle swizzle) {
  constexpr std::array<std::uint32_t, 7> kAtoms = {16, 16, 16, 16, 32, 32, 64};
  return kAtoms[static_cast<std::size_t>(swizzle)];
}

}  // namespace tma_jit
