#include "emulator/tensor/box.h"

#include <algorithm>
#include <string_view>

#include "emulator/fault.h"
#include "emulator/tensor/row.h"

namespace tma_jit::emulator::tensor {
namespace {

s64 coordinate(const Access& access, int d) {
  return access.coordinates[static_cast<std::size_t>(d)];
}

// The offset of an index in dimension d > 0, or out of bounds.
struct Position {
  s64 offset = 0;
  bool inside = true;

  void add(const TensorMap& map, int d, s64 index) {
    const auto at = static_cast<std::size_t>(d);
    inside = inside && index >= 0 && index < static_cast<s64>(map.dims[at]);
    offset += index * static_cast<s64>(map.strides[at - 1]);
  }
};

void walk_tile(const Access& access, RowWriter& writer) {
  const TensorMap& map = access.map;
  std::array<u32, kMaxRank> counts{1, 1, 1, 1, 1};
  u32 rows = 1;
  for (std::size_t d = 1; d < map.rank; ++d) {
    counts[d] = (map.box[d] + map.element_strides[d] - 1U) / map.element_strides[d];
    rows *= counts[d];
  }
  for (u32 row = 0; row < rows; ++row) {
    Position position;
    u32 rest = row;
    for (int d = 1; d < map.rank; ++d) {
      const auto at = static_cast<std::size_t>(d);
      position.add(map, d, coordinate(access, d) + s64{rest % counts[at]} * map.element_strides[at]);
      rest /= counts[at];
    }
    writer.write(position.offset, position.inside);
  }
}

void walk_rows4(const Access& access, RowWriter& writer) {
  for (int i = 1; i <= 4; ++i) {
    Position position;
    position.add(access.map, 1, coordinate(access, i));
    writer.write(position.offset, position.inside);
  }
}

// The position of a pixel in W, H, D and N, and its successor within the bounding box.
class Pixel {
 public:
  Pixel(const Access& access, int walked, s64 shift) : map_(&access.map), walked_(walked), shift_(shift) {
    for (int d = 1; d < map_->rank; ++d) at_[static_cast<std::size_t>(d)] = coordinate(access, d);
    at_[1] += shift;
  }

  s64 at(int d) const { return at_[static_cast<std::size_t>(d)]; }

  // Advances to the next pixel: W fastest, then the other walked dimensions, then the next image.
  void advance() {
    for (int d = 1; d <= walked_; ++d) {
      const auto i = static_cast<std::size_t>(d);
      at_[i] += map_->element_strides[i];
      const s64 shift = d == 1 ? shift_ : 0;
      if (at_[i] < static_cast<s64>(map_->dims[i]) + map_->upper[i - 1] + shift) return;
      at_[i] = map_->lower[i - 1] + shift;
    }
    ++at_[static_cast<std::size_t>(map_->rank - 1)];
  }

  void advance_in_row() { at_[1] += map_->element_strides[1]; }

