#include "plan/tensor_map_rules.h"

#include <array>
#include <string>

#include "base/failure.h"

namespace tma_jit::planning {
namespace {

constexpr int kRankMax = 5;
constexpr std::uint64_t kExtentMax = std::uint64_t{1} << 32;
constexpr std::uint64_t kStrideLimit = std::uint64_t{1} << 40;
constexpr std::uint32_t kBoxMax = 256;
constexpr std::uint32_t kStepMax = 8;
// The opt-in shared memory of one block on sm_90 and sm_100, the largest there is (CUDA C++ Programming Guide, table
// "Technical Specifications per Compute Capability": 227 KB).
constexpr std::uint64_t kSharedMemoryMax = 232448;

struct Subject {
  const TensorMapSpec& spec;
  std::string_view name;

  std::uint64_t element() const { return size_of(spec.dtype); }
  std::size_t rank() const { return static_cast<std::size_t>(spec.rank); }
  // The template's index of a dimension: outermost first.
  std::size_t written(std::size_t dimension) const { return rank() - 1 - dimension; }

  template <class... Args> tl::unexpected<Error> fault(fmt::format_string<Args...> format, Args&&... args) const {
    return failure(ErrorCode::invalid_argument, "{}: {}", name, fmt::format(format, std::forward<Args>(args)...));
  }
};

template <class Array> std::string outermost_first(const Array& values, int rank) {
  std::string text = "[";
  for (int i = rank; i-- > 0;)
    fmt::format_to(std::back_inserter(text), "{}{}", values[static_cast<std::size_t>(i)], i > 0 ? ", " : "");
  return text + "]";
}

std::uint64_t rounded_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

Result<void> check_rank(const Subject& subject) {
  const int rank = subject.spec.rank;
  if (rank < 1 || rank > kRankMax) {
    return subject.fault("a tensor map has 1 to {} dimensions, this one {}; merge dimensions", kRankMax, rank);
  }
  if (subject.spec.interleave != Interleave::none && rank < 3) {
    return subject.fault("an interleaved tensor map has at least 3 dimensions, this one {}", rank);
  }
  return {};
}

Result<void> check_address(const Subject& subject, std::uint64_t address) {
  const std::uint32_t unit = alignment_of(subject.spec);
  if (address % unit == 0) return {};
  return subject.fault("address {:#x} is not a multiple of {} bytes; it is {} bytes past one", address, unit,
                       address % unit);
}

Result<void> check_extents(const Subject& subject) {
  for (std::size_t i = 0; i < subject.rank(); ++i) {
    const std::uint64_t extent = subject.spec.dims[i];
    if (extent >= 1 && extent <= kExtentMax) continue;
    return subject.fault("dimension {} has {} elements; a tensor map takes 1 to 2^32", subject.written(i), extent);
  }
  return {};
}

Result<void> misaligned_stride(const Subject& subject, std::size_t index, std::uint32_t unit) {
  const std::uint64_t bytes = subject.spec.strides[index];
  const std::uint64_t padded = rounded_up(bytes, unit);
  if (bytes % subject.element() != 0) {
    return subject.fault("stride {} is {} bytes, not a multiple of {}; pad the pitch to {} bytes",
                         subject.written(index + 1), bytes, unit, padded);
  }
  return subject.fault("stride {} is {} elements of {} = {} bytes, not a multiple of {}; pad the pitch to {} elements",
                       subject.written(index + 1), bytes / subject.element(), name_of(subject.spec.dtype), bytes, unit,
                       padded / subject.element());
}

Result<void> check_strides(const Subject& subject) {
  const std::uint32_t unit = alignment_of(subject.spec);
  for (std::size_t i = 0; i + 1 < subject.rank(); ++i) {
    const std::uint64_t bytes = subject.spec.strides[i];
    if (bytes >= kStrideLimit) {
      return subject.fault("stride {} is {} bytes; a tensor map takes less than 2^40", subject.written(i + 1), bytes);
    }
    if (bytes % unit != 0) return misaligned_stride(subject, i, unit);
    if (bytes == 0 && subject.spec.dims[i + 1] > 1) {
      return subject.fault("stride {} is 0 where the dimension has {} elements; copy the tensor to a packed one",
                           subject.written(i + 1), subject.spec.dims[i + 1]);
    }
  }
  return {};
}

Result<void> check_box(const Subject& subject) {
  const TensorMapSpec& spec = subject.spec;
  const std::string box = outermost_first(spec.box, spec.rank);
  for (std::size_t i = 0; i < subject.rank(); ++i) {
    if (spec.box[i] >= 1 && spec.box[i] <= kBoxMax) continue;
    return subject.fault("box {} has {} elements in dimension {}; each takes 1 to {}", box, spec.box[i],
                         subject.written(i), kBoxMax);
  }
  const std::uint64_t inner = spec.box[0] * subject.element();
  if (spec.interleave == Interleave::none && inner % 16 != 0) {
    return subject.fault("box {} of {} is {} bytes wide, not a multiple of 16; make its last extent {}", box,
                         name_of(spec.dtype), inner, rounded_up(inner, 16) / subject.element());
  }
  if (box_bytes(spec) > kSharedMemoryMax) {
    return subject.fault("box {} of {} is {} bytes; the shared memory of a block holds {}", box, name_of(spec.dtype),
                         box_bytes(spec), kSharedMemoryMax);
  }
  return {};
}

Result<void> check_swizzle(const Subject& subject) {
  const TensorMapSpec& spec = subject.spec;
  const std::uint64_t inner = spec.box[0] * subject.element();
  const std::uint32_t span = span_of(spec.swizzle);
  if (spec.interleave == Interleave::none && span != 0 && inner > span) {
    return subject.fault("box {} at swizzle {} is {} bytes wide, limit {}", outermost_first(spec.box, spec.rank), span,
                         inner, span);
  }
  if (spec.interleave == Interleave::b32 && spec.swizzle != Swizzle::b32) {
    return subject.fault("interleave 32 needs swizzle 32, not {}", span);
  }
  return {};
}

Result<void> check_steps(const Subject& subject) {
  const TensorMapSpec& spec = subject.spec;
  for (std::size_t i = 0; i < subject.rank(); ++i) {
    if (spec.element_strides[i] >= 1 && spec.element_strides[i] <= kStepMax) continue;
    return subject.fault("steps {} has {} in dimension {}; each takes 1 to {}",
                         outermost_first(spec.element_strides, spec.rank), spec.element_strides[i], subject.written(i),
                         kStepMax);
  }
  return {};
}

// Eight-bit floats travel as UINT8, which the driver does not count as a floating-point type.
Result<void> check_fill(const Subject& subject) {
  const DType type = subject.spec.dtype;
  if (subject.spec.fill == Fill::zero || (is_floating_point(type) && size_of(type) > 1)) return {};
  return subject.fault("fill nan needs f16, bf16, f32 or f64 elements, not {}", name_of(type));
}

}  // namespace

std::uint32_t span_of(Swizzle swizzle) {
  constexpr std::array<std::uint32_t, 4> kSpans = {0, 32, 64, 128};
  return kSpans[static_cast<std::size_t>(swizzle)];
}

std::uint32_t alignment_of(const TensorMapSpec& spec) {
  return spec.interleave == Interleave::b32 ? 32 : 16;
}

std::uint64_t box_bytes(const TensorMapSpec& spec) {
  std::uint64_t bytes = size_of(spec.dtype);
  for (std::size_t i = 0; i < static_cast<std::size_t>(spec.rank); ++i) {
    const std::uint64_t step = spec.element_strides[i] != 0 ? spec.element_strides[i] : 1;
    bytes *= (spec.box[i] + step - 1) / step;
  }
  return bytes;
}

Result<void> check_tensor_map(const TensorMapSpec& spec, std::uint64_t address, std::string_view name) {
  const Subject subject{spec, name};
  TMA_JIT_CHECK(check_rank(subject));
  TMA_JIT_CHECK(check_address(subject, address));
  TMA_JIT_CHECK(check_extents(subject));
  TMA_JIT_CHECK(check_strides(subject));
  TMA_JIT_CHECK(check_steps(subject));
  TMA_JIT_CHECK(check_box(subject));
  TMA_JIT_CHECK(check_swizzle(subject));
  return check_fill(subject);
}

}  // namespace tma_jit::planning
