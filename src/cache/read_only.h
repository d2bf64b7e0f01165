// Layers that are never written: folders that an image or an administrator filled, and packs.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "cache/files.h"
#include "cache/layer.h"

namespace tma_jit::cache {

struct ReadOnlyTrust {
  const Files* files = &Files::system();
  // Public keys, or folders of them. Where there are any, a pack must be signed by one; a folder has no signature, and
  // is believed by its owner and modes alone.
  std::vector<std::filesystem::path> keys;
};

// A folder laid out as <root>/v1/..., or a pack.
Result<std::unique_ptr<Layer>> open_read_only_layer(const std::filesystem::path& path, const ReadOnlyTrust& trust);

}  // namespace tma_jit::cache
