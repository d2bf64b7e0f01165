// Settings of an emulated device (Device::emulated). The emulator executes kernels on the CPU and checks them
// (docs/emulator.md). It is a separate library, libtma_jit_emulator.so, which an engine opens when it first needs its
// device.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include <tma_jit/error.h>

namespace tma_jit {

// When asynchronous operations complete. Every policy keeps the orders that PTX guarantees and no others.
enum class EmulatorPolicy : std::uint8_t {
  eager,    // immediately
  lazy,     // when nothing else can run
  random,   // at any time, in any order, in parts
  split,    // in as many parts as can be observed, with other work between two parts
  starved,  // as random, but one operation at a time is held back until nothing else can run
};

// Default limit of the warp instructions that a launch may execute; they take more than an hour.
inline constexpr std::uint64_t kEmulatorInstructions = 20'000'000'000;

struct EmulatorSettings {
  std::string arch{};  // the emulated target, e.g. "sm_100a"; empty: Options::arch, else sm_90a
  EmulatorPolicy policy = EmulatorPolicy::random;
  std::uint64_t seed = 1;  // the same policy and seed give the same run and the same report
  bool checks = true;      // false: faster, but races and reads of uninitialised memory go undetected
  bool references =
      false;  // true: races in reference kernels are looked for too, which makes them several times slower
  std::uint64_t instructions = kEmulatorInstructions;  // most warp instructions of a launch; 0: no limit
  int processors = 0;                                  // SMs of the device; 0: as many as the real device has
  std::filesystem::path trace{};                       // file that gets a timeline of every launch; empty: none
  std::filesystem::path library{};                     // libtma_jit_emulator.so to open instead of searching for it
};

// Returns the policy's name, e.g. "lazy".
TMA_JIT_API std::string_view name_of(EmulatorPolicy policy);

// Returns whether the text names the emulator: "emulator", or "emulator:" and settings.
TMA_JIT_API bool is_emulator(std::string_view device);

// Parses the text of a Device, e.g. "emulator:sm_90a:policy=lazy,seed=7". After "emulator" follow, each after a colon
// or a comma and in any order: a target; settings NAME=VALUE (policy, seed, checks=0 or 1, references=0 or 1,
// instructions, processors); the path of the library, which is a word with a slash in it; and, last, trace=FILE, which
// takes the rest of the text. `defaults` holds settings of the same form without "emulator" and without a target: the
// value of TMA_JIT_EMULATOR. Settings in `device` take precedence.
[[nodiscard]] TMA_JIT_API Result<EmulatorSettings> parse_emulator(std::string_view device,
                                                                  std::string_view defaults = {});

// Returns the text that parse_emulator reads as `settings`.
TMA_JIT_API std::string device_text(const EmulatorSettings& settings);

}  // namespace tma_jit
