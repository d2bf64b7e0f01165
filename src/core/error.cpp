#include <tma_jit/error.h>

#include <algorithm>

namespace tma_jit {

std::string_view name_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument: return "invalid_argument";
    case ErrorCode::not_found: return "not_found";
    case ErrorCode::parse: return "parse";
    case ErrorCode::no_config: return "no_config";
    case ErrorCode::unsupported: return "unsupported";
    case ErrorCode::compile: return "compile";
    case ErrorCode::nvrtc: return "nvrtc";
    case ErrorCode::crash: return "crash";
    case ErrorCode::sealed: return "sealed";
    case ErrorCode::cancelled: return "cancelled";
    case ErrorCode::driver: return "driver";
    case ErrorCode::io: return "io";
  }
  return "unknown";
}

std::string_view name_of(ErrorReason reason) {
  switch (reason) {
    case ErrorReason::unspecified: return "unspecified";
    case ErrorReason::unknown_name: return "unknown_name";
    case ErrorReason::library_missing: return "library_missing";
    case ErrorReason::emulator_missing: return "emulator_missing";
    case ErrorReason::library_outdated: return "library_outdated";
    case ErrorReason::library_replaced: return "library_replaced";
    case ErrorReason::image_refused: return "image_refused";
    case ErrorReason::no_device: return "no_device";
    case ErrorReason::out_of_memory: return "out_of_memory";
    case ErrorReason::forked: return "forked";
    case ErrorReason::target_unknown: return "target_unknown";
    case ErrorReason::no_template: return "no_template";
    case ErrorReason::compiler_crashed: return "compiler_crashed";
    case ErrorReason::compiler_hung: return "compiler_hung";
    case ErrorReason::compiler_killed: return "compiler_killed";
    case ErrorReason::compiler_memory: return "compiler_memory";
    case ErrorReason::compiler_lost: return "compiler_lost";
    case ErrorReason::crashed_before: return "crashed_before";
  }
  return "unknown";
}

std::string Error::line() const {
  return suggestion.empty() ? message : message + "; did you mean \"" + suggestion + "\"?";
}

std::string Error::text() const {
  std::string out(name_of(code));
  out.append(": ").append(line());
  std::size_t begin = 0;
  while (begin < detail.size()) {
    const std::size_t end = std::min(detail.find('\n', begin), detail.size());
    out.append("\n  ").append(detail, begin, end - begin);
    begin = end + 1;
  }
  return out;
}

}  // namespace tma_jit
