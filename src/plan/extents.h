// The candidate extents for a dim of an example.
#pragma once

#include <cstdint>
#include <vector>

#include <tma_jit/example.h>

#include "template/template.h"

namespace tma_jit::plan {

// Returns whether the dim counts elements. A dim with a smaller range counts parts, paddings or rows of a filter.
bool counts_elements(const templates::Dim& dim);

struct Extent {
  std::int64_t value = 0;
  bool usual = true;  // whether it is of the requested kind
};

// Returns the candidates in the order in which they are tried, all within the dim's range.
std::vector<Extent> extents_of(const templates::Dim& dim, ExampleSize size);

}  // namespace tma_jit::plan
