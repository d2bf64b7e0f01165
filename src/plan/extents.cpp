#include "plan/extents.h"

#include <algorithm>
#include <array>
#include <span>

namespace tma_jit::plan {
namespace {

constexpr std::int64_t kElements = 1 << 19;  // largest range of a dim that does not count elements

// About one and a half, two and three times the usual tiles. The second list has multiples of 8, mainly odd ones.
constexpr std::array<std::int64_t, 17> kWhole = {64,   32,   128,  192,  256,   320,   384,   512,   768,
                                                 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072};
constexpr std::array<std::int64_t, 19> kRagged = {72,   40,   136,  200,  264,  328,   392,   520,   648,   776,
                                                  1032, 1544, 2056, 4104, 8200, 16392, 32776, 65544, 131080};
constexpr std::array<std::int64_t, 19> kOdd = {67,   37,   131,  197,  263,  331,   397,   523,   647,   773,
                                               1031, 1543, 2053, 4099, 8209, 16411, 32771, 65537, 131101};
// For tensors whose rows must be multiples of 16 elements.
constexpr std::array<std::int64_t, 13> kSixteens = {48, 80, 144, 208, 272, 336, 400, 528, 784, 1040, 2064, 4112, 8208};
constexpr std::array<std::int64_t, 12> kFew = {4, 2, 3, 1, 5, 6, 8, 12, 16, 24, 7, 0};

std::span<const std::int64_t> list_of(Extents extents) {
  if (extents == Extents::whole) return kWhole;
  return extents == Extents::odd ? std::span<const std::int64_t>(kOdd) : kRagged;
}

// For a minimum above the lists: the next number of the kind, and twice and four times that.
std::vector<std::int64_t> from(std::int64_t least, Extents extents) {
  const std::int64_t whole = (least + 63) / 64 * 64;
  const std::int64_t more = extents == Extents::whole ? 0 : extents == Extents::odd ? 3 : 8;
  return {whole + more, 2 * whole + more, 4 * whole + more};
}

}  // namespace

bool counts_elements(const templates::Dim& dim) {
  return dim.max > kElements;
}

std::vector<Extent> extents_of(const templates::Dim& dim, ExampleSize size) {
  std::vector<Extent> extents;
  const bool elements = counts_elements(dim);
  const std::int64_t least = elements ? std::min(size.least, dim.max) : 0;
  const auto add = [&](std::int64_t value, bool usual) {
    const bool there = std::ranges::any_of(extents, [&](const Extent& other) { return other.value == value; });
    if (!there && value >= std::max(dim.min, least) && value <= dim.max) extents.push_back({value, usual});
  };
  const auto add_all = [&](std::span<const std::int64_t> values, bool usual) {
    for (const std::int64_t value : values) add(value, usual);
  };
  if (!elements) add(std::clamp(kFew.front(), dim.min, dim.max), true);
  if (elements) {
    add_all(list_of(size.extents), true);
    if (least > 0) add_all(from(least, size.extents), true);
    add_all(kRagged, false);
    add_all(kSixteens, false);
    add_all(kWhole, false);
  }
  add_all(kFew, false);
  add(std::max(dim.min, least), false);
  return extents;
}

}  // namespace tma_jit::plan
