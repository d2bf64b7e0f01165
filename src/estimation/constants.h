// The constants of the cost model: fitted to measurements by tools/estimate/fit.py, and shipped as constants.json.
#pragma once

#include <string>
#include <string_view>

#include <tma_jit/error.h>

namespace tma_jit::estimation {

struct Constants {
  double launch_us = 0;    // from a launch's begin to its first instruction, and from the last to its end
  double product_us = 0;   // more than that for a pipelined product: barriers, tensor maps, the first steps
  double fill_us = 0;      // reading more than L2 holds: bandwidth that ramps up, and old lines written back
  double hbm_share = 0;    // of the peak bandwidth, sustained
  double wgmma_share = 0;  // of the peak rate of tensor cores at the maximum clock, by instruction
  double tcgen05_share = 0;
  double mma_share = 0;
  double fused_share = 0;             // of that, for kernels that do more than multiply, such as attention
  double f32_share = 0;               // of the peak rate of CUDA cores
  double shared_bytes_per_cycle = 0;  // of an SM
  double l2_bytes_per_cycle = 0;      // that an SM takes in
  double access_cycles = 0;           // of an SM for each access of a thread that copies to shared memory itself
  double latency_cycles = 0;          // of a copy from L2; divided among the stages in flight
  double step_cycles = 0;             // of a step along K beside its work
  double tile_cycles = 0;             // of a tile beside its steps
  double store_cycles = 0;            // of storing an element of a tile
  double reduce_cycles = 0;           // of adding up the parts of a tile whose K is split
  double reduce_store_cycles = 0;     // the same for each element
  double sag = 0;                     // how much slower tensor cores are at the clock that the power limit sustains
  double sag_traffic = 0;             // how much more that is where an SM takes in bytes for as long as it multiplies
  double sag_us = 0;                  // time of a launch at which half of that is reached
  double overlap_sm = 0;              // exponent of the norm that joins the units of an SM; infinity: the slowest alone
  double overlap_hbm = 0;             // the same for an SM's time and HBM's
  std::string origin{};
};

// Returns the constants for a target: the text's base, with what it has for the target. Fails (parse) naming the field.
[[nodiscard]] Result<Constants> constants_for(std::string_view arch, std::string_view text);

}  // namespace tma_jit::estimation
