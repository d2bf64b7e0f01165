#include "plan/tensor_map_rules.h"

#include <algorithm>
#include <array>
#include <string>

#include "plan/tensor_map_subject.h"

namespace tma_jit::plan {
namespace {

constexpr int kRankMax = 5;
constexpr std::uint64_t kExtentMax = std::uint64_t{1} << 32;
constexpr std::uint64_t kStrideLimit = std::uint64_t{1} << 40;
constexpr std::uint64_t kAddressLimit = std::uint64_t{1} << 57;
constexpr std::uint32_t kStepMax = 8;
constexpr std::uint64_t kPaddedValues = 128;  // rows of padded packed values must be multiples of it
constexpr int kFirstTma = 90;                 // compute capability
constexpr int kFirstBlackwell = 100;
constexpr int kFirstConsumerBlackwell = 120;

bool is_padded(MapType type) {
  return type == MapType::b4x16_p64 || type == MapType::b6x16_p32;
}

// PTX ISA 9.0, "cp.async.bulk.tensor" and "tensormap.replace", target notes.
Result<void> check_target(const MapSubject& subject) {
  constexpr std::string_view kDatacentre = "sm_100a, sm_103a or sm_110a";
  constexpr std::string_view kBlackwell = "sm_100a, sm_103a, sm_110a, sm_120a or sm_121a";
  const int device = subject.target.compute_capability;
  const TensorMapSpec& spec = subject.spec;
  if (device < kFirstTma) return subject.fault("tensor maps need sm_90a or newer; this device is sm_{}", device);
  if (spec.mode == MapMode::im2col_w128 && (device < kFirstBlackwell || device >= kFirstConsumerBlackwell))
    return subject.fault("im2col_w128 needs {}; this device is sm_{}", kDatacentre, device);
  if (device >= kFirstBlackwell) return {};
  if (spec.mode == MapMode::im2col_w)
    return subject.fault("im2col_w needs {}; this device is sm_{}", kBlackwell, device);
  if (is_packed(spec.type()))
    return subject.fault("{} needs {}; this device is sm_{}", name_of(spec.type()), kBlackwell, device);
  if (atom_of(spec.swizzle) > 16) {
    return subject.fault("swizzle 128 with atom {} needs {}; this device is sm_{}", atom_of(spec.swizzle), kBlackwell,
                         device);
  }
  return {};
}

Result<void> check_rank(const MapSubject& subject) {
  const int rank = subject.spec.rank;
  if (rank < 1 || rank > kRankMax)
    return subject.fault("a tensor map has 1 to {} dimensions, this one {}; merge dimensions", kRankMax, rank);
  if (!subject.tiled() && rank < 3) {
    return subject.fault("an {} map has 3 to {} dimensions, this one {}; add dimensions of extent 1",
                         name_of(subject.spec.mode), kRankMax, rank);
  }
  if (subject.spec.interleave != Interleave::none && rank < 3)
    return subject.fault("an interleaved tensor map has at least 3 dimensions, this one {}", rank);
  return {};
}

Result<void> check_type(const MapSubject& subject) {
  const TensorMapSpec& spec = subject.spec;
  const bool same = is_packed(spec.type()) ? size_of(spec.dtype) == 1 : subject.bits() == 8 * size_of(spec.dtype);
  if (same) return {};
  return subject.fault("{} elements of {} bytes cannot be taken for {}, of {} bits", name_of(spec.dtype),
                       size_of(spec.dtype), name_of(spec.type()), subject.bits());
}

Result<void> check_address(const MapSubject& subject) {
  const std::uint32_t unit = alignment_of(subject.spec);
  const std::uint64_t address = subject.target.address;
  if (address >= kAddressLimit) return subject.fault("address {:#x} is not below 2^57, where addresses end", address);
  if (address % unit == 0) return {};
  return subject.fault("address {:#x} is not a multiple of {} bytes; it is {} bytes past one", address, unit,
                       address % unit);
}

Result<void> check_extents(const MapSubject& subject) {
  const TensorMapSpec& spec = subject.spec;
  for (std::size_t i = 0; i < subject.rank(); ++i) {
    const std::uint64_t extent = spec.dims[i];
    if (extent >= 1 && extent <= kExtentMax) continue;
    return subject.fault("dimension {} has {} elements; a tensor map takes 1 to 2^32", subject.written(i), extent);
  }
  const std::uint64_t unit = is_padded(spec.type()) ? kPaddedValues : is_packed(spec.type()) ? 2 : 1;
  if (spec.dims[0] % unit == 0) return {};
  return subject.fault("dimension {} has {} values of {}, not a multiple of {}; pad it to {}", subject.written(0),
                       spec.dims[0], name_of(spec.type()), unit, rounded_up(spec.dims[0], unit));
}

Result<void> misaligned_stride(const MapSubject& subject, std::size_t index, std::uint32_t unit) {
  const std::uint64_t bytes = subject.spec.strides[index];
  const std::uint64_t padded = rounded_up(bytes, unit);
  const std::uint64_t element = size_of(subject.spec.dtype);
  if (bytes % element != 0) {
    return subject.fault("stride {} is {} bytes, not a multiple of {}; pad the pitch to {} bytes",
                         subject.written(index + 1), bytes, unit, padded);
  }
  return subject.fault("stride {} is {} elements of {} = {} bytes, not a multiple of {}; pad the pitch to {} elements",
                       subject.written(index + 1), bytes / element, name_of(subject.spec.dtype), bytes, unit,
                       padded / element);
}

Result<void> check_strides(const MapSubject& subject) {
  const std::uint32_t unit = alignment_of(subject.spec);
  for (std::size_t i = 0; i + 1 < subject.rank(); ++i) {
    const std::uint64_t bytes = subject.spec.strides[i];
    if (bytes >= kStrideLimit)
      return subject.fault("stride {} is {} bytes; a tensor map takes less than 2^40", subject.written(i + 1), bytes);
    if (bytes % unit != 0) return misaligned_stride(subject, i, unit);
  }
  return {};
}

Result<void> check_memory(const MapSubject& subject) {
  TMA_JIT_CHECK(check_address(subject));
  TMA_JIT_CHECK(check_extents(subject));
  return check_strides(subject);
}

Result<void> check_steps(const MapSubject& subject) {
  const TensorMapSpec& spec = subject.spec;
  for (std::size_t i = 0; i < subject.rank(); ++i) {
    if (spec.element_strides[i] >= 1 && spec.element_strides[i] <= kStepMax) continue;
    return subject.fault("steps {} has {} in dimension {}; each takes 1 to {}",
                         outermost_first(spec.element_strides, spec.rank), spec.element_strides[i], subject.written(i),
                         kStepMax);
  }
  return {};
}

// The driver accepts it, but TMA ignores it without interleave: "TMA doesn't support the stride for dimension zero".
Result<void> check_innermost_step(const MapSubject& subject) {
  const TensorMapSpec& spec = subject.spec;
  if (spec.interleave != Interleave::none || spec.element_strides[0] == 1) return {};
  return subject.fault("steps {} has {} in dimension {}, the innermost, whose steps TMA ignores; make it 1",
                       outermost_first(spec.element_strides, spec.rank), spec.element_strides[0], subject.written(0));
}

// Eight-bit floats are passed as u8, which the driver does not treat as a floating-point type.
Result<void> check_fill(const MapSubject& subject) {
  if (subject.spec.fill == Fill::zero) return {};
  constexpr std::array kFloats = {MapType::f16,     MapType::bf16, MapType::f32,     MapType::f64,
                                  MapType::f32_ftz, MapType::tf32, MapType::tf32_ftz};
  const MapType type = subject.spec.type();
  if (std::ranges::find(kFloats, type) != kFloats.end()) return {};
  const bool travels = !subject.spec.as.has_value() && name_of(subject.spec.dtype) != name_of(type);
  return subject.fault("fill nan needs f16, bf16, f32 or f64 elements, not {}{}", name_of(subject.spec.dtype),
                       travels || subject.spec.as ? fmt::format(", which TMA takes for {}", name_of(type)) : "");
}

}  // namespace

std::uint32_t alignment_of(const TensorMapSpec& spec) {
  return spec.interleave == Interleave::b32 || is_padded(spec.type()) ? 32 : 16;
}

std::uint64_t box_bytes(const TensorMapSpec& spec) {
  std::uint64_t elements = 1;
  for (std::size_t i = 0; i < static_cast<std::size_t>(spec.box_rank()); ++i) {
    const bool stepped = spec.mode == MapMode::tile && (i > 0 || spec.interleave != Interleave::none);
    const std::uint64_t step = stepped && spec.element_strides[i] != 0 ? spec.element_strides[i] : 1;
    elements *= (spec.box[i] + step - 1) / step;
  }
  if (is_padded(spec.type())) return elements;  // sixteen values take sixteen bytes
  return elements * static_cast<std::uint64_t>(bits_of(spec.type())) / 8;
}

Result<void> check_tensor_map(const TensorMapSpec& spec, const MapTarget& target, std::string_view name) {
  const MapSubject subject{spec, target, name};
  TMA_JIT_CHECK(check_target(subject));
  TMA_JIT_CHECK(check_type(subject));
  TMA_JIT_CHECK(check_rank(subject));
  TMA_JIT_CHECK(check_memory(subject));
  TMA_JIT_CHECK(check_steps(subject));
  TMA_JIT_CHECK(check_box(subject));
  TMA_JIT_CHECK(check_corners(subject));
  TMA_JIT_CHECK(check_swizzle(subject));
  TMA_JIT_CHECK(check_fill(subject));
  TMA_JIT_CHECK(check_documented(subject));
  return check_innermost_step(subject);
}

Result<void> check_map_memory(const TensorMapSpec& spec, const MapTarget& target, std::string_view name) {
  return check_memory({spec, target, name});
}

}  // namespace tma_jit::plan
