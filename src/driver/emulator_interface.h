// The interface between this library and libtma_jit_emulator.so: the names, types and version of three C functions.
// Both libraries are compiled with this file. The version includes the sizes of structs, so that libraries of different
// releases reject each other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/fields.h"
#include "core/map_types.h"
#include "driver/api.h"

namespace tma_jit::driver {

// Indexed by EmulatorPolicy.
inline constexpr std::array<std::string_view, 5> kEmulatorPolicies = {"eager", "lazy", "random", "split", "starved"};

// The part of DeviceInfo that an emulated device needs, in C. The caller owns the texts, which are copied.
struct EmulatedFacts {
  const char* name;
  const char* arch;
  int compute_capability, sm_count, threads_per_block, threads_per_sm, cluster_max, multicast;
  std::int64_t smem_per_block, smem_per_sm, registers_per_sm, l2_bytes, memory_bytes;
  double clock_mhz, memory_gb_per_s, bf16_tflops, f32_tflops;
};

// EmulatorSettings in C. `warn` is called with each warning of a launch, in the launching thread, until the instance is
// closed.
struct EmulatorConfiguration {
  EmulatedFacts device;
  std::uint32_t policy;
  std::uint32_t checks;
  std::uint32_t references;
  std::uint64_t seed;
  std::uint64_t instructions;  // 0: no limit
  const char* trace;           // path of a file; empty: none
  void (*warn)(void* receiver, const char* text, std::size_t bytes);
  void* receiver;
};

// Incremented with every change of this interface that changes no size.
inline constexpr std::uint64_t kEmulatorRevision = 1;
inline constexpr std::uint64_t kEmulatorInterface =
    kEmulatorRevision << 32 | sizeof(Api) << 16 | sizeof(EmulatorConfiguration);

// Copies the numbers from one form of the facts to the other.
template <class From, class To> void copy_numbers(const From& from, To& to) {
  each_device_number([](const char*, auto& target, const auto& source) { target = source; }, to, from);
}

// The functions that the emulator's library exports.
extern "C" {
// Returns the library's kEmulatorInterface.
using EmulatorInterface = std::uint64_t (*)();
// Creates an instance, which is a separate device, and fills `table` with its functions and ordinal. Returns null if
// the host has no memory left, and in the child of a fork whose parent had a thread in the emulator. Instances share no
// state.
using EmulatorOpen = void* (*)(const EmulatorConfiguration* configuration, Api* table);
// Destroys the instance and its device memory. No function of its table may be called afterwards.
using EmulatorClose = void (*)(void* instance);
}
inline constexpr const char* kEmulatorInterfaceName = "tma_jit_emulator_interface";
inline constexpr const char* kEmulatorOpenName = "tma_jit_emulator_open";
inline constexpr const char* kEmulatorCloseName = "tma_jit_emulator_close";

}  // namespace tma_jit::driver
