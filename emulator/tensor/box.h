// Which bytes a tensor copy moves: a box of a tensor as runs of bytes, each from one place of global memory to one of
// shared memory. PTX ISA 9.0, "Tensors": tiled mode, im2col mode, im2col::w modes, swizzling modes.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "emulator/tensor/tensor_map.h"

namespace tma_jit::emulator::tensor {

enum class Mode : u8 { tile, gather4, scatter4, im2col, im2col_no_offsets, im2col_w, im2col_w128 };
enum class Direction : u8 { load, store };  // a store is also a reduction

// One copy's operands.
struct Access {
  TensorMap map;
  Mode mode = Mode::tile;
  // As written in the instruction: dimension 0 first; for gather4 and scatter4 a column and four rows.
  std::array<s32, 5> coordinates{};
  u32 coordinate_count = 0;
  std::array<u32, 3> offsets{};  // im2col: offsets in W, H, D; im2col::w: wHalo, wOffset
  u32 shared = 0;                // offset of the box in its block's shared memory
};

// `bytes` bytes of shared memory, from or to `global`, or filled where no element of the tensor is. `shared` is where
// they would lie with no swizzle.
struct Run {
  u64 global = 0;
  u32 shared = 0;
  u32 bytes = 0;
  bool fill = false;
};

// Throws a fault where the instruction's operands do not fit the map or each other.
void check_access(const Access& access, Direction direction);

// What the copy counts on its mbarrier: the elements of the whole box, those outside the tensor too. A padded format
// counts its data, not its padding.
u32 transaction_bytes(const Access& access);

// Appends the runs of the copy in the order of the box, none longer than a row where there is a swizzle. A store has no
// runs outside the tensor. In dimension 0 it is clipped to 16 bytes only, as the device does (seen on an H100), so that
// it may write into the padding of a row.
void append_runs(const Access& access, Direction direction, std::vector<Run>& runs);

// The shared-memory address that the swizzle gives the byte at `address`; the pattern is one of absolute addresses.
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

// f(shared, offset, bytes) for each piece of a run that stays together: where it lies, `offset` bytes from the run's
// beginning on.
template <class F> void for_each_piece(const TensorMap& map, const Run& run, F f) {
  if (map.swizzle == SwizzleMode::none) return f(run.shared, 0U, run.bytes);
  // 16 bytes are the finest that a swizzle moves, but for the mode that also swaps their halves.
  const u32 finest = map.atomicity == Atomicity::b32_flip_b8 ? 8 : 16;
  for (u32 offset = 0; offset < run.bytes;) {
    const u32 at = run.shared + offset;
    const u32 bytes = std::min(finest - at % finest, run.bytes - offset);
    f(swizzled(map, at), offset, bytes);
    offset += bytes;
  }
}

// The same for stretches of shared memory, each with its bytes in any order.
template <class F> void for_each_stretch(const TensorMap& map, const Run& run, F f) {
  constexpr u32 kSpan = 128;  // within which every swizzle moves
  if (map.swizzle == SwizzleMode::none || (run.shared % kSpan == 0 && run.bytes % kSpan == 0))
    return f(run.shared, run.bytes);
  for_each_piece(map, run, [&f](u32 shared, u32, u32 bytes) { f(shared, bytes); });
}

}  // namespace tma_jit::emulator::tensor
