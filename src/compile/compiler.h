// CUDA text to cubin or PTX, and what the compiler said to what a person can use.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tma_jit/artifact.h>
#include <tma_jit/error.h>

#include "compile/locate.h"
#include "compile/runner.h"

namespace tma_jit::compile {

// Thread-safe: compiles run beside each other.
class Compiler {
 public:
  // NVRTC in this process, which then stays loaded for the process's life. Refuses releases older than 12.8
  // (unsupported) and files that are no NVRTC (nvrtc).
  [[nodiscard]] static Result<std::shared_ptr<Compiler>> open(const Location& location);
  // The NVRTC at `location`, run by another: a worker.
  static std::shared_ptr<Compiler> over(const Location& location, std::shared_ptr<Runner> runner);
  ~Compiler();

  // Either a whole cubin for source.arch or an error: compile (with file:line:column at the template's own lines),
  // unsupported (the architecture), nvrtc (NVRTC itself failed), or crash (its worker did, twice). `key` is left to the
  // caller. For a virtual architecture the bytes are PTX and a terminating zero.
  [[nodiscard]] Result<Artifact> compile(const Source& source);
  // For source.arch's virtual architecture.
  [[nodiscard]] Result<std::string> ptx(const Source& source);

  // The options that NVRTC gets for the source.
  std::vector<std::string> options(const Source& source) const;

  const Location& location() const;
  // The identity of the NVRTC that ran last, where it is not location()'s: its files were replaced, or a link on the
  // way to them was switched, after they had been located. What it compiled is an error of code nvrtc.
  std::optional<std::string> replacement() const;
  // Where NVRTC runs, for people.
  std::string place() const;
  // "13.0.88"; "13.0" should the build number not be found. Compiles a trivial program once.
  std::string version();
  // The targets that compile, suffixes included, probed once by trivial compiles: "sm_90", "sm_90a", "sm_100f"...
  std::vector<std::string> archs();
  // Features of newer releases that this one does not have, in words.
  std::vector<std::string> missing_features() const;

  struct State;
  explicit Compiler(std::unique_ptr<State> state);

 private:
  std::unique_ptr<State> state_;
};

}  // namespace tma_jit::compile
