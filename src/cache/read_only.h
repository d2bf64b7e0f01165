// Layers that are never written: packs, and folders that an image or an administrator filled.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cache/file_system.h"
#include "cache/layer.h"

namespace tma_jit::cache {

struct ReadOnlySettings {
  const FileSystem* files = &FileSystem::system();
  std::vector<std::filesystem::path> keys;  // see read_pack_policy
  std::filesystem::path system_keys;
  std::function<void(const std::string&)> report;  // called for every layer that is left out
  std::function<void(const std::string&)> warn;    // called once, with the reason why no pack is trusted
};

// Opens folders with the layout <root>/v1/... and packs, in order. A folder has no signature; its owner and modes alone
// decide whether it is trusted. If the policy for packs cannot be read, all packs are left out.
std::vector<std::unique_ptr<Layer>> open_read_only(const std::vector<std::filesystem::path>& paths,
                                                   const ReadOnlySettings& settings);

}  // namespace tma_jit::cache
