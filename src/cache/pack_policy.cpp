#include "cache/pack_policy.h"

#include <sys/stat.h>
#include <cerrno>

#include "core/failure.h"

namespace tma_jit::cache {

// Only a system folder that is known not to exist means that there is no rule.
Result<PackPolicy> read_pack_policy(const std::vector<std::filesystem::path>& named,
                                    const std::filesystem::path& system) {
  struct stat status {};
  if (named.empty() && ::lstat(system.c_str(), &status) != 0 && errno == ENOENT) return PackPolicy{};
  auto keys = read_public_keys(named.empty() ? std::vector{system} : named);
  if (!keys) {
    Error error = std::move(keys).error();
    error.message = "no pack is trusted, because the rule that says whose are cannot be read: " + error.message;
    return tl::make_unexpected(std::move(error));
  }
  return PackPolicy{true, *std::move(keys)};
}

}  // namespace tma_jit::cache
