#include "cache/remote_engine.h"

#include <cstring>
#include <map>
#include <mutex>

#include "base/companion.h"
#include "base/fork.h"
#include "core/failure.h"

namespace tma_jit::cache {
namespace {

constexpr const char* kName = "libtma_jit_remote.so";

// Locked only while no fork can happen, so that no child finds it locked.
struct Registry {
  std::mutex mutex;
  std::map<std::string, tma_jit_remote_engine> engines;
};

Registry& registry() {
  static Registry all;
  return all;
}

bool is_complete(const tma_jit_remote_engine& engine) {
  return engine.size >= sizeof engine && engine.open != nullptr && engine.close != nullptr && engine.get != nullptr &&
         engine.put != nullptr && engine.exists != nullptr && engine.health != nullptr;
}

std::optional<tma_jit_remote_engine> registered(const std::string& scheme) {
  const NoFork no_fork;
  const std::lock_guard lock(registry().mutex);
  const auto found = registry().engines.find(scheme);
  return found == registry().engines.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

Result<RemoteEngine> remote_engine(const std::string& scheme, const std::filesystem::path& library) {
  if (const auto own = registered(scheme)) return RemoteEngine{*own, {}};
  TMA_JIT_ASSIGN(Library opened,
                 open_companion(kName, library,
                                Error{ErrorCode::not_found,
                                      fmt::format("the library of the remote cache, {}, could not be opened: install "
                                                  "it (component \"remote\" of the package, or a build with "
                                                  "TMA_JIT_BUILD_REMOTE=ON); tried",
                                                  kName),
                                      {}}));
  tma_jit_remote_interface_function interface = nullptr;
  tma_jit_remote_engine_function engine_of = nullptr;
  if (!opened.find(interface, "tma_jit_remote_interface") || !opened.find(engine_of, "tma_jit_remote_engine_of") ||
      interface() != TMA_JIT_REMOTE_INTERFACE) {
    return failure(ErrorCode::unsupported, "{} is not the library of this release: install both from one",
                   opened.path().string());
  }
  const tma_jit_remote_engine* engine = engine_of(scheme.c_str());
  if (engine == nullptr || !is_complete(*engine)) {
    return failure(ErrorCode::invalid_argument,
                   "the remote cache has no engine for the scheme {}://; there are http, https, s3, bazel+http, "
                   "bazel+https, redis and rediss",
                   scheme);
  }
  return RemoteEngine{*engine, std::move(opened)};
}

}  // namespace tma_jit::cache

std::int32_t tma_jit_register_remote(const char* scheme, const tma_jit_remote_engine* engine) {
  using namespace tma_jit::cache;
  if (scheme == nullptr || *scheme == '\0' || engine == nullptr || !is_complete(*engine)) return 1;
  const tma_jit::NoFork no_fork;
  const std::lock_guard lock(registry().mutex);
  registry().engines[scheme] = *engine;
  return 0;
}
