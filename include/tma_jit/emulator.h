// How an engine's device is emulated (Device::emulated). The emulator executes kernels on the CPU and checks them
// (docs/emulator.md); it is a library of its own, libtma_jit_emulator.so, which an engine opens when it first needs its
// device.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include <tma_jit/error.h>

namespace tma_jit {

// When asynchronous operations complete. Every policy keeps the orders that PTX guarantees and no other.
enum class EmulatorPolicy : std::uint8_t {
  eager,    // at once
  lazy,     // when nothing else can run
  random,   // at any time, in any order, in parts
  split,    // every operation in as many parts as it may be seen in, and something else between two of them
  starved,  // random, but one operation at a time is left until nothing else can run
};

// The instructions of warps that a launch may execute by default: more than an hour.
inline constexpr std::uint64_t kEmulatorInstructions = 20'000'000'000;

struct EmulatorSettings {
  std::string arch{};  // the target whose device is emulated, e.g. "sm_100a"; empty: Options::arch, or sm_90a
  EmulatorPolicy policy = EmulatorPolicy::random;
  std::uint64_t seed = 1;  // the same policy and seed give the same run and the same report
  bool checks = true;      // false: faster, and blind for races and for memory that nothing has written
  std::uint64_t instructions = kEmulatorInstructions;  // of warps, that a launch may execute; 0: any number
  int processors = 0;                                  // SMs of the device; 0: as many as the real one has
  std::filesystem::path trace{};                       // where a timeline of every launch is written; empty: nowhere
  std::filesystem::path library{};                     // libtma_jit_emulator.so to open instead of searching for one
};

// "lazy"
TMA_JIT_API std::string_view name_of(EmulatorPolicy policy);

// Returns whether the text of a Device names the emulator: "emulator", or "emulator:" and settings.
TMA_JIT_API bool is_emulator(std::string_view device);

// Reads the text of a Device: "emulator:sm_90a:policy=lazy,seed=7". After "emulator" come, each behind a colon or a
// comma and in any order: a target; settings NAME=VALUE (policy, seed, checks=0 or 1, instructions, processors); a word
// with a slash in it, which is the path of the library; and last trace=FILE, which takes the rest of the text.
// `defaults` has settings of the same form, without the word "emulator" and without a target: the value of
// TMA_JIT_EMULATOR. Those of `device` prevail.
[[nodiscard]] TMA_JIT_API Result<EmulatorSettings> parse_emulator(std::string_view device,
                                                                  std::string_view defaults = {});

// The text that parse_emulator reads as `settings`.
TMA_JIT_API std::string device_text(const EmulatorSettings& settings);

}  // namespace tma_jit
