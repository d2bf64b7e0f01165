// How the library reports failure: values, never exceptions across the API.
#pragma once

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
  crash,             // the compiler crashed, hung or was killed, twice; nothing but its worker is harmed
  sealed,            // a compile is needed, and the engine was told that none would be
};

TMA_JIT_API std::string_view name_of(ErrorCode code);

// `message` is one line: what, where, with which values. `detail` is zero or more further lines (a
// source line with a caret, violated rules, a compiler log) and may be empty.
struct Error {
  ErrorCode code = ErrorCode::invalid_argument;
  std::string message{};
  std::string detail{};

  // "code: message" and then the detail, indented by two spaces a line.
  TMA_JIT_API std::string text() const;
};

template <class T> using Result = tl::expected<T, Error>;

}  // namespace tma_jit
