// Packs: any number of entries as one file that never changes, for images and fleets. Signed, so that a machine can
// tell who built what it loads.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "cache/files.h"
#include "cache/layer.h"
#include "cache/pack_index.h"
#include "cache/pack_policy.h"

namespace tma_jit::cache {

// Keeps the file open and its index in memory; a pack that is replaced goes on being read as it was. Thread-safe.
class Pack final : public Layer {
 public:
  // Fails with the reason unless header and index are sound and the file is of this user or root and closed to others;
  // and where the policy asks for a signature, unless one of its keys signed it.
  [[nodiscard]] static Result<std::unique_ptr<Pack>> open(const std::filesystem::path& path, const Files& files,
                                                          const PackPolicy& policy);

  const std::string& name() const override { return name_; }
  Lookup get(const Key& key) const override;
  [[nodiscard]] Result<void> put(const Key& key, std::span<const std::byte> encoded) const override;
  std::vector<std::string> compilers() const override { return index_.compilers; }
  // What was read of the entries for one question is kept for the next.
  Nearest nearest(const Question& question) const override;
  bool local() const override { return local_; }

  const PackIndex& index() const { return index_; }
  // One entry's bytes, checked against the index, which the signature covers.
  [[nodiscard]] tl::expected<std::vector<std::byte>, Fault> read(const PackRecord& record) const;

 private:
  Marks marks_of(const PackRecord& record, const Question& question) const;
  Pack(std::string name, const Files& files) : name_(std::move(name)), files_(files) {}

  std::string name_;
  const Files& files_;
  Descriptor file_;
  PackIndex index_;
  mutable std::mutex marks_mutex_;
  mutable std::vector<Marks> marks_;  // of the first records, as far as they were read
  bool local_ = true;
};

// Writes the entries of `keys`, whose bytes `read` gives, beside `path` and renames. `private_key` empty: not signed.
struct PackContent {
  std::vector<Key> keys;  // in any order
  std::vector<std::string> compilers;
  std::function<Result<std::vector<std::byte>>(const Key& key)> read;
};
[[nodiscard]] Result<PackIndex> write_pack(const std::filesystem::path& path, const PackContent& content,
                                           const std::filesystem::path& private_key);

}  // namespace tma_jit::cache
