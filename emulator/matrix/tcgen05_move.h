// tcgen05.ld, .st, .cp and .shift: copies between tensor memory, registers and shared memory. PTX ISA 9.0, "Tensor
// Memory Load and Store Instructions", "Data Movement Shape", "tcgen05.cp", "tcgen05.shift".
#pragma once

#include <vector>

#include "emulator/byte_range.h"
#include "emulator/matrix/descriptor.h"
#include "emulator/matrix/registers.h"
#include "emulator/matrix/tensor_memory_layout.h"

namespace tma_jit::emulator::matrix {

enum class LoadShape : u8 { m32x32b, m16x64b, m16x128b, m16x256b, m16x32bx2 };

// tcgen05.ld and tcgen05.st by one warp.
struct TensorAccess {
  LoadShape shape = LoadShape::m32x32b;
  u32 repeat = 1;       // .x1 to .x128
  bool halves = false;  // .pack::16b, .unpack::16b: a register holds the lower halves of two adjacent columns
  u32 address = 0;
  u32 half_split = 0;  // immHalfSplitoff of 16x32bx2, in columns
};

u32 registers_of(const TensorAccess& access);
// Returns the regions of an access, checked against the memory and the 32 lanes of the warp with index `warp` in its
// warpgroup. Lane 0 in the address means the warp's first lane, as existing kernels assume. Throws tensor_memory
// faults.
std::vector<Region> footprint(const TensorAccess& access, u32 warp);
void load(const TensorAccess& access, u32 warp, const u32* tensor, Registers d);
void store(const TensorAccess& access, u32 warp, u32* tensor, Registers s);

enum class CopyShape : u8 { m128x256b, m4x256b, m128x128b, m64x128b_02_13, m64x128b_01_23, m32x128b_warpx4 };
enum class Decompression : u8 { none, b4x16_p64, b6x16_p32 };  // to b8x16

// tcgen05.cp into one CTA's tensor memory, from its shared memory.
struct TensorCopy {
  CopyShape shape = CopyShape::m128x256b;
  Decompression decompression = Decompression::none;
  u64 descriptor = 0;
  u32 address = 0;
};

struct TensorCopyPlan {
  std::vector<ByteRange> reads;
  std::vector<Region> writes;
};
TensorCopyPlan plan(const TensorCopy& copy, u32 shared_size);
void execute(const TensorCopy& copy, const u8* shared, u32* tensor);

// tcgen05.shift.down: in each 32 lanes from the address on, a lane receives eight columns of the next lane; the last
// lane is unchanged.
std::vector<Region> shift_footprint(u32 address);
void shift_down(u32 address, u32* tensor);

}  // namespace tma_jit::emulator::matrix
