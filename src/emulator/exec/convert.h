// Conversions of one value, by the exact value: every type, rounding and saturation of cvt. PTX ISA 9.0, "cvt".
#pragma once

#include "emulator/exec/program.h"

namespace tma_jit::emulator {

enum class Rounding : u8 { nearest_even, zero, down, up, nearest_away };

// A binary floating-point format of at most 64 bits.
struct FloatFormat {
  u8 bits, mantissa;  // explicit mantissa bits
  int bias;
  bool infinity;  // has one; else the largest pattern but NaN's is a number
  bool nan;
};
inline constexpr FloatFormat kF64{64, 52, 1023, true, true};
inline constexpr FloatFormat kF32{32, 23, 127, true, true};
inline constexpr FloatFormat kTf32{32, 23, 127, true, true};  // rounded to 10 bits of mantissa by its conversion
inline constexpr FloatFormat kF16{16, 10, 15, true, true};
inline constexpr FloatFormat kBf16{16, 7, 127, true, true};
inline constexpr FloatFormat kE5m2{8, 2, 15, true, true};
inline constexpr FloatFormat kE4m3{8, 3, 7, false, true};
inline constexpr FloatFormat kE3m2{6, 2, 3, false, false};
inline constexpr FloatFormat kE2m3{6, 3, 1, false, false};
inline constexpr FloatFormat kE2m1{4, 1, 1, false, false};

long double decode_float(u64 bits, const FloatFormat& format);
// `finite`: values beyond the largest become the largest. NaN is the format's canonical one.
u64 encode_float(long double value, const FloatFormat& format, Rounding rounding, bool finite);
const FloatFormat* format_of(ptx::Type type);  // null for integers

struct Conversion : FormData {
  ptx::Type from = ptx::Type::none, to = ptx::Type::none;
  Rounding rounding = Rounding::nearest_even;
  bool integral = false;  // rounds to an integer: .rni and its like
  bool saturate = false, finite = false, flush = false, relu = false;
  u64 convert(u64 bits) const;

 private:
  u64 from_integer(u64 bits) const;
  u64 from_float(long double value) const;
};

}  // namespace tma_jit::emulator
