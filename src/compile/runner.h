// A run of NVRTC, wherever it happens: in this process or in a worker.
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
  std::vector<std::string> options;  // all of them, the architecture among them
  bool wants_ptx = false;            // else it is given only where the compile failed
};

enum class Verdict : std::uint8_t {
  success,
  refused,           // a fault in the source, or the assembler's refusal
  invalid_option,    // an option or an architecture it does not know
  missing_builtins,  // libnvrtc-builtins was not found
  out_of_memory,
  failed,  // anything else that is NVRTC's own
};

struct Outcome {
  Verdict verdict = Verdict::success;
  std::string words;  // nvrtcGetErrorString of the result
  std::string log;
  std::vector<std::byte> cubin;  // empty unless the compile succeeded for a real architecture
  std::string ptx;               // also there when only the assembler failed
  double milliseconds = 0;       // of nvrtcCompileProgram
  std::string identity;          // of the NVRTC that ran, as it is loaded; empty where it is not known
};

// What an NVRTC says of itself.
struct NvrtcFacts {
  Release release;
  std::vector<std::string> archs;  // "sm_90": as it lists them, without suffixes
  std::string identity;            // as Location::identity, of what is loaded; empty where it is not known
};

// Thread-safe: runs go on beside each other.
class Runner {
 public:
  virtual ~Runner() = default;
  // Fails only where there is no outcome: crash (the compiler crashed, hung or was killed), nvrtc (it could not be
  // started).
  [[nodiscard]] virtual Result<Outcome> run(const Job& job) = 0;
  virtual const NvrtcFacts& facts() const = 0;
  // Where it runs, for people: "this process", or the worker's program.
  virtual std::string place() const = 0;
};

// NVRTC in this process, loaded for as long as it lives.
[[nodiscard]] Result<std::shared_ptr<Runner>> run_in_process(const std::filesystem::path& nvrtc);

}  // namespace tma_jit::compile