 private:
  const TensorMap* map_;
  int walked_;  // the first dimensions of the bounding box
  s64 shift_;   // of the bounding box in W
  std::array<s64, kMaxRank> at_{};
};

void write_pixel(const Access& access, const Pixel& pixel, RowWriter& writer) {
  Position position;
  for (int d = 1; d < access.map.rank; ++d) {
    const bool moved = access.mode == Mode::im2col && d < access.map.rank - 1;
    position.add(access.map, d, pixel.at(d) + (moved ? s64{access.offsets[static_cast<std::size_t>(d - 1)]} : 0));
  }
  writer.write(position.offset, position.inside);
}

void walk_im2col(const Access& access, RowWriter& writer) {
  Pixel pixel(access, access.map.rank - 2, 0);
  for (u32 i = 0; i < access.map.pixels; ++i) {
    write_pixel(access, pixel, writer);
    pixel.advance();
  }
}

// Walks rows of pixels along W, each followed by its halo: the next pixels in W, inside the bounding box or not.
void walk_im2col_wide(const Access& access, RowWriter& writer) {
  const bool fixed = access.mode == Mode::im2col_w128;
  const u32 groups = fixed ? 4 : 1;
  const u32 pixels = fixed ? 32 : access.map.pixels;
  Pixel pixel(access, 1, access.offsets[1]);
  for (u32 group = 0; group < groups; ++group) {
    Pixel last = pixel;
    for (u32 i = 0; i < pixels; ++i) {
      write_pixel(access, pixel, writer);
      last = pixel;
      pixel.advance();
    }
    for (u32 i = 0; i < access.offsets[0]; ++i) {
      last.advance_in_row();
      write_pixel(access, last, writer);
    }
  }
}

std::string_view name_of(Walk walk) {
  return walk == Walk::tile ? "tile" : walk == Walk::im2col ? "im2col" : "im2col::w";
}

std::string_view name_of(Mode mode) {
  static constexpr std::array<std::string_view, 7> kNames = {
      "tile", "tile::gather4", "tile::scatter4", "im2col", "im2col_no_offs", "im2col::w", "im2col::w::128"};
  return kNames[static_cast<std::size_t>(mode)];
}

u32 expected_coordinates(const Access& access) {
  return access.mode == Mode::gather4 || access.mode == Mode::scatter4 ? 5 : access.map.rank;
}

void check_mode(const Access& access, Direction direction) {
  const TensorMap& map = access.map;
  const bool rows4 = access.mode == Mode::gather4 || access.mode == Mode::scatter4;
  const Walk walk = access.mode == Mode::tile || rows4                                      ? Walk::tile
                    : access.mode == Mode::im2col || access.mode == Mode::im2col_no_offsets ? Walk::im2col
                                                                                            : Walk::im2col_wide;
  if (walk != map.walk) {
    throw_fault(FaultKind::tensor_map, "the instruction copies by {} and the tensor map was encoded for {}",
                name_of(walk), name_of(map.walk));
  }
  if (rows4 && (map.rank != 2 || map.box[1] != 1)) {
    throw_fault(FaultKind::tensor_map,
                "gather4 and scatter4 need a map of rank 2 with a box of one row, not rank {} with {} rows", map.rank,
                map.box[1]);
  }
  const bool stores =
      access.mode == Mode::tile || access.mode == Mode::scatter4 || access.mode == Mode::im2col_no_offsets;
  const bool loads = access.mode != Mode::scatter4 && access.mode != Mode::im2col_no_offsets;
  if (direction == Direction::store ? !stores : !loads) {
    throw_fault(FaultKind::tensor_map, "a {} in mode {}, which has none",
                direction == Direction::store ? "store" : "load", name_of(access.mode));
  }
  if (direction == Direction::store && map.element == ElementType::b4x16_p64)
    throw_fault(FaultKind::tensor_map, "padded 4-bit elements can be loaded only");
}

}  // namespace

void check_access(const Access& access, Direction direction) {
  check_mode(access, direction);
  if (access.map.interleave != Interleave::none) {
    throw_fault(
        FaultKind::unsupported,
        "a copy by a tensor map of an interleaved layout (CUtensorMapInterleave {}), whose place in shared memory the "
        "emulator does not know",
        static_cast<int>(access.map.interleave));
  }
  if (access.coordinate_count != expected_coordinates(access)) {
    throw_fault(FaultKind::tensor_map, "the instruction has {} coordinates and the tensor map needs {}",
                access.coordinate_count, expected_coordinates(access));
  }
  if (access.shared % 128 != 0) {
    throw_fault(FaultKind::alignment, "the shared address {:#x} of a tensor copy is not a multiple of 128",
                access.shared);
  }
  const s64 unit = RowWriter::unit_elements(access.map.element);
  if (coordinate(access, 0) % unit != 0) {
    throw_fault(FaultKind::tensor_map, "coordinate 0 is {}; elements of this format are copied by {}",
                coordinate(access, 0), unit);
  }
  // On Hopper this case is an illegal instruction (observed, not documented).
  constexpr s64 kUnitBits = 128;
  if (access.mode == Mode::tile && coordinate(access, 0) * element_bits(access.map.element) % kUnitBits != 0) {
    throw_fault(
        FaultKind::tensor_map,
        "coordinate 0 is {}, of elements of {} bits; along the innermost dimension a box begins at a multiple of 16 "
        "bytes, or the hardware stops the kernel as an illegal instruction",
        coordinate(access, 0), element_bits(access.map.element));
  }
}

u32 transaction_bytes(const Access& access) {
  const TensorMap& map = access.map;
  u32 rows = 1;
  u32 elements = map.channels;
  switch (access.mode) {
    case Mode::tile:
      elements = map.box[0];
      for (std::size_t d = 1; d < map.rank; ++d)
        rows *= (map.box[d] + map.element_strides[d] - 1U) / map.element_strides[d];
      break;
    case Mode::gather4:
    case Mode::scatter4:
      elements = map.box[0];
      rows = 4;
      break;
    case Mode::im2col:
    case Mode::im2col_no_offsets: rows = map.pixels; break;
    case Mode::im2col_w: rows = map.pixels + access.offsets[0]; break;
    case Mode::im2col_w128: rows = 4 * (32 + access.offsets[0]); break;
  }
  return rows * elements * static_cast<u32>(element_bits(map.element)) / 8;
}

void append_runs(const Access& access, Direction direction, std::vector<Run>& runs) {
  RowWriter writer(access, direction, runs);
  switch (access.mode) {
    case Mode::tile: return walk_tile(access, writer);
    case Mode::gather4:
    case Mode::scatter4: return walk_rows4(access, writer);
    case Mode::im2col:
    case Mode::im2col_no_offsets: return walk_im2col(access, writer);
    case Mode::im2col_w:
    case Mode::im2col_w128: return walk_im2col_wide(access, writer);
  }
}

}  // namespace tma_jit::emulator::tensor
