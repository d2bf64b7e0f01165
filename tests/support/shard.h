// Which part of a test a process runs: TMA_JIT_SHARD=I/N is number I of N; without it, all.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include <doctest/doctest.h>

namespace tma_jit::testing {

struct Shard {
  unsigned index = 0, count = 1;

  bool has(std::size_t number) const { return number % count == index; }
};

inline Shard shard_of_this_run() {
  Shard shard;
  const char* part = std::getenv("TMA_JIT_SHARD");
  if (part == nullptr) return shard;
  REQUIRE(std::sscanf(part, "%u/%u", &shard.index, &shard.count) == 2);
  REQUIRE(shard.index < shard.count);
  return shard;
}

}  // namespace tma_jit::testing
