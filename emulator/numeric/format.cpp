#include "emulator/numeric/format.h"

#include <array>

namespace tma_jit::emulator::numeric {
namespace {

struct Row {
  std::string_view name;
  int bits;
  int container;
  bool has_sign;
};

constexpr std::array<Row, 23> kRows = {{
    {"b1", 1, 1, false},   {"u4", 4, 1, false},    {"s4", 4, 1, true},     {"u8", 8, 1, false},  {"s8", 8, 1, true},
    {"u16", 16, 2, false}, {"s16", 16, 2, true},   {"u32", 32, 4, false},  {"s32", 32, 4, true}, {"u64", 64, 8, false},
    {"s64", 64, 8, true},  {"e2m1", 4, 1, true},   {"e2m3", 6, 1, true},   {"e3m2", 6, 1, true}, {"e4m3", 8, 1, true},
    {"e5m2", 8, 1, true},  {"ue8m0", 8, 1, false}, {"ue4m3", 7, 1, false}, {"f16", 16, 2, true}, {"bf16", 16, 2, true},
    {"tf32", 32, 4, true}, {"f32", 32, 4, true},   {"f64", 64, 8, true},
}};

const Row& row_of(Format format) {
  return kRows[static_cast<std::size_t>(format)];
}

}  // namespace

std::string_view name_of(Format format) {
  return row_of(format).name;
}
int bits_of(Format format) {
  return row_of(format).bits;
}
int container_bytes(Format format) {
  return row_of(format).container;
}
bool is_float(Format format) {
  return format >= Format::e2m1;
}
bool is_signed(Format format) {
  return row_of(format).has_sign;
}

FloatLayout layout_of(Format format) {
  switch (format) {
    case Format::e2m1: return {2, 1, 1, Specials::none, true};
    case Format::e2m3: return {2, 3, 1, Specials::none, true};
    case Format::e3m2: return {3, 2, 3, Specials::none, true};
    case Format::e4m3: return {4, 3, 7, Specials::one_nan, true};
    case Format::e5m2: return {5, 2, 15, Specials::ieee, true};
    case Format::ue8m0: return {8, 0, 127, Specials::one_nan, false};
    case Format::ue4m3: return {4, 3, 7, Specials::one_nan, false};
    case Format::f16: return {5, 10, 15, Specials::ieee, true};
    case Format::bf16: return {8, 7, 127, Specials::ieee, true};
    case Format::tf32: return {8, 10, 127, Specials::ieee, true};
    case Format::f64: return {11, 52, 1023, Specials::ieee, true};
    default: return {8, 23, 127, Specials::ieee, true};
  }
}

u64 canonical_nan(Format format) {
  switch (format) {
    case Format::ue8m0: return 0xff;
    case Format::f64: return 0x7fffffffffffffff;
    case Format::tf32: return 0x7fffffff;
    default: {
      const FloatLayout layout = layout_of(format);
      return (u64{1} << (layout.exponent_bits + layout.mantissa_bits)) - 1;
    }
  }
}

u64 largest_finite(Format format) {
  const FloatLayout layout = layout_of(format);
  const u64 all = (u64{1} << (layout.exponent_bits + layout.mantissa_bits)) - 1;
  const u64 finite = layout.specials == Specials::ieee      ? all - (u64{1} << layout.mantissa_bits)
                     : layout.specials == Specials::one_nan ? all - 1
                                                            : all;
  return format == Format::tf32 ? finite << 13 : finite;
}

}  // namespace tma_jit::emulator::numeric
