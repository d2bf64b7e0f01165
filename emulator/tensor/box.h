// The bytes that a tensor copy moves: the box as runs of bytes, each between one range of global memory and one of
// shared memory. PTX ISA 9.0, "Tensors": tiled mode, im2col mode, im2col::w modes, swizzling modes.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "emulator/tensor/tensor_map.h"

namespace tma_jit::emulator::tensor {

enum class Mode : u8 { tile, gather4, scatter4, im2col, im2col_no_offsets, im2col_w, im2col_w128 };
enum class Direction : u8 { load, store };  // stores include reductions

// The operands of one copy.
struct Access {
  TensorMap map;
  Mode mode = Mode::tile;
  // In the order of the instruction: dimension 0 first; for gather4 and scatter4 one column and four rows.
  std::array<s32, 5> coordinates{};
  u32 coordinate_count = 0;
  std::array<u32, 3> offsets{};  // im2col: offsets in W, H, D; im2col::w: wHalo, wOffset
  u32 shared = 0;                // offset of the box in the block's shared memory
};

// A range of `bytes` bytes of shared memory that is copied from or to `global`, or filled if it is outside the tensor.
// `shared` is its offset before the swizzle.
struct Run {
  u64 global = 0;
  u32 shared = 0;
  u32 bytes = 0;
  bool fill = false;
};

// Throws a fault if the operands of the instruction do not fit the map or each other.
void check_access(const Access& access, Direction direction);

// Returns the number of bytes that the copy completes on its mbarrier: all elements of the box, including those outside
// the tensor. A padded format counts data without padding.
u32 transaction_bytes(const Access& access);

// Appends the runs of the copy in the order of the box. With a swizzle, no run is longer than a row. A store has no
// runs outside the tensor; in dimension 0 it is clipped to 16 bytes only, as on the device (observed on an H100), so
// that it may write into the padding of a row.
void append_runs(const Access& access, Direction direction, std::vector<Run>& runs);

// Returns the shared-memory address to which the swizzle moves the byte at `address`. The pattern is a function of
// absolute addresses.
inline u32 swizzled(const TensorMap& map, u32 address) {
  if (map.swizzle == SwizzleMode::none) return address;
  if (map.swizzle == SwizzleMode::b32) return address ^ ((address >> 3) & 0x10);
  if (map.swizzle == SwizzleMode::b64) return address ^ ((address >> 3) & 0x30);
  switch (map.atomicity) {
    case Atomicity::b16: return address ^ ((address >> 3) & 0x70);
    case Atomicity::b32: return address ^ ((address >> 2) & 0x60);
    case Atomicity::b32_flip_b8: return address ^ ((address >> 2) & 0x60) ^ ((address >> 4) & 0x8);
    case Atomicity::b64: return address ^ ((address >> 1) & 0x40);
  }
  return address;
}

// Calls f(shared, offset, bytes) for each contiguous piece of a swizzled run: its location in shared memory and its
// offset from the start of the run.
template <class F> void for_each_piece(const TensorMap& map, const Run& run, F f) {
  if (map.swizzle == SwizzleMode::none) return f(run.shared, 0U, run.bytes);
  // A swizzle moves units of 16 bytes, except for the mode that also exchanges their halves.
  const u32 finest = map.atomicity == Atomicity::b32_flip_b8 ? 8 : 16;
  for (u32 offset = 0; offset < run.bytes;) {
    const u32 at = run.shared + offset;
    const u32 bytes = std::min(finest - at % finest, run.bytes - offset);
    f(swizzled(map, at), offset, bytes);
    offset += bytes;
  }
}

// The same for contiguous ranges of shared memory, the bytes of which may be in any order.
template <class F> void for_each_contiguous(const TensorMap& map, const Run& run, F f) {
  constexpr u32 kSpan = 128;  // the range within which every swizzle moves bytes
  if (map.swizzle == SwizzleMode::none || (run.shared % kSpan == 0 && run.bytes % kSpan == 0))
    return f(run.shared, run.bytes);
  for_each_piece(map, run, [&f](u32 shared, u32, u32 bytes) { f(shared, bytes); });
}

}  // namespace tma_jit::emulator::tensor
