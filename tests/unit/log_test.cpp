#include "base/log.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace tma_jit {

TEST_CASE("messages at or above the level reach the callback as they were formatted") {
  std::vector<std::string> seen;
  const Logger log = make_logger(spdlog::level::warn, [&](spdlog::level::level_enum level, std::string_view message) {
    seen.push_back(std::to_string(level) + " " + std::string(message));
  });
  log->info("not {}", "seen");
  log->warn("cache: {} faults", 3);
  log->error("braces {} stay", "{}");
  CHECK(seen == std::vector<std::string>{"3 cache: 3 faults", "4 braces {} stay"});
}

}  // namespace tma_jit
