// The question which entries come nearest to one that is not there.
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
  std::function<Marks(std::string_view metadata)> marks_of;  // of an entry that no index knows yet
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
  std::vector<Near> entries;  // of the same kernel; kNearMax at most, the nearest first, of equals the one used last
  bool complete = true;       // every entry was looked at; else time ran out
};
inline constexpr std::size_t kNearMax = 8;

// Sorts, and drops what is beyond kNearMax.
void keep_nearest(Nearest& nearest);

}  // namespace tma_jit::cache
