// The element types of tensor maps, one row each, for the host, the driver, devices and the emulator. The driver
// (CUtensorMapDataType) numbers them as MapType does; PTX puts f32_ftz before f64 (PTX ISA 9.0, "tensormap.replace",
// .elemtype).
#pragma once

#include <array>
#include <string_view>

#include <tma_jit/tensor_map.h>

namespace tma_jit {

struct MapTypeRow {
  MapType type;
  std::string_view name;
  int bits;       // of an element in global memory
  int ptx;        // the value of .elemtype
  bool floating;  // whether it may be filled with NaN
};

// Indexed by MapType.
inline constexpr std::array kMapTypes = {
    MapTypeRow{MapType::u8, "u8", 8, 0, false},
    MapTypeRow{MapType::u16, "u16", 16, 1, false},
    MapTypeRow{MapType::u32, "u32", 32, 2, false},
    MapTypeRow{MapType::s32, "s32", 32, 3, false},
    MapTypeRow{MapType::u64, "u64", 64, 4, false},
    MapTypeRow{MapType::s64, "s64", 64, 5, false},
    MapTypeRow{MapType::f16, "f16", 16, 6, true},
    MapTypeRow{MapType::f32, "f32", 32, 7, true},
    MapTypeRow{MapType::f64, "f64", 64, 9, true},
    MapTypeRow{MapType::bf16, "bf16", 16, 10, true},
    MapTypeRow{MapType::f32_ftz, "f32_ftz", 32, 8, true},
    MapTypeRow{MapType::tf32, "tf32", 32, 11, true},
    MapTypeRow{MapType::tf32_ftz, "tf32_ftz", 32, 12, true},
    MapTypeRow{MapType::b4x16, "b4x16", 4, 13, false},
    MapTypeRow{MapType::b4x16_p64, "b4x16_p64", 4, 14, false},
    MapTypeRow{MapType::b6x16_p32, "b6x16_p32", 6, 15, false},
};

constexpr bool counted_in_order() {
  for (std::size_t i = 0; i < kMapTypes.size(); ++i) {
    if (static_cast<std::size_t>(kMapTypes[i].type) != i) return false;
  }
  return true;
}
static_assert(counted_in_order());

}  // namespace tma_jit
