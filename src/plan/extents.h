// The extents that are tried for a dim of an example.
#pragma once

#include <cstdint>
#include <vector>

#include <tma_jit/example.h>

#include "template/template.h"

namespace tma_jit::plan {

// Whether the dim counts elements; one of a smaller range counts parts, paddings or a filter's rows.
bool counts_elements(const templates::Dim& dim);

struct Extent {
  std::int64_t value = 0;
  bool usual = true;  // of the sort that is asked for
};

// What may be tried, the first one first. Every one is in the dim's range.
std::vector<Extent> extents_of(const templates::Dim& dim, ExampleSize size);

}  // namespace tma_jit::plan
