// CUDA text to cubin or PTX, and what the compiler said to what a person can use.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <tma_jit/artifact.h>
#include <tma_jit/error.h>

#include "compile/locate.h"
#include "compile/runner.h"

namespace tma_jit::compile {

// The virtual architecture of a target: "compute_90a" of sm_90a.
std::string virtual_of(std::string_view arch);

// Thread-safe: compiles run beside each other.
class Compiler {
 public:
  // NVRTC in this process, which then stays loaded for the process's life. Refuses releases older than 12.8
  // (unsupported) and files that are no NVRTC (nvrtc).
  static Result<std::shared_ptr<Compiler>> open(const Location& location);
  // The NVRTC at `location`, run by another: a worker.
  static std::shared_ptr<Compiler> over(const Location& location, std::shared_ptr<Runner> runner);
  ~Compiler();

  // Either a whole cubin for source.arch or an error: compile (with file:line:column at the template's own lines),
  // unsupported (the architecture), nvrtc (NVRTC itself failed), or crash (its worker did, twice). `key` is left to the
  // caller. For a virtual architecture the bytes are PTX and a terminating zero.
  Result<Cubin> compile(const Source& source);
  // For source.arch's virtual architecture.
  Result<std::string> ptx(const Source& source);

  // What NVRTC is told when it compiles the source.
  std::vector<std::string> options(const Source& source) const;

  const Location& location() const;
  // Where NVRTC runs, for people.
  std::string place() const;
  // "13.0.88"; "13.0" should the build number not be found. Compiles a trivial program once.
  std::string version();
  // The targets that compile, suffixes included, probed once by trivial compiles: "sm_90", "sm_90a", "sm_100f"...
  std::vector<std::string> archs();
  // What newer releases have and this one lacks, in words.
  std::vector<std::string> lacks() const;

  struct State;
  explicit Compiler(std::unique_ptr<State> state);

 private:
  std::unique_ptr<State> state_;
};

}  // namespace tma_jit::compile
