// Tensors with random contents, and what a tensor copy should make of shared memory, by a formula for single elements.
#pragma once

#include <array>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "emulator/tensor/box.h"
#include "emulator/tensor/encode.h"
#include "emulator/tensor/transfer.h"

namespace tma_jit::testing {

using namespace tma_jit::emulator;
using namespace tma_jit::emulator::tensor;

inline constexpr u32 kShared = 32768;
inline constexpr u8 kUntouched = 0xee;

struct StridedTensor {
  TensorMap map{};
  std::vector<u8> storage;
  u32 element = 0;  // bytes

  // Returns the byte of an element, by the definition of strides; null outside the tensor.
  u8* at(const std::array<s64, 5>& index) {
    u64 offset = static_cast<u64>(index[0]) * element;
    for (int d = 0; d < map.rank; ++d) {
      if (index[d] < 0 || index[d] >= static_cast<s64>(map.dims[d])) return nullptr;
      if (d > 0) offset += static_cast<u64>(index[d]) * map.strides[d - 1];
    }
    return reinterpret_cast<u8*>(map.address) + offset;
  }
};

struct Type {
  u32 code;  // CUtensorMapDataType
  u32 bytes;
};

inline StridedTensor make_tensor(int rank, Type type, u32 swizzle, const std::array<u32, 5>& box,
                                 const std::array<u32, 5>& steps, std::mt19937& random) {
  StridedTensor tensor;
  tensor.element = type.bytes;
  std::array<u64, 5> dims{};
  std::array<u64, 4> strides{};
  u64 pitch = 0;
  for (int d = 0; d < rank; ++d) {
    dims[d] = 3 + random() % (d == 0 ? 150 : 9);
    pitch =
        d == 0 ? (dims[0] * type.bytes + 15) / 16 * 16 + 16 * (random() % 2) : pitch * dims[d] + 16 * (random() % 2);
    if (d + 1 < rank) strides[d] = pitch;
  }
  tensor.storage.resize(pitch + 256);
  for (u8& byte : tensor.storage) byte = static_cast<u8>(random());
  EncodeArguments arguments = {.data_type = type.code,
                               .rank = static_cast<u32>(rank),
                               .dims = dims.data(),
                               .strides = strides.data(),
                               .element_strides = steps.data(),
                               .swizzle = swizzle};
  arguments.address = (reinterpret_cast<u64>(tensor.storage.data()) + 127) / 128 * 128;
  REQUIRE(encode_tiled(arguments, box.data(), tensor.map) == "");
  return tensor;
}

// Returns the location of a byte under a swizzle, by the tables of PTX ISA 9.0, "Swizzling modes", per row of 128
// bytes.
inline u32 swizzled_byte(u32 swizzle, u32 address) {
  const u32 line = address / 128;
  const u32 in_line = address % 128;
  const auto exchange = [&](u32 atom, u32 span) {
    const u32 chunks = span / atom;
    const u32 chunk = in_line / atom;
    return address - in_line + (chunk ^ (line % chunks)) * atom + in_line % atom;
  };
  switch (swizzle) {
    case 1: return exchange(16, 32);
    case 2: return exchange(16, 64);
    case 3: return exchange(16, 128);
    case 4: return exchange(32, 128);
    case 5: return exchange(32, 128) ^ (line % 2 == 1 ? 8 : 0);
    case 6: return exchange(64, 128);
    default: return address;
  }
}

// The expected bytes of shared memory, from the tensor or the fill.
inline std::vector<u8> expected_load(StridedTensor& tensor, const Access& access, u32 swizzle,
                                     const std::array<u32, 5>& box, const std::array<u32, 5>& steps) {
  std::vector<u8> shared(kShared, kUntouched);
  std::array<u32, 5> count{1, 1, 1, 1, 1};
  for (int d = 0; d < tensor.map.rank; ++d) count[d] = d == 0 ? box[0] : (box[d] + steps[d] - 1) / steps[d];
  u32 linear = access.shared;
  for (u32 i4 = 0; i4 < count[4]; ++i4)
    for (u32 i3 = 0; i3 < count[3]; ++i3)
      for (u32 i2 = 0; i2 < count[2]; ++i2)
        for (u32 i1 = 0; i1 < count[1]; ++i1)
          for (u32 i0 = 0; i0 < count[0]; ++i0, linear += tensor.element) {
            const std::array<u32, 5> i{i0, i1, i2, i3, i4};
            std::array<s64, 5> index{};
            for (int d = 0; d < tensor.map.rank; ++d)
              index[d] = access.coordinates[d] + s64{i[d]} * (d == 0 ? 1 : steps[d]);
            const u8* from = tensor.at(index);
            for (u32 b = 0; b < tensor.element; ++b)
              shared[swizzled_byte(swizzle, linear + b)] = from == nullptr ? 0 : from[b];
          }
  return shared;
}

inline std::vector<u8> actual_load(const Access& access) {
  std::vector<u8> shared(kShared, kUntouched);
  std::vector<Run> runs;
  check_access(access, Direction::load);
  append_runs(access, Direction::load, runs);
  u32 bytes = 0;
  for (const Run& run : runs) {
    load(access.map, run, shared.data());
    bytes += run.bytes;
  }
  CHECK(bytes == transaction_bytes(access));
  return shared;
}

inline Access access_to(const StridedTensor& tensor, Mode mode, std::array<s32, 5> coordinates) {
  Access access;
  access.map = tensor.map;
  access.mode = mode;
  access.coordinates = coordinates;
  access.coordinate_count = mode == Mode::gather4 || mode == Mode::scatter4 ? 5 : tensor.map.rank;
  access.shared = 2048;
  return access;
}

}  // namespace tma_jit::testing
