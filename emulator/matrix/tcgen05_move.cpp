#include "emulator/matrix/tcgen05_move.h"

#include <algorithm>

#include "emulator/fault.h"

namespace tma_jit::emulator::matrix {
namespace {

constexpr u32 kWarpLanes = 32;

// Registers of .x1, and columns of 32 bits.
struct ShapeFacts {
  u32 lanes;
  u32 registers;
  u32 columns;
};

ShapeFacts facts_of(LoadShape shape) {
  switch (shape) {
    case LoadShape::m32x32b: return {32, 1, 1};
    case LoadShape::m16x64b: return {16, 1, 2};
    case LoadShape::m16x128b: return {16, 2, 4};
    case LoadShape::m16x256b: return {16, 4, 8};
    case LoadShape::m16x32bx2: return {16, 1, 1};
  }
  return {};
}

struct Cell {
  u32 lane;
  u32 column;
};

// Returns the cell of register r of lane l, relative to the address.
Cell cell_of(const TensorAccess& access, u32 l, u32 r) {
  switch (access.shape) {
    case LoadShape::m32x32b: return {l, r};
    case LoadShape::m16x64b: return {l / 4 + 8 * (l % 2), l / 2 % 2 + 2 * r};
    case LoadShape::m16x128b: return {l / 4 + 8 * (r % 2), l % 4 + 4 * (r / 2)};
    case LoadShape::m16x256b: return {l / 4 + 8 * (r / 2 % 2), r % 2 + 2 * (l % 4) + 8 * (r / 4)};
    case LoadShape::m16x32bx2: return {l % 16, r};
  }
  return {};
}

// A packed register takes two columns, any other one.
u32 column_width(const TensorAccess& access) {
  return access.halves ? 2 : 1;
}

u32 split_of(const TensorAccess& access, u32 l) {
  return access.shape == LoadShape::m16x32bx2 && l >= 16 ? access.half_split : 0;
}

u32 base_lane(const TensorAccess& access, u32 warp) {
  const u32 lane = lane_of(access.address);
  return lane == 0 ? warp * kWarpLanes : lane;
}

// Calls visit(register, lane, word) for every word of the access.
template <class Word, class Visit> void visit_words(const TensorAccess& access, u32 warp, Word* tensor, Visit visit) {
  const u32 width = column_width(access);
  const u32 lane = base_lane(access, warp);
  for (u32 r = 0; r < registers_of(access); ++r) {
    for (u32 l = 0; l < kWarpLanes; ++l) {
      const Cell cell = cell_of(access, l, r);
      visit(r, static_cast<int>(l),
            word_at(tensor, lane + cell.lane, column_of(access.address) + split_of(access, l) + cell.column * width));
    }
  }
}

// The rows of a tcgen05.cp, the 32-bit words of each, and the lanes to which the rows are copied and repeated.
struct CopyFacts {
  u32 rows;
  u32 words;
};

CopyFacts facts_of(CopyShape shape) {
  switch (shape) {
    case CopyShape::m128x256b: return {128, 8};
    case CopyShape::m4x256b: return {4, 8};
    case CopyShape::m128x128b: return {128, 4};
    case CopyShape::m64x128b_02_13:
    case CopyShape::m64x128b_01_23: return {64, 4};
    case CopyShape::m32x128b_warpx4: return {32, 4};
  }
  return {};
}

struct Lanes {
  u32 first;
  u32 copies;
  u32 step;
};

Lanes lanes_of_row(CopyShape shape, u32 row) {
  switch (shape) {
    case CopyShape::m4x256b: return {row * kWarpLanes, 1, 0};
    case CopyShape::m64x128b_02_13: return {row, 2, 64};
    case CopyShape::m64x128b_01_23: return {row / 32 * 64 + row % 32, 2, 32};
    case CopyShape::m32x128b_warpx4: return {row, 4, 32};
    default: return {row, 1, 0};
  }
}

// Returns the address of a 16-byte chunk of a row; eight rows form a group, as in an operand along K.
u32 chunk_address(const SharedDescriptor& descriptor, u32 row, u32 chunk) {
  const u32 group = descriptor.start + row / 8 * descriptor.stride;
  if (descriptor.swizzle == Swizzle::none) return group + row % 8 * 16 + chunk * std::max(descriptor.leading, 16U);
  return swizzled(descriptor, group + row % 8 * span_of(descriptor.swizzle) + chunk * 16);
}

// Returns how many of 16 bytes of shared memory are data; the rest is padding.
u32 read_bytes(Decompression decompression) {
  return decompression == Decompression::none ? 16 : decompression == Decompression::b4x16_p64 ? 8 : 12;
}

// Expands 16 elements of 4 or 6 bits at the front of 16 bytes of shared memory to 16 bytes of tensor memory. A 4-bit
// element takes bits 2 to 5 of its byte, as the multiplications read it, a 6-bit element the lower six bits.
void decompress(Decompression decompression, const u8* from, u8* to) {
  if (decompression == Decompression::none) {
    std::memcpy(to, from, 16);
    return;
  }
  const u32 bits = decompression == Decompression::b4x16_p64 ? 4 : 6;
  for (u32 i = 0; i < 16; ++i) {
    const u32 at = i * bits;
    const u32 pair = from[at / 8] | static_cast<u32>(from[at / 8 + 1]) << 8;
    const u32 value = (pair >> at % 8) & ((1U << bits) - 1);
    to[i] = static_cast<u8>(bits == 4 ? value << 2 : value);
  }
}

}  // namespace

u32 registers_of(const TensorAccess& access) {
  return facts_of(access.shape).registers * access.repeat;
}

std::vector<Region> footprint(const TensorAccess& access, u32 warp) {
  const ShapeFacts facts = facts_of(access.shape);
  const u32 columns = facts.columns * access.repeat * column_width(access);
  const u32 lane = base_lane(access, warp);
  std::vector<Region> regions = {{lane, facts.lanes, column_of(access.address), columns}};
  if (access.shape == LoadShape::m16x32bx2)
    regions.push_back({lane, facts.lanes, column_of(access.address) + access.half_split, columns});
  for (const Region& region : regions) check_inside(region, "tcgen05.ld or .st");
  const u32 first = warp * kWarpLanes;
  if (lane < first || lane + facts.lanes > first + kWarpLanes) {
    throw_fault(FaultKind::tensor_memory,
                "warp {} of its warpgroup may touch lanes {} to {} of tensor memory, and accesses {} to {}", warp,
                first, first + kWarpLanes - 1, lane, lane + facts.lanes - 1);
  }
  if (lane % facts.lanes != 0)
    throw_fault(FaultKind::alignment, "tcgen05.ld and .st of {} lanes begin at lane {}", facts.lanes, lane);
  return regions;
}

void load(const TensorAccess& access, u32 warp, const u32* tensor, Registers d) {
  visit_words(access, warp, tensor, [&](u32 r, int l, const u32* word) {
    set_lane_word(d, r, l, access.halves ? (word[0] & 0xffff) | word[1] << 16 : word[0]);
  });
}

void store(const TensorAccess& access, u32 warp, u32* tensor, Registers s) {
  visit_words(access, warp, tensor, [&](u32 r, int l, u32* word) {
    const u32 value = lane_word(s, r, l);
    word[0] = access.halves ? value & 0xffff : value;
    if (access.halves) word[1] = value >> 16;
  });
}

TensorCopyPlan plan(const TensorCopy& copy, u32 shared_size) {
  const SharedDescriptor descriptor = decode_tcgen05(copy.descriptor);
  const CopyFacts facts = facts_of(copy.shape);
  TensorCopyPlan plan;
  for (u32 row = 0; row < facts.rows; ++row) {
    for (u32 chunk = 0; chunk < facts.words / 4; ++chunk) {
      const u32 address = chunk_address(descriptor, row, chunk);
      if (address + 16 > shared_size) {
        throw_fault(FaultKind::bounds, "tcgen05.cp reads shared memory at {:#x}, beyond the block's {:#x} bytes",
                    address, shared_size);
      }
      plan.reads.push_back({address, read_bytes(copy.decompression)});
    }
    const Lanes lanes = lanes_of_row(copy.shape, row);
    for (u32 i = 0; i < lanes.copies; ++i) {
      plan.writes.push_back(
          {lane_of(copy.address) + lanes.first + i * lanes.step, 1, column_of(copy.address), facts.words});
    }
    check_inside(plan.writes.back(), "tcgen05.cp");
  }
  return plan;
}

void execute(const TensorCopy& copy, const u8* shared, u32* tensor) {
  const SharedDescriptor descriptor = decode_tcgen05(copy.descriptor);
  const CopyFacts facts = facts_of(copy.shape);
  for (u32 row = 0; row < facts.rows; ++row) {
    const Lanes lanes = lanes_of_row(copy.shape, row);
    for (u32 chunk = 0; chunk < facts.words / 4; ++chunk) {
      u8 bytes[16];
      decompress(copy.decompression, shared + chunk_address(descriptor, row, chunk), bytes);
      for (u32 i = 0; i < lanes.copies; ++i) {
        std::memcpy(
            word_at(tensor, lane_of(copy.address) + lanes.first + i * lanes.step, column_of(copy.address) + chunk * 4),
            bytes, sizeof bytes);
      }
    }
  }
}

std::vector<Region> shift_footprint(u32 address) {
  if (lane_of(address) % kWarpLanes != 0)
    throw_fault(FaultKind::alignment, "tcgen05.shift begins at lane {}, not at a multiple of 32", lane_of(address));
  const Region region = {lane_of(address), kTensorLanes - std::min(lane_of(address), kTensorLanes - 1),
                         column_of(address), 8};
  check_inside(region, "tcgen05.shift");
  return {region};
}

void shift_down(u32 address, u32* tensor) {
  for (u32 lane = lane_of(address); lane < kTensorLanes; ++lane) {
    if (lane % kWarpLanes == kWarpLanes - 1) continue;
    std::copy_n(word_at(tensor, lane + 1, column_of(address)), 8, word_at(tensor, lane, column_of(address)));
  }
}

}  // namespace tma_jit::emulator::matrix
