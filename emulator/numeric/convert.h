// Conversions between element formats with all roundings and saturations of cvt (PTX ISA 9.0, "cvt"). All arithmetic is
// on integers, so that results depend on neither the host's rounding mode nor its compiler.
#pragma once

#include "emulator/numeric/format.h"

namespace tma_jit::emulator::numeric {

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

// Returns the pattern of `conversion.to` for the pattern `bits` of `conversion.from`, both in the low bits. Integers
// are in two's complement; a narrower integer target keeps the low bits unless it saturates. Conversions from floating
// point to integers always clamp, and convert NaN to 0, or to the target's highest bit alone if the source or the
// target has 64 bits.
u64 convert(const Conversion& conversion, u64 bits);

// Returns the value of a pattern; exact for all formats but 64-bit integers.
double value_of(Format format, u64 bits);
// Returns the pattern nearest to `value`, ties to even, as cvt.rn.
u64 nearest(Format format, double value);

}  // namespace tma_jit::emulator::numeric
