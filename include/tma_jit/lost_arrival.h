// The record of a bounded wait (templates/device/pipeline/bounded_wait.cuh) that timed out before its phase completed.
#pragma once

#include <cstdint>
#include <type_traits>

#include <tma_jit/error.h>

namespace tma_jit {

// The kernel writes it to global memory, which the caller clears before the launch. The layout equals the device struct
// of this name. The first thread whose wait times out fills it.
struct LostArrival {
  std::uint32_t found = 0;    // 1 once a wait has failed
  std::uint32_t block = 0;    // linear in the grid
  std::uint32_t thread = 0;   // linear in the block
  std::uint32_t barrier = 0;  // byte address in shared memory
  std::uint32_t parity = 0;   // parity that was waited for
  std::uint32_t phase = 0;    // parity of the incomplete phase
  std::uint32_t pending = 0;  // arrivals that the phase still needs
  std::int32_t bytes = 0;     // bytes announced but not yet arrived; negative if more arrived than were announced
};
static_assert(sizeof(LostArrival) == 32 && std::is_trivially_copyable_v<LostArrival>);

// Returns an error (ErrorCode::driver) that says which thread waited for which barrier and what did not arrive, or
// success if the record is clear. Read the record after the launch, with DeviceBuffer::download or from host memory
// that the device maps.
[[nodiscard]] TMA_JIT_API Result<void> check(const LostArrival& record);

}  // namespace tma_jit
