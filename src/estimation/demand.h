// What a plan demands of a device: amounts, and how its blocks are spread over the SMs. Read off the plan alone.
#pragma once

#include <cstdint>

#include <tma_jit/device_info.h>
#include <tma_jit/plan.h>

namespace tma_jit::estimation {

// The instructions that multiply, as the kernel's text names them.
enum class Unit : std::uint8_t { none, mma, wgmma, tcgen05 };

// A product of matrices whose block makes BM x BN elements in steps of BK along K. Bytes are those of one step.
struct Product {
  std::int64_t steps = 0;       // of a block for one tile
  double flops = 0;             // of a step
  double elements = 0;          // of a tile
  double loaded_bytes = 0;      // that the block reads from L2: less than a step's operands if a cluster shares them
  double shared_bytes = 0;      // written to shared memory, and read from it by the tensor cores; tcgen05 reads what
                                // its block loaded once, also for a pair of blocks
  double accesses = 0;          // by threads that copy to shared memory themselves; 0 with TMA
  std::int64_t stages = 1;      // steps whose copies are in flight
  std::int64_t parts = 1;       // that K is split into
  bool stores_overlap = false;  // another consumer multiplies while a tile is stored
};

struct Demand {
  double flops = 0;
  double hbm_bytes = 0;     // what must be moved, and operands that L2 does not hold until their next use
  double needed_bytes = 0;  // what must be moved
  bool described = true;    // false: the manifest states no work
  int element_bytes = 4;    // of the first input
  Unit unit = Unit::none;
  std::int64_t blocks_per_sm = 1;
  std::int64_t at_once = 0;  // blocks, or the tiles that they make, at a time
  std::int64_t pieces = 0;   // blocks, or tiles, in all
  std::int64_t waves = 0;
  double tail = 0;  // see Estimate::tail
  bool is_product = false;
  Product product{};  // only if is_product
};

Demand demand_of(const Plan& plan, const DeviceInfo& device);

}  // namespace tma_jit::estimation
