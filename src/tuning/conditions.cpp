#include "tuning/conditions.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"

namespace tma_jit::tuning {
namespace {

constexpr std::uint64_t kRow = 16;  // bytes; TMA and vector accesses need addresses and rows that are multiples of it

// Returns the greatest power of two that divides the number, kRow if it is a multiple of kRow.
std::uint64_t granularity(std::uint64_t bytes) {
  return (bytes | kRow) & -(bytes | kRow);
}

// Appends what is unusual about a tensor.
void describe(const NamedTensor& named, std::vector<std::string>& conditions) {
  const Tensor& tensor = named.tensor;
  if (tensor.rank < 1 || tensor.rank > kMaxRank || tensor.elements() == 0) return;
  if (const auto at = granularity(tensor.address); at < kRow) {
    conditions.push_back(fmt::format("{} at {}", named.name, at));
  }
  const auto last = static_cast<std::size_t>(tensor.rank - 1);
  std::uint64_t rows = kRow;
  for (std::size_t i = 0; i < last; ++i) {
    const auto bytes = static_cast<std::uint64_t>(tensor.strides[i]) * size_of(tensor.dtype);
    if (tensor.shape[i] > 1) rows = std::min(rows, granularity(bytes));
  }
  if (rows < kRow) conditions.push_back(fmt::format("{} rows {}", named.name, rows));
  if (tensor.shape[last] > 1 && tensor.strides[last] != 1) {
    conditions.push_back(fmt::format("{} strided", named.name));
  }
}

}  // namespace

std::string conditions_of(const Options& options) {
  std::vector<std::string> conditions;
  if (options.disable_tma.value_or(false)) conditions.emplace_back("without TMA");
  if (options.limits) conditions.push_back("within " + options.limits->name);
  if (!options.arch.empty()) conditions.push_back("for " + options.arch);
  return joined(conditions);
}

std::string conditions_of(const Request& request, const std::string& engine) {
  std::vector<std::string> conditions;
  for (const NamedTensor& named : request.tensors) describe(named, conditions);
  std::ranges::sort(conditions);  // a request may list its tensors in any order
  if (!engine.empty()) conditions.insert(conditions.begin(), engine);
  return joined(conditions);
}

}  // namespace tma_jit::tuning
