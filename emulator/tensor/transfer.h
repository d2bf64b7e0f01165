// What copies and reductions do to the bytes, once someone has checked that they may.
#pragma once

#include <optional>

#include "emulator/numeric/format.h"
#include "emulator/tensor/box.h"

namespace tma_jit::emulator::tensor {

enum class Reduction : u8 { add, min, max, inc, dec, bitwise_and, bitwise_or, bitwise_xor };

// The type as which a map's elements are reduced; nothing for formats of less than 16 bits.
std::optional<number::Format> reduced_as(ElementType element);

// Whether cp.reduce.async.bulk[.tensor] has the operation on the type (PTX ISA 9.0, table of its types).
bool has_reduction(Reduction reduction, number::Format format);

// Brings one run of a load into shared memory, which begins at `shared`: a copy from run.global, or the map's fill. The
// types that flush make subnormals zero on the way. NaN fills are the canonical NaN; PTX leaves the pattern open.
void load(const TensorMap& map, const Run& run, u8* shared);

// Combines `bytes` bytes at `target` with those at `source`, element by element: target = op(target, source). f32 sums
// flush subnormals, as reductions in global memory do; f16 and bf16 sums round to nearest even and keep them (.noftz).
void reduce(Reduction reduction, number::Format format, u8* target, const u8* source, u32 bytes);

}  // namespace tma_jit::emulator::tensor
