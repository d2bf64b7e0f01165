// The inputs of a key that a cache entry records, for the comparison of keys.
#pragma once

#include <string_view>
#include <vector>

#include "cache/marks.h"
#include "source/key.h"

namespace tma_jit::engine {

using Fields = std::vector<source::KeyField>;

// Parses the second line of an entry's metadata; empty if the entry was made by a version without it.
[[nodiscard]] Fields fields_in(std::string_view metadata);
[[nodiscard]] cache::Marks marks_of(std::string_view kernel, const Fields& fields);
// Returns the marks of both lines; their kernel is 0 if there is nothing to compare.
[[nodiscard]] cache::Marks marks_in(std::string_view metadata);

}  // namespace tma_jit::engine
