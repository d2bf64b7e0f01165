// Compiles CUDA text to a cubin or PTX, and converts the compiler's log to errors at the template's lines.
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

// Thread-safe: compiles may run concurrently.
class Compiler {
 public:
  // Opens NVRTC in this process, where it then stays loaded. Fails for releases older than 12.8 (unsupported) and for
  // files that are not NVRTC (nvrtc).
  [[nodiscard]] static Result<std::shared_ptr<Compiler>> open(const Location& location);
  // Uses the NVRTC at `location` through another process, a worker.
  static std::shared_ptr<Compiler> over(const Location& location, std::shared_ptr<Runner> runner);
  ~Compiler();

  // Returns either a complete cubin for source.arch or an error: compile (with file:line:column in the template),
  // unsupported (the architecture), nvrtc (NVRTC itself failed), or crash (the worker crashed twice). The caller sets
  // `key`. For a virtual architecture the bytes are PTX with a terminating zero.
  [[nodiscard]] Result<Artifact> compile(const Source& source);
  // Returns PTX for the virtual architecture of source.arch.
  [[nodiscard]] Result<std::string> ptx(const Source& source);

  // Returns the NVRTC options for the source.
  std::vector<std::string> options(const Source& source) const;

  const Location& location() const;
  // Returns the identity of the NVRTC that ran last if it differs from location()'s, because its files were replaced or
  // a link to them was changed after they had been located. A compile by such an NVRTC fails (nvrtc).
  std::optional<std::string> replacement() const;
  // Returns where NVRTC runs, for display.
  std::string place() const;
  // Returns e.g. "13.0.88", or "13.0" if the build number cannot be found. Compiles a trivial program once.
  std::string version();
  // Returns the targets that compile, with suffixes, found once by trivial compiles: "sm_90", "sm_90a", "sm_100f" and
  // so on.
  std::vector<std::string> archs();
  // Returns descriptions of the features of newer releases that this one lacks.
  std::vector<std::string> missing_features() const;

  struct State;
  explicit Compiler(std::unique_ptr<State> state);

 private:
  std::unique_ptr<State> state_;
};

}  // namespace tma_jit::compile
