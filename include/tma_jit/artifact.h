// The values between a plan and a loaded kernel: the CUDA source, its cache key and the compiled artifact. Plain values
// without ownership of any device resource.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <tma_jit/export.h>

namespace tma_jit {

// One file that the compiler may include. `name` is the path as `#include` gives it, e.g. "device/ptx/tma.cuh".
struct Header {
  std::string name{};
  std::string text{};
};

// A translation unit: the generated preamble, a #line directive and the template's own text. The compiler may include
// `headers` and nothing else.
struct Source {
  std::string kernel{};
  std::string entry{};  // extern "C" entry point
  std::string arch{};   // the target; a virtual one ("compute_90a") for a driver that executes PTX
  std::string name{};   // the file name passed to the compiler
  std::string text{};
  std::vector<Header> headers{};
  std::vector<std::string> options{};  // NVRTC options, except the architecture
};

// SHA-256 of everything that can change the artifact.
struct Key {
  std::array<std::uint8_t, 32> bytes{};
  TMA_JIT_API std::string hex() const;
  friend bool operator==(const Key&, const Key&) = default;
  friend auto operator<=>(const Key&, const Key&) = default;  // NOLINT(modernize-use-nullptr)
};

// What ptxas reported. Sizes are in bytes per thread, except shared memory, which is per block.
struct Resources {
  int registers = 0;
  std::int64_t spill_store_bytes = 0;
  std::int64_t spill_load_bytes = 0;
  std::int64_t stack_bytes = 0;
  std::int64_t static_shared_bytes = 0;
  std::vector<std::string> warnings{};  // of ptxas and NVRTC, one per element
};

// What a driver loads: machine code, or PTX for a driver that executes PTX.
struct Artifact {
  enum class Form : std::uint8_t { cubin, ptx };
  Form form = Form::cubin;
  std::vector<std::byte> bytes{};  // PTX includes its terminating zero
  std::string entry{};
  std::string arch{};  // as Source::arch
  Resources resources{};
  double compile_ms = 0;  // time of the compile that produced it
  bool compiled = false;  // whether this call compiled it; false if it came from a cache
  Key key{};
};

}  // namespace tma_jit
