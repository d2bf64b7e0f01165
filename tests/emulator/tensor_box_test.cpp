// Tensor copies against a formula for single elements: ranks, swizzles, types, bounds of the tensor on every side,
// element strides, gather4 and scatter4, im2col.
#include <array>
#include <cstring>
#include <map>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "emulator/fault.h"
#include "emulator/tensor/box.h"
#include "emulator/tensor/encode.h"
#include "emulator/tensor/transfer.h"
#include "emulator/tensor_samples.h"

using namespace tma_jit::emulator;
using namespace tma_jit::emulator::tensor;
using namespace tma_jit::testing;

TEST_CASE("tiled loads put every element where the formula says") {
  std::mt19937 random(1);
  const Type types[] = {{0, 1}, {6, 2}, {9, 2}, {2, 4}, {7, 4}, {8, 8}};
  const u32 spans[] = {256, 32, 64, 128, 128, 128, 128};
  for (int rank = 1; rank <= 5; ++rank)
    for (u32 swizzle = 0; swizzle <= 6; ++swizzle)
      for (const Type& type : types)
        for (int round = 0; round < 3; ++round) {
          CAPTURE(rank);
          CAPTURE(swizzle);
          CAPTURE(type.bytes);
          std::array<u32, 5> box{};
          std::array<u32, 5> steps{1, 1, 1, 1, 1};
          const u32 inner = std::min(spans[swizzle] / type.bytes, 256U);
          box[0] = static_cast<u32>(1 + random() % (inner * type.bytes / 16)) * 16 / type.bytes;
          if (swizzle != 0) box[0] = inner;  // rows as wide as the pattern
          for (int d = 1; d < rank; ++d) {
            box[d] = static_cast<u32>(1 + random() % (rank > 3 ? 3 : 8));
            steps[d] = round % 2 == 0 ? 1 : static_cast<u32>(1 + random() % 3);
          }
          StridedTensor tensor = make_tensor(rank, type, swizzle, box, steps, random);
          std::array<s32, 5> coordinates{};
          for (int d = 0; d < rank; ++d)
            coordinates[d] =
                static_cast<s32>(random() % (tensor.map.dims[d] + box[d] + 4)) - static_cast<s32>(box[d]) - 2;
          coordinates[0] -= coordinates[0] % static_cast<s32>(16 / type.bytes);
          const Access access = access_to(tensor, Mode::tile, coordinates);
          CHECK(actual_load(access) == expected_load(tensor, access, swizzle, box, steps));
        }
}

TEST_CASE("tiled stores write what lies inside the tensor, and to the end of its last 16 bytes") {
  std::mt19937 random(2);
  for (int rank = 1; rank <= 5; ++rank)
    for (u32 swizzle = 0; swizzle <= 6; ++swizzle)
      for (int round = 0; round < 10; ++round) {
        CAPTURE(rank);
        CAPTURE(swizzle);
        std::array<u32, 5> box{swizzle == 0 ? 40U : swizzle == 1 ? 16U : swizzle == 2 ? 32U : 64U, 3, 2, 2, 2};
        const std::array<u32, 5> steps{1, 1, 1, 1, 1};
        StridedTensor tensor = make_tensor(rank, {6, 2}, swizzle, box, steps, random);
        std::array<s32, 5> coordinates{};
        for (int d = 0; d < rank; ++d)
          coordinates[d] = static_cast<s32>(random() % (tensor.map.dims[d] + 2)) - (d == 0 ? 0 : 1);
        coordinates[0] = coordinates[0] / 8 * 8;
        const Access access = access_to(tensor, Mode::tile, coordinates);
        std::vector<u8> shared(kShared);
        for (u8& byte : shared) byte = static_cast<u8>(random());
        std::vector<u8> expected = tensor.storage;
        u32 linear = access.shared;
        const auto base = reinterpret_cast<u64>(tensor.storage.data());
        for (u32 row = 0;
             row < (rank > 1 ? 3U : 1U) * (rank > 2 ? 2U : 1U) * (rank > 3 ? 2U : 1U) * (rank > 4 ? 2U : 1U); ++row) {
          const std::array<u32, 5> i{0, row % 3, row / 3 % 2, row / 6 % 2, row / 12 % 2};
          for (u32 i0 = 0; i0 < box[0]; ++i0, linear += 2) {
            std::array<s64, 5> index{};
            for (int d = 0; d < rank; ++d) index[d] = coordinates[d] + s64{d == 0 ? i0 : i[d]};
            // The last 16 bytes of a row may extend beyond the last element.
            const s64 real = index[0];
            const s64 last = static_cast<s64>((tensor.map.dims[0] * 2 + 15) / 16 * 8) - 1;
            if (real > last) continue;
            index[0] = 0;
            const u8* row_start = tensor.at(index);
            if (row_start == nullptr || real < 0) continue;
            const u64 to = reinterpret_cast<u64>(row_start) + static_cast<u64>(real) * 2 - base;
            for (u32 b = 0; b < 2; ++b) expected[to + b] = shared[swizzled_byte(swizzle, linear + b)];
          }
        }
        std::vector<Run> runs;
        check_access(access, Direction::store);
        append_runs(access, Direction::store, runs);
        for (const Run& run : runs) {
          CHECK(!run.fill);
          for_each_piece(access.map, run, [&](u32 at, u32 offset, u32 bytes) {
            std::memcpy(reinterpret_cast<u8*>(run.global) + offset, shared.data() + at, bytes);
          });
        }
        CHECK(tensor.storage == expected);
      }
}

