// Layers that are never written: folders that an image or an administrator filled, and packs.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cache/files.h"
#include "cache/layer.h"

namespace tma_jit::cache {

struct ReadOnlySettings {
  const Files* files = &Files::system();
  std::vector<std::filesystem::path> keys;  // as read_pack_policy takes them
  std::filesystem::path system_keys;
  std::function<void(const std::string&)> report;  // a layer that is left out
  std::function<void(const std::string&)> warn;    // said once: why no pack is trusted
};

// Folders laid out as <root>/v1/..., and packs, in order. A folder has no signature, and is trusted by its owner and
// modes alone. Where the policy for packs cannot be read, every pack is left out.
std::vector<std::unique_ptr<Layer>> open_read_only(const std::vector<std::filesystem::path>& paths,
                                                   const ReadOnlySettings& settings);

}  // namespace tma_jit::cache
