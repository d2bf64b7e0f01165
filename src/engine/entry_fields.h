// What a cache entry says its key was made of, for comparing keys.
#pragma once

#include <string_view>
#include <vector>

#include "cache/marks.h"
#include "source/key.h"

namespace tma_jit::engine {

using Fields = std::vector<source::KeyField>;

// The second line of an entry's metadata; empty where a version that wrote none made it.
[[nodiscard]] Fields fields_in(std::string_view metadata);
[[nodiscard]] cache::Marks marks_of(std::string_view kernel, const Fields& fields);
// Of both lines; without a kernel where there is nothing to compare.
[[nodiscard]] cache::Marks marks_in(std::string_view metadata);

}  // namespace tma_jit::engine
