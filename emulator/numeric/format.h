// Element formats of PTX. The small floating-point formats follow the OCP microscaling (MX) and FP8 specifications, as
// PTX ISA 9.0, "Alternate Floating-Point Data Formats", adopts them.
#pragma once

#include <string_view>

#include "emulator/word.h"

namespace tma_jit::emulator::numeric {

enum class Format : u8 {
  b1,
  u4,
  s4,
  u8,
  s8,
  u16,
  s16,
  u32,
  s32,
  u64,
  s64,  // integers, b1 a single bit
  e2m1,
  e2m3,
  e3m2,
  e4m3,
  e5m2,  // floating point, named by exponent and mantissa bits
  ue8m0,
  ue4m3,  // scales: no sign
  f16,
  bf16,
  tf32,
  f32,
  f64
};

// The special values of a floating-point format.
enum class Specials : u8 {
  ieee,     // the top exponent holds infinity and NaNs
  one_nan,  // only all bits set is NaN; no infinity
  none      // every pattern is a finite number
};

// A binary floating-point format. The value of a pattern is (1 + mantissa / 2^m) * 2^(exponent - bias), or
// mantissa / 2^m * 2^(1 - bias) where the exponent is 0.
struct FloatLayout {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  Specials specials;
  bool has_sign;
};

// Returns the name in PTX, e.g. "e4m3".
std::string_view name_of(Format format);
// Returns the number of significant bits: 4 for e2m1, 19 for tf32.
int bits_of(Format format);
// Returns the bytes of a single element in a register or in memory: 1 for e2m1, 4 for tf32.
int container_bytes(Format format);
bool is_float(Format format);
bool is_signed(Format format);
FloatLayout layout_of(Format format);  // of a floating-point format

// Returns the pattern that PTX produces for NaN: 0x7fff for f16 and bf16, 0x7fffffff for f32 and tf32, 0x7f for e4m3
// and e5m2. For formats without NaN it is the largest finite number.
u64 canonical_nan(Format format);
// Returns the pattern of the largest finite magnitude, without sign.
u64 largest_finite(Format format);

}  // namespace tma_jit::emulator::numeric
