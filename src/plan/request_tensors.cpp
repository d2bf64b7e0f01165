// Checks each tensor of a request by itself: given once, with the declared rank, and extents and strides that 64 bits
// can address.
#include <algorithm>
#include <span>

#include "plan/binding.h"
#include "plan/fault.h"

namespace tma_jit::plan {
namespace {

constexpr std::int64_t kSpanMax = std::int64_t{1} << 62;  // bytes

std::span<const std::int64_t> extents(const Tensor& tensor) {
  return {tensor.shape.data(), static_cast<std::size_t>(std::clamp(tensor.rank, 0, kMaxRank))};
}

// Returns the bytes from the lowest to the highest element, or -1 if there are more than kSpanMax.
std::int64_t span_bytes(const Tensor& tensor) {
  if (std::ranges::find(extents(tensor), 0) != extents(tensor).end()) return 0;
  auto span = static_cast<std::int64_t>(size_of(tensor.dtype));
  for (std::size_t i = 0; i < extents(tensor).size(); ++i) {
    std::int64_t reach = 0;
    if (tensor.strides[i] == INT64_MIN) return -1;
    const std::int64_t stride = std::abs(tensor.strides[i]);
    if (__builtin_mul_overflow(tensor.shape[i] - 1, stride, &reach)) return -1;
    if (__builtin_mul_overflow(reach, static_cast<std::int64_t>(size_of(tensor.dtype)), &reach)) return -1;
    if (__builtin_add_overflow(span, reach, &span) || span > kSpanMax) return -1;
  }
  return span;
}

// Returns whether the product of the extents, which templates may use, is representable.
bool countable(const Tensor& tensor) {
  std::int64_t product = 1;
  return std::ranges::all_of(extents(tensor), [&](std::int64_t extent) {
    return !__builtin_mul_overflow(product, std::max<std::int64_t>(extent, 1), &product);
  });
}

std::string declared_shape(const templates::Tensor& declared) {
  std::vector<std::string_view> entries;
  for (const templates::Expression& entry : declared.shape) entries.push_back(entry.text());
  return fmt::format("{}[{}]", declared.name, fmt::join(entries, ", "));
}

Result<void> check_rank(const templates::Template& kernel, const templates::Tensor& declared, const Tensor& given) {
  if (given.rank < 0) {
    return fault(kernel, ErrorCode::invalid_argument, "tensor {} has shape and strides of different lengths",
                 declared.name);
  }
  if (static_cast<std::size_t>(given.rank) == declared.shape.size()) return {};
  return fault(kernel, ErrorCode::invalid_argument, "tensor {} has {} dimensions, the template declares {}: {}",
               declared.name, given.rank, declared.shape.size(), declared_shape(declared));
}

// An output whose elements overlap is rejected. Packed strides of an empty tensor are 0, which is harmless.
Result<void> check_written(const templates::Template& kernel, const NamedTensor& named) {
  const Tensor& tensor = named.tensor;
  if (std::ranges::count(extents(tensor), 0) != 0) return {};
  for (std::size_t i = 0; i < extents(tensor).size(); ++i) {
    if (tensor.strides[i] != 0 || tensor.shape[i] <= 1) continue;
    return fault(kernel, ErrorCode::invalid_argument,
                 "tensor {} {} has stride 0 along dimension {}: the kernel writes it, and its {} elements there would "
                 "share one place; give each its own",
                 named.name, shape_text(tensor), i, tensor.shape[i]);
  }
  return {};
}

// Checks an operand's extents that are numbers. The extents that a template declares are checked with its rules.
Result<void> check_numbers(const templates::Template& kernel, const templates::Tensor& declared,
                           const NamedTensor& named) {
  for (std::size_t i = 0; i < declared.shape.size() && declared.operand; ++i) {
    if (declared.shape[i].constant().value_or(named.tensor.shape[i]) == named.tensor.shape[i]) continue;
    return fault(kernel, ErrorCode::invalid_argument, "operand {} is {}, declared as {}", named.name,
                 shape_text(named.tensor), declared.text);
  }
  return {};
}

Result<void> check_one(const templates::Template& kernel, const NamedTensor& named) {
  const Tensor& tensor = named.tensor;
  const templates::Tensor& declared = *kernel.find_tensor(named.name);
  TMA_JIT_CHECK(check_rank(kernel, declared, tensor));
  for (const std::int64_t extent : extents(tensor)) {
    if (extent >= 0) continue;
    return fault(kernel, ErrorCode::invalid_argument, "tensor {} {} has a negative extent", named.name,
                 shape_text(tensor));
  }
  if (span_bytes(tensor) < 0 || !countable(tensor)) {
    return fault(kernel, ErrorCode::invalid_argument, "tensor {} {} with strides [{}] spans more than 2^62 bytes",
                 named.name, shape_text(tensor),
                 fmt::join(tensor.strides.begin(), tensor.strides.begin() + tensor.rank, ", "));
  }
  TMA_JIT_CHECK(check_numbers(kernel, declared, named));
  if (tensor.address % size_of(tensor.dtype) != 0) {
    return fault(kernel, ErrorCode::invalid_argument,
                 "tensor {}: address {:#x} is not a multiple of {} bytes, the size of {}", named.name, tensor.address,
                 size_of(tensor.dtype), name_of(tensor.dtype));
  }
  return declared.output ? check_written(kernel, named) : Result<void>{};
}

}  // namespace

std::string shape_text(const Tensor& tensor) {
  const auto shape = extents(tensor);
  return fmt::format("[{}]", fmt::join(shape.begin(), shape.end(), ", "));
}

Result<void> check_tensors(const templates::Template& kernel, const Request& request) {
  templates::Names seen;
  for (const NamedTensor& named : request.tensors) {
    if (!seen.insert(named.name).second) {
      return fault(kernel, ErrorCode::invalid_argument, "tensor {} is given twice", named.name);
    }
    if (named.tensor.rank != 0) TMA_JIT_CHECK(check_one(kernel, named));
  }
  return {};
}

}  // namespace tma_jit::plan
