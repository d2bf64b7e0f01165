#include <tma_jit/error.h>

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
    case ErrorCode::driver: return "driver";
    case ErrorCode::io: return "io";
  }
  return "unknown";
}

std::string Error::text() const {
  std::string out(name_of(code));
  out.append(": ").append(message);
  std::size_t begin = 0;
  while (begin < detail.size()) {
    const std::size_t end = std::min(detail.find('\n', begin), detail.size());
    out.append("\n  ").append(detail, begin, end - begin);
    begin = end + 1;
  }
  return out;
}

}  // namespace tma_jit
