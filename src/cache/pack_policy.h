// The rule that decides which packs are trusted.
#pragma once

#include <filesystem>
#include <vector>

#include <tma_jit/error.h>

#include "cache/signature.h"

namespace tma_jit::cache {

// An administrator's rule, for applications that give none.
inline constexpr const char* kSystemKeys = "/etc/tma-jit/trusted.d";

struct PackPolicy {
  bool signed_only = false;  // a pack must be signed by one of `keys`
  std::vector<PublicKey> keys;
};

// Reads the rule: the keys that are named; if none are, those in the folder `system`, if it exists. Fails if a rule
// exists but cannot be read completely; then no pack is trusted.
[[nodiscard]] Result<PackPolicy> read_pack_policy(const std::vector<std::filesystem::path>& named,
                                                  const std::filesystem::path& system = kSystemKeys);

}  // namespace tma_jit::cache
