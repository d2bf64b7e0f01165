// The rules for what one instruction moves: the box, or the pixels of a column and their corners; and the swizzle.
#include <array>

#include "plan/tensor_map_subject.h"

namespace tma_jit::plan {
namespace {

constexpr std::uint32_t kBoxMax = 256;
constexpr std::uint32_t kPixelsMax = 1024;
constexpr std::uint32_t kWidePixels = 128;    // pixels that .im2col::w::128 moves
constexpr std::uint32_t kPaddedValues = 128;  // length of a row in a box of padded packed values
// The opt-in shared memory of one block on sm_90 and sm_100, which have the most (CUDA C++ Programming Guide, table
// "Technical Specifications per Compute Capability": 227 KB).
constexpr std::uint64_t kSharedMemoryMax = 232448;

std::uint64_t row_bits(const MapSubject& subject) {
  return subject.spec.box[0] * subject.bits();
}

Result<void> check_extents(const MapSubject& subject) {
  const TensorMapSpec& spec = subject.spec;
  for (std::size_t i = 0; i < static_cast<std::size_t>(spec.box_rank()); ++i) {
    const std::uint32_t limit = subject.tiled() || i == 0 ? kBoxMax : kPixelsMax;
    if (spec.box[i] >= 1 && spec.box[i] <= limit) continue;
    if (subject.tiled()) {
      return subject.fault("{} has {} elements in dimension {}; each takes 1 to {}", subject.box(), spec.box[i],
                           subject.written(i), limit);
    }
    return subject.fault("{} has {} {}; an {} map takes 1 to {}", subject.box(), spec.box[i],
                         i == 0 ? "channels" : "pixels", name_of(spec.mode), limit);
  }
  return {};
}

Result<void> check_row(const MapSubject& subject) {
  const TensorMapSpec& spec = subject.spec;
  const bool padded = spec.type() == MapType::b4x16_p64 || spec.type() == MapType::b6x16_p32;
  if (padded && spec.box[0] != kPaddedValues) {
    return subject.fault("{} is {} values wide; boxes of {} are {} wide", subject.box(), spec.box[0],
                         name_of(spec.type()), kPaddedValues);
  }
  if (padded || row_bits(subject) % 128 == 0) return {};
  return subject.fault("{} is {} bytes wide, not a multiple of 16; make its last extent {}", subject.box(),
                       row_bits(subject) / 8, rounded_up(row_bits(subject), 128) / subject.bits());
}

Result<void> check_volume(const MapSubject& subject) {
  const std::uint64_t bytes = box_bytes(subject.spec);
  if (bytes <= kSharedMemoryMax) return {};
  return subject.fault("{} is {} bytes; the shared memory of a block holds {}", subject.box(), bytes, kSharedMemoryMax);
}

// The range of corner offsets for a rank: 16 bits in total for the corners of each side. The driver enforces it for the
// wide modes too.
struct Range {
  std::int32_t low, high;
};
Range range_of(const MapSubject& subject) {
  constexpr std::array<Range, 3> kRanges = {Range{-32768, 32767}, Range{-128, 127}, Range{-16, 15}};
  return kRanges[subject.rank() - 3];
}

constexpr std::array<char, 3> kAxes = {'W', 'H', 'D'};

Result<void> check_range(const MapSubject& subject, const std::array<std::int32_t, 3>& corner, std::string_view side) {
  const TensorMapSpec& spec = subject.spec;
  const Range range = range_of(subject);
  for (std::size_t i = 0; i < static_cast<std::size_t>(spec.corners()); ++i) {
    if (corner[i] >= range.low && corner[i] <= range.high) continue;
    return subject.fault("the {} corner {} has {} along {}; an {} map of {} dimensions takes {} to {}", side,
                         outermost_first(corner, spec.corners()), corner[i], kAxes[i], name_of(spec.mode), spec.rank,
                         range.low, range.high);
  }
  return {};
}

// Follows the driver's arithmetic: it counts in 32 bits, so that extents from 2^31 on wrap around; in every dimension
// between the first and the last also for a wide map; and one dimension further inward for an interleaved map.
Result<void> check_pixels(const MapSubject& subject, std::size_t axis) {
  const TensorMapSpec& spec = subject.spec;
  const bool cornered = axis < static_cast<std::size_t>(spec.corners());
  const std::int32_t lower = cornered ? spec.lower[axis] : 0, upper = cornered ? spec.upper[axis] : 0;
  const std::uint64_t extent = spec.dims[spec.interleave == Interleave::none ? axis + 1 : axis];
  const auto end = static_cast<std::int32_t>(static_cast<std::uint32_t>(extent) + static_cast<std::uint32_t>(upper));
  if (end > lower) return {};
  if (extent >> 31 != 0) {
    return subject.fault("an {} map has {} pixels along {}; the driver takes less than 2^31", name_of(spec.mode),
                         extent, kAxes[axis]);
  }
  return subject.fault("the corners leave no pixel along {}: {} in the tensor, from {} at the first to {} at the last",
                       kAxes[axis], extent, lower, upper);
}

}  // namespace

std::string MapSubject::box() const {
  const bool own = spec.type() == map_type_of(spec.dtype);
  return fmt::format("box {} of {}", outermost_first(spec.box, spec.box_rank()),
                     own ? name_of(spec.dtype) : name_of(spec.type()));
}

Result<void> check_box(const MapSubject& subject) {
  TMA_JIT_CHECK(check_extents(subject));
  if (subject.spec.mode == MapMode::im2col_w128 && subject.spec.box[1] != kWidePixels) {
    return subject.fault("{} has {} pixels; im2col_w128 moves {}", subject.box(), subject.spec.box[1], kWidePixels);
  }
  TMA_JIT_CHECK(check_row(subject));
  return check_volume(subject);
}

Result<void> check_corners(const MapSubject& subject) {
  if (subject.tiled()) return {};
  TMA_JIT_CHECK(check_range(subject, subject.spec.lower, "lower"));
  TMA_JIT_CHECK(check_range(subject, subject.spec.upper, "upper"));
  for (std::size_t axis = 0; axis + 2 < subject.rank(); ++axis) TMA_JIT_CHECK(check_pixels(subject, axis));
  return {};
}

Result<void> check_swizzle(const MapSubject& subject) {
  const TensorMapSpec& spec = subject.spec;
  const std::uint32_t span = span_of(spec.swizzle);
  if (spec.interleave == Interleave::none && span != 0 && row_bits(subject) > std::uint64_t{8} * span) {
    return subject.fault("box {} at swizzle {} is {} bytes wide, limit {}", outermost_first(spec.box, spec.box_rank()),
                         span, row_bits(subject) / 8, span);
  }
  return {};
}

Result<void> check_documented(const MapSubject& subject) {
  const TensorMapSpec& spec = subject.spec;
  const MapType type = spec.type();
  const bool wide = spec.mode == MapMode::im2col_w || spec.mode == MapMode::im2col_w128;
  const bool padded = type == MapType::b4x16_p64 || type == MapType::b6x16_p32;
  const std::string_view what = wide ? name_of(spec.mode) : name_of(type);
  if ((wide || padded) && spec.interleave != Interleave::none) return subject.fault("{} takes no interleave", what);
  const Swizzle swizzle = spec.swizzle;
  const bool full = swizzle == Swizzle::b128 || swizzle == Swizzle::b128_atom_b32;
  if (wide && !full && swizzle != Swizzle::b64)
    return subject.fault("{} takes swizzle 64, 128 or 128 with atom 32; this map has {}", what, span_of(swizzle));
  const bool stored = type == MapType::b6x16_p32 && swizzle == Swizzle::b128_atom_b64;
  if (padded && !full && !stored && swizzle != Swizzle::none) {
    return subject.fault("{} takes swizzle 0, 128 or 128 with atom 32; this map has {}", name_of(type),
                         span_of(swizzle));
  }
  return {};
}

}  // namespace tma_jit::plan
