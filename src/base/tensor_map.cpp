#include <tma_jit/tensor_map.h>

#include <array>

namespace tma_jit {
namespace {

struct Row {
  MapType type;
  std::string_view name;
  int bits;
};

constexpr std::array kRows = {
    Row{MapType::u8, "u8", 8},
    Row{MapType::u16, "u16", 16},
    Row{MapType::u32, "u32", 32},
    Row{MapType::s32, "s32", 32},
    Row{MapType::u64, "u64", 64},
    Row{MapType::s64, "s64", 64},
    Row{MapType::f16, "f16", 16},
    Row{MapType::f32, "f32", 32},
    Row{MapType::f64, "f64", 64},
    Row{MapType::bf16, "bf16", 16},
    Row{MapType::f32_ftz, "f32_ftz", 32},
    Row{MapType::tf32, "tf32", 32},
    Row{MapType::tf32_ftz, "tf32_ftz", 32},
    Row{MapType::b4x16, "b4x16", 4},
    Row{MapType::b4x16_p64, "b4x16_p64", 4},
    Row{MapType::b6x16_p32, "b6x16_p32", 6},
};

}  // namespace

std::string_view name_of(MapType type) {
  return kRows[static_cast<std::size_t>(type)].name;
}

std::optional<MapType> map_type_named(std::string_view name) {
  for (const Row& row : kRows) {
    if (row.name == name) return row.type;
  }
  return std::nullopt;
}

int bits_of(MapType type) {
  return kRows[static_cast<std::size_t>(type)].bits;
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
