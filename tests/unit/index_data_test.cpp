// Random indices for tuning: valid, rising where they must, between the gaps of a tensor's rows.
#include "tuning/index_data.h"

#include <cstring>
#include <set>

#include <doctest/doctest.h>

namespace tma_jit::tuning {
namespace {

template <class T> std::vector<T> drawn(const std::vector<std::byte>& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

}  // namespace

TEST_CASE("indices are in their range, and every value occurs") {
  const Tensor tensor = Tensor::row_major(std::uint64_t{256}, DType::s32, {1000});
  const auto values = drawn<std::int32_t>(random_indices(tensor, 1000, {-2, 7, false, false}, 1));
  std::vector<int> count(10);
  for (const std::int32_t value : values) {
    REQUIRE(value >= -2);
    REQUIRE(value <= 7);
    ++count[static_cast<std::size_t>(value + 2)];
  }
  for (const int times : count) CHECK(times > 50);
  CHECK(random_indices(tensor, 1000, {-2, 7, false, false}, 1) ==
        random_indices(tensor, 1000, {-2, 7, false, false}, 1));
}

TEST_CASE("offsets rise in every row from the least to the greatest, and gaps stay as they are") {
  const std::int64_t shape[] = {2, 4}, strides[] = {6, 1};
  const Tensor tensor = Tensor::strided(std::uint64_t{256}, DType::s64, 2, shape, strides);
  const auto values = drawn<std::int64_t>(random_indices(tensor, 10, {3, 90, true, false}, 1));
  for (const std::size_t row : {std::size_t{0}, std::size_t{6}}) {
    CHECK(values[row] == 3);
    CHECK(values[row + 3] == 90);
    for (std::size_t i = row; i < row + 3; ++i) CHECK(values[i] <= values[i + 1]);
  }
  CHECK(values[4] == 0);
  CHECK(values[5] == 0);
}

TEST_CASE("rows and elements that lie backwards are filled from the lowest on") {
  const std::int64_t shape[] = {2, 4}, strides[] = {-6, -1};
  const Tensor tensor = Tensor::strided(std::uint64_t{256}, DType::s64, 2, shape, strides);
  const auto values = drawn<std::int64_t>(random_indices(tensor, 10, {3, 90, true, false}, 1));
  for (const std::size_t row : {std::size_t{0}, std::size_t{6}}) {
    CHECK(values[row + 3] == 3);
    CHECK(values[row] == 90);
    for (std::size_t i = row; i < row + 3; ++i) CHECK(values[i] >= values[i + 1]);
  }
  CHECK(values[4] == 0);
  CHECK(values[5] == 0);
}

TEST_CASE("distinct indices are, and those beyond the valid values are none") {
  const Tensor tensor = Tensor::row_major(std::uint64_t{256}, DType::s32, {2, 500});
  for (const std::int64_t most : {std::int64_t{399}, std::int64_t{499}, std::int64_t{1} << 30}) {
    const ValueRange range{0, most, false, true, true};
    const auto values = drawn<std::int32_t>(random_indices(tensor, 1000, range, 1));
    for (const int row : {0, 500}) {
      std::set<std::int32_t> valid;
      int others = 0;
      for (int i = row; i < row + 500; ++i) (values[i] <= most ? valid.insert(values[i]).second : ++others > 0);
      CHECK(valid.size() == std::min<std::size_t>(500, most + 1));
      CHECK(others == 500 - static_cast<int>(valid.size()));
      CHECK(*valid.begin() >= 0);
    }
  }
}

TEST_CASE("where no value is valid, and where there is no element") {
  const Tensor tensor = Tensor::row_major(std::uint64_t{256}, DType::u8, {3});
  CHECK(random_indices(tensor, 3, {0, -1, false, true}, 1) == std::vector<std::byte>(3));
  CHECK(random_indices(Tensor::row_major(std::uint64_t{256}, DType::u8, {0}), 0, {0, 5, true, false}, 1).empty());
}

}  // namespace tma_jit::tuning
