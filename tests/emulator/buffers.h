// Buffers of numbers on a test's device, and f32 that are added exactly.
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

template <class T> DeviceBuffer sent(Engine& engine, const std::vector<T>& values) {
  auto buffer = DeviceBuffer::allocate(engine, values.size() * sizeof(T));
  REQUIRE(buffer);
  REQUIRE(buffer->upload(values.data(), values.size() * sizeof(T)));
  return std::move(*buffer);
}

template <class T = float> std::vector<T> fetched(const DeviceBuffer& buffer, std::size_t count) {
  std::vector<T> values(count);
  REQUIRE(buffer.download(values.data(), count * sizeof(T)));
  return values;
}

}  // namespace tma_jit::testing
