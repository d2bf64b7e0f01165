// Comparison of an output with its float64 reference, element by element.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <tma_jit/dtype.h>

#include "layout.h"

namespace tma_jit::cli {

// |out - reference| <= relative * |reference| + absolute_per_rms * rms(reference) + smallest
//
// With u the unit roundoff of the type: `relative` is u for one correct rounding; `absolute_per_rms` permits the error
// of f32 accumulation with cancellation, and is far below the effect of one missing term among a few thousand;
// `smallest` is half the distance between the type's subnormals.
struct Tolerance {
  double relative = 0;
  double absolute_per_rms = 0;
  double smallest = 0;
};
Tolerance tolerance_of(DType type);

enum class Strictness : std::uint8_t {
  tolerant,
  // If all references are integers, an output below 2^24 must be its own rounded to the type. One among others that are
  // none is an integer by chance, e.g. 0 where rounded terms cancel.
  integers,
  exact,  // every element must be the reference rounded to its type
};

// The accuracy required of an output. `sum_bits` is the precision of the kernel's sums if it is less than an f32's
// (Plan::sum_bits); `absolute_per_rms` is then at least 2^-sum_bits, and `relative` twice that of the type: what is
// added up is rounded, too, so that a sum of one term is rounded twice, however large it is beside the others. It is at
// least 2^-(sum_bits + 3), for sums of a few terms that are large beside the root mean square, each with an error of
// its own size. Of an f64, which such a kernel rounds as an f32, `relative` is that of an f32.
struct Demand {
  Demand(Strictness asked, int bits = 0) : strictness(asked), sum_bits(bits) {}
  Strictness strictness;
  int sum_bits;
};

struct Mismatch {
  std::int64_t index = 0;  // in row-major order
  double got = 0;
  double expected = 0;
  bool unwritten = false;
};

struct Comparison {
  std::int64_t elements = 0;
  std::int64_t mismatches = 0;
  std::int64_t unwritten = 0;  // mismatches that still contain the poison
  double max_error = 0;        // largest |out - reference| of all elements where both are finite
  double max_relative = 0;     // the same divided by max(|reference|, rms)
  double rms = 0;              // of the reference's finite elements
  Tolerance tolerance;
  std::vector<Mismatch> first;  // at most 8

  bool passed() const { return mismatches == 0; }
};

// `out` starts at the first element; `reference` is packed row-major. An element counts as unwritten if all its bytes
// are 0xFF, which is NaN in every floating-point type.
Comparison compare(std::span<const std::byte> out, DType type, const Layout& layout, std::span<const double> reference,
                   Demand demand);

// Returns the number of bytes of `buffer` outside the tensor's elements that are no longer 0xFF: stray writes.
// Overwrites the elements. `origin` is the first element's byte position.
std::int64_t count_stray_bytes(std::span<std::byte> buffer, std::size_t origin, DType type, const Layout& layout);

}  // namespace tma_jit::cli
