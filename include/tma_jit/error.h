// How the library reports failure: values, never exceptions across the API.
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
  unsupported,       // the device, driver or compiler lacks what is asked for
  compile,           // NVRTC refused the source
  nvrtc,             // NVRTC is missing or failed
  driver,            // libcuda is missing or returned an error
  io,                // a file could not be read or written
  crash,             // the compiler crashed, hung or was killed, twice; only its worker is lost
  sealed,            // a compile is needed, and the engine was told that none would be
  cancelled,         // it was called off before it had begun
};

TMA_JIT_API std::string_view name_of(ErrorCode code);

// What a program may want to tell apart within one code, so that it never has to search a message.
enum class ErrorReason : std::uint8_t {
  unspecified,      // the code says all there is
  unknown_name,     // not_found, parse, invalid_argument: nothing has this name; Error::suggestion may have one that is
  library_missing,  // driver, nvrtc: no shared library could be opened; the detail lists those tried
  emulator_missing,  // driver: likewise, of the emulator
  library_outdated,  // driver: the driver is older than tma-jit needs
  library_replaced,  // nvrtc: the library's file is another than when it was located
  image_refused,     // driver: the cubin is for another target, or of a newer CUDA than the driver
  no_device,         // driver, not_found: this process sees no GPU, or none of this ordinal
  out_of_memory,     // driver: the device has no memory left
  forked,            // driver: this process was forked from one that had opened CUDA
  target_unknown,    // unsupported: the compiler at hand does not know the target
  no_template,       // unsupported: no template of the kernel serves the target
  compiler_crashed,  // crash: on this source, twice
  compiler_hung,     // crash: beyond the time limit, twice
  compiler_killed,   // crash: by someone else, twice; most likely the machine's memory ran out
  compiler_memory,   // crash: beyond the memory limit, twice
  compiler_lost,     // crash: its worker ended or sent a malformed answer, and no other could take its place
  crashed_before,    // crash: remembered from an earlier compile and not tried again
};

TMA_JIT_API std::string_view name_of(ErrorReason reason);

// `message` is one line: what, where, with which values. `detail` is zero or more further lines (a
// source line with a caret, violated rules, a compiler log) and may be empty.
struct Error {
  ErrorCode code = ErrorCode::invalid_argument;
  std::string message{};
  std::string detail{};
  ErrorReason reason = ErrorReason::unspecified;
  std::string suggestion{};  // the name that was probably meant; empty: none is near

  // The message, and behind it "; did you mean ...?" where there is a suggestion.
  TMA_JIT_API std::string line() const;
  // "code: line" and then the detail, indented by two spaces a line.
  TMA_JIT_API std::string text() const;
};

template <class T> using Result = tl::expected<T, Error>;

// The one of `known` that is nearest to `word`, by at most a third of its letters; empty where none is. One letter
// is near to its other case only.
TMA_JIT_API std::string nearest_name(std::string_view word, std::span<const std::string> known);

}  // namespace tma_jit
