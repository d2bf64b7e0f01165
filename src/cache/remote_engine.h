// The engine of a remote cache's scheme: one that the application registered, else one of libtma_jit_remote.so.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include <tma_jit/c_remote.h>
#include <tma_jit/error.h>

#include "base/library.h"

namespace tma_jit::cache {

struct RemoteEngine {
  tma_jit_remote_engine table{};
  std::optional<Library> library;  // keeps the code of the table
};

// Opens the library unless an engine is registered for the scheme. Fails with what to install or to name.
[[nodiscard]] Result<RemoteEngine> remote_engine(const std::string& scheme, const std::filesystem::path& library);

}  // namespace tma_jit::cache
