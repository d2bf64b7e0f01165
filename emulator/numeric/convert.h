// Conversions between element formats with every rounding and saturation that PTX's cvt has (PTX ISA 9.0, "cvt"). All
// arithmetic is on integers: results depend on neither the host's rounding mode nor its compiler.
#pragma once

#include "emulator/numeric/format.h"

namespace tma_jit::emulator::number {

enum class Rounding : u8 {
  nearest_even,  // rn, rni
  zero,          // rz, rzi
  down,          // rm, rmi: towards minus infinity
  up,            // rp, rpi: towards plus infinity
  nearest_away   // rna: ties away from zero
};

struct Conversion {
  Format from = Format::f32;
  Format to = Format::f32;
  Rounding rounding = Rounding::nearest_even;
  bool integral = false;  // rni, rzi, rmi, rpi between floating-point formats: to an integral value
  bool flush = false;     // .ftz: subnormal f32 sources and results become zero of their sign
  bool saturate = false;  // .sat: floating point to [0, 1], NaN to 0; integers to the target's range
  bool finite = false;    // .satfinite: the largest finite number instead of infinity, canonical NaN kept
  bool relu = false;      // .relu: negative results become 0, NaN the canonical NaN
};

// The pattern of `conversion.to`, in its low bits, of the pattern `bits` of `conversion.from`. Integers are taken and
// given in two's complement; a narrower integer target keeps the low bits unless it saturates. Conversions from
// floating point to integers always clamp, and turn NaN into 0, or where the source or the target has 64 bits into the
// target's highest bit alone.
u64 convert(const Conversion& conversion, u64 bits);

// The value of a floating-point or integer pattern; exact for every format but 64-bit integers.
double value_of(Format format, u64 bits);
// The nearest pattern of `value`, ties to even, as cvt.rn would give it.
u64 nearest(Format format, double value);

}  // namespace tma_jit::emulator::number
