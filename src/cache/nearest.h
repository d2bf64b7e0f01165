// The query for the entries that are most similar to a missing one.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include <tma_jit/artifact.h>

#include "cache/marks.h"

namespace tma_jit::cache {

class Layer;

struct Question {
  Marks wanted;
  std::function<Marks(std::string_view metadata)> marks_of;  // returns the marks of an entry that no index contains yet
  std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max();

  bool is_late() const { return std::chrono::steady_clock::now() >= until; }
};

struct Near {
  Key key;
  unsigned differences = 0;
  std::int64_t used_s = 0;
  const Layer* layer = nullptr;
};

struct Nearest {
  std::vector<Near> entries;  // of the same kernel; at most kNearMax, nearest first, equals by latest use
  bool complete = true;       // false if time ran out before every entry was examined
};
inline constexpr std::size_t kNearMax = 8;

// Sorts the entries and drops those beyond kNearMax.
void keep_nearest(Nearest& nearest);

}  // namespace tma_jit::cache
