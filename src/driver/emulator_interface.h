// What this library and libtma_jit_emulator.so say to each other: the names, types and version of three C functions.
// Both are compiled with this file; sizes of structs are part of the version, so that libraries of different releases
// refuse each other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/fields.h"
#include "core/map_types.h"
#include "driver/api.h"

namespace tma_jit::driver {

// As EmulatorPolicy counts.
inline constexpr std::array<std::string_view, 5> kEmulatorPolicies = {"eager", "lazy", "random", "split", "starved"};

// DeviceInfo in C, what an emulated device needs of it. Texts are owned by the caller and copied.
struct EmulatedFacts {
  const char* name;
  const char* arch;
  int compute_capability, sm_count, threads_per_block, threads_per_sm, cluster_max, multicast;
  std::int64_t smem_per_block, smem_per_sm, registers_per_sm, l2_bytes, memory_bytes;
  double clock_mhz, memory_gb_per_s, bf16_tflops, f32_tflops;
};

// EmulatorSettings in C. `warn` is called with each warning of a launch, in the thread that launches, until the
// instance is closed.
struct EmulatorConfiguration {
  EmulatedFacts device;
  std::uint32_t policy;
  std::uint32_t checks;
  std::uint64_t seed;
  std::uint64_t instructions;  // 0: any number
  const char* trace;           // a file's path; empty: none
  void (*warn)(void* receiver, const char* text, std::size_t bytes);
  void* receiver;
};

// Raised with every change of what is said here that changes no size.
inline constexpr std::uint64_t kEmulatorRevision = 1;
inline constexpr std::uint64_t kEmulatorInterface =
    kEmulatorRevision << 32 | sizeof(Api) << 16 | sizeof(EmulatorConfiguration);

// Copies the numbers of one form of the facts to the other.
template <class From, class To> void copy_numbers(const From& from, To& to) {
  each_device_number([](const char*, auto& target, const auto& source) { target = source; }, to, from);
}

// What the emulator's library exports.
extern "C" {
// kEmulatorInterface of the library.
using EmulatorInterface = std::uint64_t (*)();
// Makes an instance: a device of its own, of which `table` gets the functions and the ordinal. Returns null where the
// host has no memory, and in a child of a fork whose parent had a thread in the emulator. Instances share nothing.
using EmulatorOpen = void* (*)(const EmulatorConfiguration* configuration, Api* table);
// After the last call of the table. Whatever was allocated on the device is gone.
using EmulatorClose = void (*)(void* instance);
}
inline constexpr const char* kEmulatorInterfaceName = "tma_jit_emulator_interface";
inline constexpr const char* kEmulatorOpenName = "tma_jit_emulator_open";
inline constexpr const char* kEmulatorCloseName = "tma_jit_emulator_close";

}  // namespace tma_jit::driver
