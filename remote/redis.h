// Redis or Valkey: redis://[user:password@]host[:6379][/database][?ttl=SECONDS&prefix=TEXT], and rediss:// over TLS. An
// entry is a string under "<prefix><key>"; the prefix is "tma-jit:v1:" unless given. With `ttl` the server removes what
// has not been written for so long. hiredis encodes the commands and decodes the replies.
#pragma once

#include <memory>
#include <string>

#include "remote/engine.h"

namespace tma_jit::remote {

struct Redis {
  static std::unique_ptr<Connection> open(Settings settings, std::string& reason);
};

}  // namespace tma_jit::remote
