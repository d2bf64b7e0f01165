// The effects of copies and reductions on memory. The caller has checked the accesses.
#pragma once

#include <optional>

#include "emulator/numeric/format.h"
#include "emulator/tensor/box.h"

namespace tma_jit::emulator::tensor {

enum class Reduction : u8 { add, min, max, inc, dec, bitwise_and, bitwise_or, bitwise_xor };

// Returns the type in which a map's elements are reduced; nullopt for formats of less than 16 bits.
std::optional<numeric::Format> reduced_as(ElementType element);

// Returns whether cp.reduce.async.bulk[.tensor] supports the operation on the type (PTX ISA 9.0, table of its types).
bool has_reduction(Reduction reduction, numeric::Format format);

// Performs one run of a load at `shared`: a copy from run.global, or the map's fill. Types that flush convert
// subnormals to zero. NaN fills use the canonical NaN; PTX leaves the pattern unspecified.
void load(const TensorMap& map, const Run& run, u8* shared);

// Combines `bytes` bytes element by element: target = op(target, source). f32 sums flush subnormals, as reductions in
// global memory do; f16 and bf16 sums round to nearest even and keep subnormals (.noftz).
void reduce(Reduction reduction, numeric::Format format, u8* target, const u8* source, u32 bytes);

}  // namespace tma_jit::emulator::tensor
