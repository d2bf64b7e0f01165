// The record of a bounded wait (templates/device/pipeline/bounded_wait.cuh) that ended without its phase.
#pragma once

#include <cstdint>
#include <type_traits>

#include <tma_jit/error.h>

namespace tma_jit {

// What a kernel writes into global memory, which the caller clears before the launch; byte for byte the device's struct
// of this name. The first thread whose time is up fills it.
struct LostArrival {
  std::uint32_t found = 0;    // 1 once a wait has failed
  std::uint32_t block = 0;    // linear in the grid
  std::uint32_t thread = 0;   // linear in the block
  std::uint32_t barrier = 0;  // its byte address in shared memory
  std::uint32_t parity = 0;   // waited for
  std::uint32_t phase = 0;    // parity of the phase that is not complete
  std::uint32_t pending = 0;  // arrivals it still needs
  std::int32_t bytes = 0;     // announced and not landed; below zero where more landed than were announced
};
static_assert(sizeof(LostArrival) == 32 && std::is_trivially_copyable_v<LostArrival>);

// An error (ErrorCode::driver) that says who waited, where, and what never came; nothing when the record is still
// clear. Read the record after the launch: DeviceBuffer::download, or host memory that the device maps.
[[nodiscard]] TMA_JIT_API Result<void> check(const LostArrival& record);

}  // namespace tma_jit
