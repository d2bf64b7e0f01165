#include "tuning/index_data.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <unordered_set>

#include "core/reach.h"

namespace tma_jit::tuning {
namespace {

// A value that is not valid, for a kernel that checks them.
std::int64_t outside(const ValueRange& range) {
  return range.most < std::numeric_limits<std::int32_t>::max() ? range.most + 1 : range.least - 1;
}

// Makes every value that occurs again another one that is valid, as long as there are any.
void make_distinct(std::vector<std::int64_t>& row, std::mt19937_64& generator, const ValueRange& range) {
  std::uniform_int_distribution<std::int64_t> values(range.least, range.most);
  const std::uint64_t more = static_cast<std::uint64_t>(range.most) - static_cast<std::uint64_t>(range.least);
  std::unordered_set<std::int64_t> taken;
  for (std::int64_t& value : row) {
    if (taken.size() > more) {
      value = outside(range);
      continue;
    }
    while (!taken.insert(value).second) value = values(generator);
  }
}

std::vector<std::int64_t> random_row(std::mt19937_64& generator, const ValueRange& range, std::int64_t count) {
  std::vector<std::int64_t> row(static_cast<std::size_t>(count), range.least);
  if (range.least > range.most || row.empty()) return row;
  std::uniform_int_distribution<std::int64_t> values(range.least, range.most);
  for (std::int64_t& value : row) value = values(generator);
  if (range.distinct) make_distinct(row, generator, range);
  if (!range.rising) return row;
  row.back() = range.most;
  row.front() = range.least;
  std::ranges::sort(row);
  return row;
}

// Returns the offset of a row along the last dimension, in elements, by its row-major number.
std::int64_t offset_of(const Tensor& tensor, std::int64_t row) {
  std::int64_t offset = 0;
  for (int i = tensor.rank - 2; i >= 0; --i) {
    const auto d = static_cast<std::size_t>(i);
    offset += row % tensor.shape[d] * tensor.strides[d];
    row /= tensor.shape[d];
  }
  return offset;
}

}  // namespace

std::vector<std::byte> random_indices(const Tensor& tensor, std::int64_t span, const ValueRange& range,
                                      std::uint64_t seed) {
  const std::size_t size = size_of(tensor.dtype), last = static_cast<std::size_t>(tensor.rank - 1);
  std::vector<std::byte> bytes(static_cast<std::size_t>(span) * size);
  if (bytes.empty()) return bytes;
  std::mt19937_64 generator(seed);
  std::int64_t rows = 1;
  for (std::size_t i = 0; i < last; ++i) rows *= tensor.shape[i];
  const std::int64_t before = reach_of(std::span(tensor.shape).first(last + 1), tensor.strides)->before;
  for (std::int64_t row = 0; row < rows; ++row) {
    std::int64_t at = before + offset_of(tensor, row);
    for (const std::int64_t value : random_row(generator, range, tensor.shape[last])) {
      std::memcpy(bytes.data() + static_cast<std::size_t>(at) * size, &value, size);  // little-endian
      at += tensor.strides[last];
    }
  }
  return bytes;
}

}  // namespace tma_jit::tuning
