// How the library reports failures: as values. No exception crosses the API.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include <tma_jit/export.h>

namespace tma_jit {

enum class ErrorCode {
  invalid_argument,  // a request, tensor, option or file the caller supplied is wrong
  not_found,         // no such kernel, file, parameter, device
  parse,             // a manifest or expression does not parse
  no_config,         // no configuration of the kernel satisfies the request
  unsupported,       // the device, driver or compiler lacks a required feature
  compile,           // NVRTC rejected the source
  nvrtc,             // NVRTC is missing or failed
  driver,            // libcuda is missing or returned an error
  io,                // a file could not be read or written
  crash,             // the compiler crashed, hung or was killed, twice; only its worker process is lost
  sealed,            // a compile is needed, but the engine is sealed
  cancelled,         // cancelled before it had begun
};

TMA_JIT_API std::string_view name_of(ErrorCode code);

// Distinguishes the cases within one code that a program may handle differently, so that it never has to search a
// message.
enum class ErrorReason : std::uint8_t {
  unspecified,       // nothing beyond the code
  unknown_name,      // not_found, parse, invalid_argument: nothing has this name; see Error::suggestion
  library_missing,   // driver, nvrtc: no shared library could be opened; the detail lists the attempts
  emulator_missing,  // driver: the emulator's library could not be opened
  library_outdated,  // driver: the driver is older than tma-jit needs
  library_replaced,  // nvrtc: the library's file has changed since it was located
  image_refused,     // driver: the cubin is for another target, or made by a newer CUDA than the driver supports
  no_device,         // driver, not_found: this process sees no GPU, or none with this ordinal
  out_of_memory,     // driver: the device has no memory left
  forked,            // driver: this process was forked from one that had opened CUDA
  target_unknown,    // unsupported: this compiler does not know the target
  no_template,       // unsupported: no template of the kernel serves the target
  compiler_crashed,  // crash: the compiler crashed on this source, twice
  compiler_hung,     // crash: the time limit was exceeded, twice
  compiler_killed,   // crash: another process killed it, twice; most likely the machine ran out of memory
  compiler_memory,   // crash: the memory limit was exceeded, twice
  compiler_lost,     // crash: the worker ended or sent a malformed answer, and no other could be started
  crashed_before,    // crash: known from an earlier compile and not tried again
};

TMA_JIT_API std::string_view name_of(ErrorReason reason);

// `message` is one line: what failed, where and with which values. `detail` is zero or more further lines: a source
// line with a caret, violated rules, a compiler log.
struct Error {
  ErrorCode code = ErrorCode::invalid_argument;
  std::string message{};
  std::string detail{};
  ErrorReason reason = ErrorReason::unspecified;
  std::string suggestion{};  // the name that was probably meant; empty if none is close

  // Returns the message, followed by "; did you mean ...?" if there is a suggestion.
  TMA_JIT_API std::string line() const;
  // Returns "code: line" and then the detail, each of its lines indented by two spaces.
  TMA_JIT_API std::string text() const;
};

template <class T> using Result = tl::expected<T, Error>;

// Returns the name in `known` with the smallest edit distance to `word`, or "" if every distance exceeds a third of its
// letters. A word of one letter matches only its other case.
TMA_JIT_API std::string nearest_name(std::string_view word, std::span<const std::string> known);

}  // namespace tma_jit
