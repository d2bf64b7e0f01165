// Which bytes a tensor copy moves: a box of a tensor as runs of bytes, each from one place of global memory to one of
// shared memory. PTX ISA 9.0, "Tensors": tiled mode, im2col mode, im2col::w modes, swizzling modes.
#pragma once

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

// `bytes` bytes of shared memory at `shared`, from or to `global`, or filled where no element of the tensor is.
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

// Appends the runs of the copy in the order of the box; neighbours are joined. A store has no runs outside the tensor.
// In dimension 0 it is clipped to 16 bytes only, as the device does (seen on an H100), so that it may write into the
// padding of a row.
void append_runs(const Access& access, Direction direction, std::vector<Run>& runs);

// The shared-memory address that the swizzle gives the byte at `address`; the pattern is one of absolute addresses.
u32 swizzled(const TensorMap& map, u32 address);

// What the box's address should be a multiple of for the pattern to begin with it: 128, or the pattern's period.
u32 pattern_alignment(const TensorMap& map);

}  // namespace tma_jit::emulator::tensor
