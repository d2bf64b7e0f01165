// Files of numbers for the tests of attention.
#pragma once

#include <cstdint>
#include <cstring>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "command.h"
#include "npy.h"

namespace tma_jit::cli {

// A file of whole numbers of 32 bits.
inline std::string numbers(const char* name, const std::vector<std::int32_t>& values) {
  const std::string path = scratch_folder() / name;
  const std::vector<std::int64_t> shape = {static_cast<std::int64_t>(values.size())};
  REQUIRE(write_npy(path, DType::s32, shape, std::as_bytes(std::span(values))).has_value());
  return path;
}

inline std::string raw(const char* name, const void* bytes, std::size_t size) {
  const std::string path = scratch_folder() / name;
  std::ofstream(path, std::ios::binary).write(static_cast<const char*>(bytes), static_cast<std::streamsize>(size));
  return path;
}

inline std::vector<std::uint16_t> read(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  std::vector<std::uint16_t> values(static_cast<std::size_t>(file.tellg()) / 2);
  file.seekg(0).read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * 2));
  return values;
}

// Random numbers of about one, as bf16.
inline std::vector<std::uint16_t> random_bf16(std::size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<std::uint16_t> values(count);
  for (std::uint16_t& value : values) {
    const float x = normal(generator);
    std::uint32_t bits = 0;
    std::memcpy(&bits, &x, sizeof bits);
    value = static_cast<std::uint16_t>(bits >> 16);
  }
  return values;
}

}  // namespace tma_jit::cli