TEST_CASE("gather4 and scatter4 take four rows wherever they are") {
  std::mt19937 random(3);
  const std::array<u32, 5> box{64, 1, 1, 1, 1};
  const std::array<u32, 5> steps{1, 1, 1, 1, 1};
  for (int round = 0; round < 50; ++round) {
    StridedTensor tensor = make_tensor(2, {9, 2}, 3, box, steps, random);
    const auto rows = static_cast<s32>(tensor.map.dims[1]);
    const auto row = [&] { return static_cast<s32>(random() % static_cast<u32>(rows + 2)) - 1; };
    const Access access =
        access_to(tensor, Mode::gather4, {static_cast<s32>(random() % 80), row(), row(), row(), row()});
    std::vector<u8> expected(kShared, kUntouched);
    for (u32 i = 0; i < 4; ++i)
      for (u32 column = 0; column < 64; ++column) {
        const u8* from = tensor.at({access.coordinates[0] + s64{column}, access.coordinates[i + 1]});
        for (u32 b = 0; b < 2; ++b)
          expected[swizzled_byte(3, access.shared + i * 128 + column * 2 + b)] = from == nullptr ? 0 : from[b];
      }
    CHECK(transaction_bytes(access) == 512);
    CHECK(actual_load(access) == expected);
    Access scatter = access;
    scatter.mode = Mode::scatter4;
    std::vector<Run> runs;
    check_access(scatter, Direction::store);
    append_runs(scatter, Direction::store, runs);
    for (const Run& run : runs) CHECK(!run.fill);
    CHECK_THROWS_AS(check_access(access, Direction::store), Fault);
  }
}

