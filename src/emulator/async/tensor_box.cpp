#include "emulator/async/tensor_box.h"

namespace tma_jit::emulator::async {
namespace {

u32 ceil_div(u32 a, u32 b) {
  return (a + b - 1) / b;
}

}  // namespace

TensorBox::TensorBox(const TensorMap& map, const TensorCoordinates& coordinates, u32 shared)
    : map_(map), coordinates_(coordinates), shared_(shared), unit_(unit_of(map.type)) {
  columns_ = map.box[0];
  if (coordinates.gather) {
    rows_ = 4;
  } else if (map.mode != TensorMap::Mode::tile) {
    rows_ = map.box[1];
  } else {
    for (std::size_t i = 1; i < map.rank; ++i) rows_ *= ceil_div(map.box[i], map.steps[i]);
  }
  row_bytes_ = columns_ / unit_.elements * unit_.shared;
}

TensorBox::Row TensorBox::locate(u32 row) const {
  if (coordinates_.gather) return locate_gather(row);
  return map_.mode == TensorMap::Mode::tile ? locate_tile(row) : locate_pixel(row);
}

TensorBox::Row TensorBox::locate_tile(u32 row) const {
  Row at{true, map_.address, coordinates_.at[0]};
  for (std::size_t i = 1; i < map_.rank; ++i) {
    const u32 count = ceil_div(map_.box[i], map_.steps[i]);
    const s64 index = coordinates_.at[i] + s64{row % count} * map_.steps[i];
    row /= count;
    if (index < 0 || index > s64{map_.last[i]}) at.inside = false;
    at.address += static_cast<u64>(index) * map_.strides[i - 1];
  }
  return at;
}

// A two-dimensional map whose rows are named one by one.
TensorBox::Row TensorBox::locate_gather(u32 row) const {
  const s64 index = coordinates_.at[1 + row];
  return {index >= 0 && index <= s64{map_.last[1]}, map_.address + static_cast<u64>(index) * map_.strides[0],
          coordinates_.at[0]};
}

// Pixels of the bounding box in order, from the one that the coordinates name; each is read at its place plus the
// filter's offsets.
TensorBox::Row TensorBox::locate_pixel(u32 row) const {
  const std::size_t spatial = map_.rank - std::size_t{2};
  std::array<s64, 4> position{};  // spatial dimensions, then the image
  s64 carry = row;
  for (std::size_t i = 0; i < spatial; ++i) {
    const s64 low = map_.lower[i], step = map_.steps[1 + i];
    const s64 high = static_cast<s64>(map_.extent(1 + i)) + map_.upper[i];
    const s64 count = high > low ? (high - low + step - 1) / step : 1;
    const s64 index = (coordinates_.at[1 + i] - low) / step + carry;
    position[i] = low + index % count * step;
    carry = index / count;
  }
  position[spatial] = coordinates_.at[1 + spatial] + carry;
  Row at{true, map_.address, coordinates_.at[0]};
  for (std::size_t i = 0; i <= spatial; ++i) {
    const s64 index = position[i] + (i < spatial ? coordinates_.offsets[i] : 0);
    if (index < 0 || index > s64{map_.last[1 + i]}) at.inside = false;
    at.address += static_cast<u64>(index) * map_.strides[i];
  }
  return at;
}

}  // namespace tma_jit::emulator::async
