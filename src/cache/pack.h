// Packs: any number of entries in one immutable file, for images and fleets. A signature tells who built the entries.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "cache/file_system.h"
#include "cache/layer.h"
#include "cache/pack_index.h"
#include "cache/pack_policy.h"

namespace tma_jit::cache {

// Keeps the file open and its index in memory; a replaced pack is still read in its old version. Thread-safe.
class Pack final : public Layer {
 public:
  // Fails with the reason unless header and index are sound and the file belongs to this user or root and is not
  // writable by others. If the policy requires a signature, one of its keys must have signed the pack.
  [[nodiscard]] static Result<std::unique_ptr<Pack>> open(const std::filesystem::path& path, const FileSystem& files,
                                                          const PackPolicy& policy);

  const std::string& name() const override { return name_; }
  Lookup get(const Key& key) const override;
  [[nodiscard]] Result<void> put(const Key& key, std::span<const std::byte> encoded) const override;
  std::vector<std::string> compilers() const override { return index_.compilers; }
  std::string records() const override;
  // Caches what it read of the entries for later questions.
  Nearest nearest(const Question& question) const override;
  bool local() const override { return local_; }

  const PackIndex& index() const { return index_; }
  // Returns one entry's bytes, checked against the index, which the signature covers.
  [[nodiscard]] tl::expected<std::vector<std::byte>, Fault> read(const PackRecord& record) const;

 private:
  Marks marks_of(const PackRecord& record, const Question& question) const;
  Pack(std::string name, const FileSystem& files) : name_(std::move(name)), files_(files) {}

  std::string name_;
  const FileSystem& files_;
  Descriptor file_;
  PackIndex index_;
  mutable std::mutex marks_mutex_;
  mutable std::vector<Marks> marks_;  // of the first records, as far as they have been read
  bool local_ = true;
};

// Writes the entries of `keys`, whose bytes `read` returns, to a temporary file and renames it to `path`. If
// `private_key` is empty, the pack is not signed.
struct PackContent {
  std::vector<Key> keys;  // in any order
  std::vector<std::string> compilers;
  std::function<Result<std::vector<std::byte>>(const Key& key)> read;
};
[[nodiscard]] Result<PackIndex> write_pack(const std::filesystem::path& path, const PackContent& content,
                                           const std::filesystem::path& private_key);

}  // namespace tma_jit::cache
