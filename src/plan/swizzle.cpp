#include "plan/swizzle.h"

namespace tma_jit::plan {
namespace {

// The bits of an offset that contain the number of the piece, and the distance to the bits of the line number with
// which they are combined by XOR.
struct Pattern {
  std::uint32_t pieces = 0;
  int distance = 0;
};

constexpr std::uint32_t kLine = 128;  // bytes of shared memory in one row of all banks

Pattern pattern_of(Swizzle swizzle) {
  switch (swizzle) {
    case Swizzle::none: return {};
    case Swizzle::b32: return {0x10, 3};
    case Swizzle::b64: return {0x30, 3};
    case Swizzle::b128: return {0x70, 3};
    case Swizzle::b128_atom_b32:
    case Swizzle::b128_atom_b32_flip_b8: return {0x60, 2};
    case Swizzle::b128_atom_b64: return {0x40, 1};
  }
  return {};
}

}  // namespace

std::uint32_t swizzled(Swizzle swizzle, std::uint32_t offset) {
  const Pattern pattern = pattern_of(swizzle);
  std::uint32_t result = offset ^ ((offset >> pattern.distance) & pattern.pieces);
  if (swizzle == Swizzle::b128_atom_b32_flip_b8 && offset / kLine % 2 == 1) result ^= 8;
  return result;
}

std::uint32_t period_of(Swizzle swizzle) {
  const Pattern pattern = pattern_of(swizzle);
  if (pattern.pieces == 0) return kLine;
  std::uint32_t highest = pattern.pieces << pattern.distance;
  while ((highest & (highest - 1)) != 0) highest &= highest - 1;
  return 2 * highest;
}

}  // namespace tma_jit::plan