TEST_CASE("im2col walks the pixels of the bounding box, W first, across images") {
  std::mt19937 random(4);
  for (int rank = 3; rank <= 5; ++rank)
    for (int round = 0; round < 60; ++round) {
      CAPTURE(rank);
      std::array<u64, 5> dims{32 + 8 * (random() % 4), 4 + random() % 6, 4 + random() % 5, 3 + random() % 3, 2};
      dims[rank - 1] = 1 + random() % 3;
      std::array<u64, 4> strides{};
      u64 pitch = dims[0] * 2;
      for (int d = 1; d < rank; ++d) {
        strides[d - 1] = pitch;
        pitch *= dims[d];
      }
      StridedTensor tensor;
      tensor.element = 2;
      tensor.storage.resize(pitch + 128);
      for (u8& byte : tensor.storage) byte = static_cast<u8>(random());
      std::array<int, 3> lower{};
      std::array<int, 3> upper{};
      std::array<u32, 5> steps{1, 1, 1, 1, 1};
      for (int d = 0; d < rank - 2; ++d) {
        lower[d] = -static_cast<int>(random() % 2);
        upper[d] = static_cast<int>(random() % 3) - 2;
        steps[d + 1] = static_cast<u32>(1 + random() % 2);
      }
      const Im2colBox box = {
          .lower = lower.data(), .upper = upper.data(), .channels = 16, .pixels = 20 + static_cast<u32>(random() % 40)};
      EncodeArguments arguments = {.data_type = 9,
                                   .rank = static_cast<u32>(rank),
                                   .dims = dims.data(),
                                   .strides = strides.data(),
                                   .element_strides = steps.data(),
                                   .swizzle = 1};
      arguments.address = (reinterpret_cast<u64>(tensor.storage.data()) + 15) / 16 * 16;
      REQUIRE(encode_im2col(arguments, box, tensor.map) == "");
      Access access = access_to(tensor, Mode::im2col, {8, lower[0], lower[1], lower[2], 0});
      access.coordinates[rank - 1] = 0;
      for (u32& offset : access.offsets) offset = static_cast<u32>(random() % 3);
      // By enumeration: the i-th pixel of a batch of boxes.
      std::vector<u8> expected(kShared, kUntouched);
      std::array<u32, 3> counts{1, 1, 1};
      for (int d = 0; d < rank - 2; ++d)
        counts[d] = static_cast<u32>(
            (static_cast<int>(dims[d + 1]) + upper[d] - lower[d] - 1) / static_cast<int>(steps[d + 1]) + 1);
      for (u32 pixel = 0; pixel < box.pixels; ++pixel) {
        const std::array<u32, 3> at{pixel % counts[0], pixel / counts[0] % counts[1],
                                    pixel / counts[0] / counts[1] % counts[2]};
        std::array<s64, 5> index{};
        for (int d = 0; d < rank - 2; ++d) index[d + 1] = lower[d] + s64{at[d]} * steps[d + 1] + access.offsets[d];
        index[rank - 1] = pixel / (counts[0] * counts[1] * counts[2]);
        for (u32 c = 0; c < 16; ++c) {
          index[0] = 8 + s64{c};
          const u8* from = tensor.at(index);
          for (u32 b = 0; b < 2; ++b)
            expected[swizzled_byte(1, access.shared + pixel * 32 + c * 2 + b)] = from == nullptr ? 0 : from[b];
        }
      }
      CHECK(actual_load(access) == expected);
    }
}

TEST_CASE("im2col::w keeps to a row of each image and appends its halo") {
  std::vector<u8> storage(8 * 5 * 3 * 32 * 2 + 128);
  for (std::size_t i = 0; i < storage.size(); ++i) storage[i] = static_cast<u8>(i * 37 + i / 256);
  const std::array<u64, 5> dims{32, 5, 3, 8};
  const std::array<u64, 4> strides{64, 320, 960};
  const std::array<u32, 5> steps{1, 1, 1, 1, 1};
  const int lower = 0;
  const int upper = 0;
  EncodeArguments arguments = {.data_type = 9,
                               .rank = 4,
                               .dims = dims.data(),
                               .strides = strides.data(),
                               .element_strides = steps.data(),
                               .swizzle = 2};
  arguments.address = (reinterpret_cast<u64>(storage.data()) + 15) / 16 * 16;
  StridedTensor tensor;
  tensor.element = 2;
  REQUIRE(encode_im2col(arguments, {&lower, &upper, 32, 12, true}, tensor.map) == "");
  Access access = access_to(tensor, Mode::im2col_w, {0, 2, 1, 0, 0});
  access.offsets = {2, 1, 0};  // halo of two, shifted by one
  std::vector<u8> expected(kShared, kUntouched);
  u32 linear = access.shared;
  const auto pixel = [&](s64 w, s64 n) {
    for (u32 c = 0; c < 32; ++c, linear += 2) {
      const u8* from = tensor.at({s64{c}, w, 1, n});
      for (u32 b = 0; b < 2; ++b) expected[swizzled_byte(2, linear + b)] = from == nullptr ? 0 : from[b];
    }
  };
  // The box is from 1 to 5 in W once shifted; the first pixel is at 3.
  for (const s64 w : {3, 4, 5}) pixel(w, 0);
  for (const s64 w : {1, 2, 3, 4, 5}) pixel(w, 1);
  for (const s64 w : {1, 2, 3, 4}) pixel(w, 2);
  pixel(5, 2);
  pixel(6, 2);
  CHECK(transaction_bytes(access) == 14 * 64);
  CHECK(actual_load(access) == expected);
}

