// Buffers of f32 on a test's device, and numbers that are added exactly.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <tma_jit/device.h>
#include <tma_jit/engine.h>

namespace tma_jit::testing {

// Returns integers from -3 to 4, others for each seed.
inline std::vector<float> small_integers(std::int64_t count, std::uint32_t seed = 0) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>((i + seed) * 2654435761U >> 7 & 7) - 3;
  return values;
}

inline DeviceBuffer sent(Engine& engine, const std::vector<float>& values) {
  auto buffer = DeviceBuffer::allocate(engine, values.size() * sizeof(float));
  REQUIRE(buffer);
  REQUIRE(buffer->upload(values.data(), values.size() * sizeof(float)));
  return std::move(*buffer);
}

inline std::vector<float> fetched(const DeviceBuffer& buffer, std::size_t count) {
  std::vector<float> values(count);
  REQUIRE(buffer.download(values.data(), count * sizeof(float)));
  return values;
}

}  // namespace tma_jit::testing
