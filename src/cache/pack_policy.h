// Whose packs are trusted.
#pragma once

#include <filesystem>
#include <vector>

#include <tma_jit/error.h>

#include "cache/signature.h"

namespace tma_jit::cache {

// An administrator's rule about whose packs are trusted, where the application has none.
inline constexpr const char* kSystemKeys = "/etc/tma-jit/trusted.d";

struct PackPolicy {
  bool signed_only = false;  // a pack must be signed by one of `keys`
  std::vector<PublicKey> keys;
};

// By the keys that are named; where none are, by the folder `system`, where it is there at all. Fails where a rule was
// given and cannot be read as a whole: then no pack is trusted.
[[nodiscard]] Result<PackPolicy> read_pack_policy(const std::vector<std::filesystem::path>& named,
                                                  const std::filesystem::path& system = kSystemKeys);

}  // namespace tma_jit::cache