TEST_CASE("packed and padded formats") {
  std::vector<u8> storage(128 * 64 + 128);
  for (std::size_t i = 0; i < storage.size(); ++i) storage[i] = static_cast<u8>(i * 31);
  const u64 address = (reinterpret_cast<u64>(storage.data()) + 31) / 32 * 32;
  const auto* global = reinterpret_cast<const u8*>(address);
  const std::array<u32, 5> steps{1, 1, 1, 1, 1};
  const std::array<u64, 5> dims{256, 16};
  struct Format {
    u32 code, group;  // bytes of 16 elements
  };
  for (const Format& format : {Format{14, 8}, Format{15, 12}}) {
    const std::array<u64, 4> strides{16 * format.group};
    const std::array<u32, 5> box{128, 4};
    EncodeArguments arguments = {.data_type = format.code,
                                 .rank = 2,
                                 .address = address,
                                 .dims = dims.data(),
                                 .strides = strides.data(),
                                 .element_strides = steps.data()};
    StridedTensor tensor;
    REQUIRE(encode_tiled(arguments, box.data(), tensor.map) == "");
    const Access access = access_to(tensor, Mode::tile, {128, 3});
    std::vector<u8> expected(kShared, kUntouched);
    for (u32 row = 0; row < 4; ++row)
      for (u32 g = 0; g < 8; ++g)
        std::memcpy(&expected[access.shared + row * 128 + g * 16],
                    global + (row + 3) * strides[0] + (8 + g) * format.group, format.group);
    CHECK(transaction_bytes(access) == 4 * 8 * format.group);
    CHECK(actual_load(access) == expected);
  }
  const std::array<u64, 4> strides{128};
  const std::array<u32, 5> box{64, 2};
  EncodeArguments arguments = {.data_type = 13,
                               .rank = 2,
                               .address = address,
                               .dims = dims.data(),
                               .strides = strides.data(),
                               .element_strides = steps.data()};
  StridedTensor tensor;
  REQUIRE(encode_tiled(arguments, box.data(), tensor.map) == "");
  const Access access = access_to(tensor, Mode::tile, {32, 1});
  std::vector<u8> expected(kShared, kUntouched);
  for (u32 row = 0; row < 2; ++row) std::memcpy(&expected[access.shared + row * 32], global + (row + 1) * 128 + 16, 32);
  CHECK(actual_load(access) == expected);
  Access odd = access;
  odd.coordinates[0] = 31;
  CHECK_THROWS_AS(check_access(odd, Direction::load), Fault);
  Access interleaved = access;
  interleaved.map.interleave = tensor::Interleave::b16;
  try {
    check_access(interleaved, Direction::load);
    FAIL("an interleaved layout is taken");
  } catch (const Fault& fault) {
    CHECK(fault.kind == FaultKind::unsupported);
  }
}

TEST_CASE("along the innermost dimension a box begins at a multiple of 16 bytes, along others anywhere") {
  std::mt19937 random(5);
  const StridedTensor tensor = make_tensor(2, {2, 4}, 0, {16, 4, 1, 1, 1}, {1, 1, 1, 1, 1}, random);
  for (const Direction direction : {Direction::load, Direction::store}) {
    for (const s32 fine : {-16, -4, 0, 8})
      CHECK_NOTHROW(check_access(access_to(tensor, Mode::tile, {fine, -3}), direction));
    for (const s32 column : {-3, 1, 2, 7})
      CHECK_THROWS_AS(check_access(access_to(tensor, Mode::tile, {column, 0}), direction), Fault);
  }
}
