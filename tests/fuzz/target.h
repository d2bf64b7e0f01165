// A fuzz target: one function that must take any bytes, and inputs to start from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tma_jit::fuzz {

// What libFuzzer calls; never fails but by a crash, a sanitizer's finding, or FUZZ_EXPECT.
void run(std::span<const std::uint8_t>);
// Inputs that are right, for others to be made from.
std::vector<std::string> seeds();

}  // namespace tma_jit::fuzz

#define FUZZ_EXPECT(...)                  \
  do {                                    \
    if (!(__VA_ARGS__)) __builtin_trap(); \
  } while (false)
