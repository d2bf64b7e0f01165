#include "version.h"

#include <tma_jit/engine.h>
#include <tma_jit/version.h>

#include "outcome.h"

namespace tma_jit::cli {
namespace {

// Uses a device known by name, so that no driver is opened.
Result<Environment::Compiler> found_compiler() {
  Engine engine({.device = Device::known("h100"), .use_cache = false, .log_level = LogLevel::off});
  return engine.compiler();
}

Json to_json(const Result<Environment::Compiler>& compiler) {
  if (!compiler) return nullptr;
  return {{"version", compiler->version}, {"path", compiler->path}};
}

}  // namespace

int print_version(const Console& console) {
  const Version version = tma_jit::version();
  const auto compiler = found_compiler();
  console.report("tma-jit {}{}\nNVRTC {}\ncache format {}\n", version.library,
                 version.commit.empty() ? "" : fmt::format(" ({})", version.commit),
                 compiler ? fmt::format("{} at {}", compiler->version, compiler->path) : "none found",
                 version.cache_format);
  console.object({{"version", version.library},
                  {"commit", version.commit.empty() ? Json() : Json(version.commit)},
                  {"nvrtc", to_json(compiler)},
                  {"cache_format", version.cache_format}});
  return kDone;
}

}  // namespace tma_jit::cli
