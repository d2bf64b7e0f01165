// What lies between a plan and a loaded kernel: CUDA text, its key, and what is compiled of it. Plain values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <tma_jit/export.h>

namespace tma_jit {

// One file the compiler may include. `name` is what `#include` says, e.g. "device/ptx/tma.cuh".
struct Header {
  std::string name{};
  std::string text{};
};

// A translation unit: the preamble, a #line, the template's own text. `headers` is the closed set it may include.
struct Source {
  std::string kernel{};
  std::string entry{};  // extern "C" entry point
  std::string arch{};   // the target; a virtual one, "compute_90a", for a driver that executes PTX
  std::string name{};   // the file name the compiler is told
  std::string text{};
  std::vector<Header> headers{};
  std::vector<std::string> options{};  // for NVRTC, the architecture aside
};

// SHA-256 of everything that can change the artifact.
struct Key {
  std::array<std::uint8_t, 32> bytes{};
  TMA_JIT_API std::string hex() const;
  friend bool operator==(const Key&, const Key&) = default;
  friend auto operator<=>(const Key&, const Key&) = default;  // NOLINT(modernize-use-nullptr)
};

// What ptxas reported. Bytes, per thread unless they are shared memory.
struct Resources {
  int registers = 0;
  std::int64_t spill_store_bytes = 0;
  std::int64_t spill_load_bytes = 0;
  std::int64_t stack_bytes = 0;
  std::int64_t static_shared_bytes = 0;
  std::vector<std::string> warnings{};  // ptxas and NVRTC warnings, one a line
};

// What a driver loads: machine code, or PTX for a driver that executes that.
struct Artifact {
  enum class Form : std::uint8_t { cubin, ptx };
  Form form = Form::cubin;
  std::vector<std::byte> bytes{};  // of PTX with a terminating zero
  std::string entry{};
  std::string arch{};  // as Source::arch
  Resources resources{};
  double compile_ms = 0;  // what the compile that made it took
  bool compiled = false;  // false: it came from a cache
  Key key{};
};

}  // namespace tma_jit
