#include "emulator/tensor/row.h"

#include <algorithm>

namespace tma_jit::emulator::tensor {
namespace {

u32 bytes_of_unit(ElementType element) {
  switch (element) {
    case ElementType::b4x16: return 1;
    case ElementType::b4x16_p64: return 8;
    case ElementType::b6x16_p32: return 12;
    default: return static_cast<u32>(element_bytes(element));
  }
}

bool is_padded(ElementType element) {
  return element == ElementType::b4x16_p64 || element == ElementType::b6x16_p32;
}

// Stores extend to the end of the 16 bytes that contain the last element.
s64 end_units(const TensorMap& map, Direction direction, u32 unit) {
  const s64 units = static_cast<s64>(map.dims[0] / RowWriter::unit_elements(map.element));
  if (direction == Direction::load || is_padded(map.element)) return units;
  return (units * unit + 15) / 16 * 16 / unit;
}

}  // namespace

u32 RowWriter::unit_elements(ElementType element) {
  return is_padded(element) ? 16 : element == ElementType::b4x16 ? 2 : 1;
}

RowWriter::RowWriter(const Access& access, Direction direction, std::vector<Run>& runs)
    : map_(access.map),
      direction_(direction),
      runs_(runs),
      global_unit_(bytes_of_unit(map_.element)),
      shared_unit_(is_padded(map_.element) ? 16 : global_unit_),
      units_((map_.walk == Walk::tile ? map_.box[0] : map_.channels) / unit_elements(map_.element)),
      first_(access.coordinates[0] / static_cast<s64>(unit_elements(map_.element))),
      end_(end_units(map_, direction, global_unit_)),
      shared_(access.shared) {}

void RowWriter::write(s64 offset, bool inside) {
  const u32 step = is_padded(map_.element) ? 1 : units_;  // padded units are not contiguous
  for (u32 unit = 0; unit < units_; unit += step) {
    if (inside) {
      write_units(offset, first_ + unit, step);
    } else if (direction_ == Direction::load) {
      append({0, shared_, step * global_unit_, true});
    }
    shared_ += step * shared_unit_;
  }
}

// Units outside dimension 0 are before or after those inside, so that there are at most three parts.
void RowWriter::write_units(s64 offset, s64 first, u32 units) {
  const s64 last = first + units;
  const s64 from = std::clamp<s64>(0, first, last);
  const s64 to = std::clamp<s64>(end_, from, last);
  const auto part = [&](s64 begin, s64 end, bool fill) {
    if (begin >= end || (fill && direction_ == Direction::store)) return;
    const u64 global = map_.address + static_cast<u64>(offset + begin * global_unit_);
    append({fill ? 0 : global, shared_ + static_cast<u32>(begin - first) * shared_unit_,
            static_cast<u32>(end - begin) * global_unit_, fill});
  };
  part(first, from, true);
  part(from, to, false);
  part(to, last, true);
}

void RowWriter::append(Run run) {
  if (!runs_.empty() && !is_padded(map_.element) && map_.swizzle == SwizzleMode::none) {
    Run& before = runs_.back();
    const bool adjacent = before.shared + before.bytes == run.shared && before.fill == run.fill;
    if (adjacent && (run.fill || before.global + before.bytes == run.global)) {
      before.bytes += run.bytes;
      return;
    }
  }
  runs_.push_back(run);
}

}  // namespace tma_jit::emulator::tensor
