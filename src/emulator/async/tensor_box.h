// The walk over the elements that one tensor copy moves: which bytes of global memory belong to which bytes of shared
// memory, and which lie outside the tensor. PTX ISA 9.0, "Tensors": tiled mode, im2col mode, swizzling modes.
#pragma once

#include <array>
#include <functional>

#include "emulator/async/tensor_map.h"

namespace tma_jit::emulator::async {

struct TensorCoordinates {
  std::array<s32, 5> at{};       // innermost first; gather4: the column and four rows
  std::array<s32, 3> offsets{};  // im2col
  bool gather = false;           // tile::gather4, tile::scatter4
};

// One run of neighbouring bytes. `global` is 0 where it lies outside the tensor.
struct Run {
  u64 global;
  u32 shared;  // offset, swizzle applied
  u32 bytes;   // in shared memory; in global memory `global_bytes`
  u32 global_bytes;
};

class TensorBox {
 public:
  // `shared` is the tile's offset in shared memory.
  TensorBox(const TensorMap& map, const TensorCoordinates& coordinates, u32 shared);

  u32 rows() const { return rows_; }
  u32 row_bytes() const { return row_bytes_; }
  u32 bytes() const { return rows_ * row_bytes_; }  // of shared memory
  // The runs of one row, in order. `whole_chunks`: a chunk that the tensor's extent cuts is one run all the same, as in
  // stores, which the hardware clips in units of 16 bytes only (seen on an H100).
  template <class F> void for_each_run(u32 row, bool whole_chunks, F f) const;

 private:
  struct Row {
    bool inside;
    u64 address;  // of the element with inner coordinate 0
    s64 column;   // of the first element
  };
  Row locate(u32 row) const;
  Row locate_tile(u32 row) const;
  Row locate_gather(u32 row) const;
  Row locate_pixel(u32 row) const;

  const TensorMap& map_;
  const TensorCoordinates& coordinates_;
  const u32 shared_;
  const ElementUnit unit_;
  u32 rows_ = 1;
  u32 columns_ = 0;  // elements of a row
  u32 row_bytes_ = 0;
};

template <class F> void TensorBox::for_each_run(u32 row, bool whole_chunks, F f) const {
  const Row at = locate(row);
  const s64 extent = static_cast<s64>(map_.extent(0));
  const bool flips = map_.swizzle == TensorMap::Swizzle::b128_atom32_flip8;
  const u32 chunk = flips ? 8 : unit_.shared > 16 ? unit_.shared : 16;
  const u32 units_of_chunk = chunk / unit_.shared > 0 ? chunk / unit_.shared : 1;
  const u32 elements = units_of_chunk * unit_.elements;
  for (u32 first = 0; first < columns_; first += elements) {
    const u32 count = first + elements <= columns_ ? elements : columns_ - first;
    const u32 linear = shared_ + row * row_bytes_ + first / unit_.elements * unit_.shared;
    const u32 to = swizzled(linear, map_.swizzle);
    const s64 column = at.column + first;
    const auto global_at = [&](s64 c) { return at.address + static_cast<u64>(c) / unit_.elements * unit_.global; };
    if (at.inside && column >= 0 && (column + count <= extent || (whole_chunks && column < extent))) {
      f(Run{global_at(column), to, count / unit_.elements * unit_.shared, count / unit_.elements * unit_.global});
      continue;
    }
    for (u32 i = 0; i < count; i += unit_.elements) {
      const s64 c = column + i;
      const bool inside = at.inside && c >= 0 && c < extent;
      f(Run{inside ? global_at(c) : 0, to + i / unit_.elements * unit_.shared, unit_.shared, unit_.global});
    }
  }
}

}  // namespace tma_jit::emulator::async
