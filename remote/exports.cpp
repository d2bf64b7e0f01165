// The two functions that the library exports.
#include <array>
#include <string_view>
#include <utility>

#include "remote/engine.h"
#include "remote/http_engines.h"
#include "remote/redis.h"

extern "C" {

[[gnu::visibility("default")]] std::uint64_t tma_jit_remote_interface() {
  return TMA_JIT_REMOTE_INTERFACE;
}

[[gnu::visibility("default")]] const tma_jit_remote_engine* tma_jit_remote_engine_of(const char* scheme) {
  using namespace tma_jit::remote;
  const std::array<std::pair<std::string_view, const tma_jit_remote_engine*>, 7> engines = {
      {{"http", engine_of<PlainServer>()},
       {"https", engine_of<PlainServer>()},
       {"s3", engine_of<S3Bucket>()},
       {"bazel+http", engine_of<BazelCache>()},
       {"bazel+https", engine_of<BazelCache>()},
       {"redis", engine_of<Redis>()},
       {"rediss", engine_of<Redis>()}}};
  for (const auto& [name, engine] : engines) {
    if (name == scheme) return engine;
  }
  return nullptr;
}
}
