// What the GPU's tests of single kernels share: a launch that must succeed, pitches that TMA can walk, and rounding.
#pragma once

#include <cstdint>

#include <doctest/doctest.h>

#include <tma_jit/tma_jit.h>

#include "gpu/host_tensor.h"

namespace tma_jit::testing {

// Half a unit in the last place of a rounded value, relative to it.
inline double unit_roundoff(DType type) {
  switch (type) {
    case DType::bf16: return 0x1p-8;
    case DType::f16: return 0x1p-11;
    case DType::f32: return 0x1p-24;
    default: return 0x1p-53;
  }
}

inline std::int64_t padded(std::int64_t elements, DType type) {
  const auto chunk = static_cast<std::int64_t>(16 / size_of(type));
  return (elements + chunk - 1) / chunk * chunk;
}

inline void require_ok(const Result<void>& result) {
  REQUIRE_MESSAGE(result.has_value(), result.error().text());
}

inline void run(Engine& engine, const Request& request) {
  auto launch = engine.prepare(request);
  REQUIRE_MESSAGE(launch.has_value(), launch.error().text());
  require_ok(launch->launch());
  require_ok(synchronize(engine));
}

}  // namespace tma_jit::testing
