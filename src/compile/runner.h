// A run of NVRTC, in this process or in a worker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <tma_jit/artifact.h>
#include <tma_jit/error.h>

#include "compile/release.h"

namespace tma_jit::compile {

struct Job {
  Source source;
  std::vector<std::string> options;  // all options, including the architecture
  bool wants_ptx = false;            // false: PTX is returned only if the compile failed
};

enum class Verdict : std::uint8_t {
  success,
  refused,           // a fault in the source, or rejected by the assembler
  invalid_option,    // an option or architecture that it does not support
  missing_builtins,  // libnvrtc-builtins was not found
  out_of_memory,
  failed,  // any other failure of NVRTC itself
};

struct Outcome {
  Verdict verdict = Verdict::success;
  std::string words;  // nvrtcGetErrorString of the result
  std::string log;
  std::vector<std::byte> cubin;  // empty unless the compile succeeded for a real architecture
  std::string ptx;               // also present if only the assembler failed
  double milliseconds = 0;       // time of nvrtcCompileProgram
  std::string identity;          // of the loaded NVRTC that ran; empty if unknown
};

// The facts that an NVRTC reports about itself.
struct NvrtcFacts {
  Release release;
  std::vector<std::string> archs;  // as it lists them, without suffixes: "sm_90"
  std::string identity;            // as Location::identity, of the loaded files; empty if unknown
};

// Thread-safe: runs may be concurrent.
class Runner {
 public:
  virtual ~Runner() = default;
  // Fails only if there is no outcome: crash (the compiler crashed, hung or was killed), nvrtc (it could not be
  // started).
  [[nodiscard]] virtual Result<Outcome> run(const Job& job) = 0;
  virtual const NvrtcFacts& facts() const = 0;
  // Returns where it runs, for display: "this process", or the worker's program.
  virtual std::string place() const = 0;
};

// Returns NVRTC in this process, loaded as long as the runner exists.
[[nodiscard]] Result<std::shared_ptr<Runner>> run_in_process(const std::filesystem::path& nvrtc);

}  // namespace tma_jit::compile
