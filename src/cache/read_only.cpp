#include "cache/read_only.h"

#include <sys/stat.h>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "cache/pack.h"
#include "cache/store.h"
#include "core/failure.h"

namespace tma_jit::cache {
namespace {

// A store that is never created and never written.
class ReadOnlyFolder final : public Layer {
 public:
  explicit ReadOnlyFolder(Store store) : store_(std::move(store)) {}
  const std::string& name() const override { return store_.name(); }
  Lookup get(const Key& key) const override { return store_.get(key); }
  std::vector<std::string> compilers() const override { return store_.compilers(); }
  std::string records() const override { return store_.records(); }
  Nearest nearest(const Question& question) const override { return store_.nearest(question); }
  bool local() const override { return store_.local(); }
  Result<void> put(const Key&, std::span<const std::byte>) const override {
    return failure(ErrorCode::io, "cache folder {}: it is used read-only", name());
  }

 private:
  Store store_;
};

Result<std::unique_ptr<Layer>> open_folder(const std::filesystem::path& path, const FileSystem* files) {
  StoreOptions options;
  options.files = files;
  options.existing = true;
  TMA_JIT_ASSIGN(Store store, Store::open(path, options));
  return std::make_unique<ReadOnlyFolder>(std::move(store));
}

// Reads the policy when the first pack is opened.
class Packs {
 public:
  explicit Packs(const ReadOnlySettings& settings) : settings_(settings) {}

  std::unique_ptr<Layer> open(const std::filesystem::path& path) {
    if (!policy_) {
      policy_ = read_pack_policy(settings_.keys, settings_.system_keys);
      if (!*policy_) settings_.warn(policy_->error().message);
    }
    if (!*policy_) return nullptr;
    auto pack = Pack::open(path, *settings_.files, **policy_);
    if (pack) return *std::move(pack);
    settings_.report(pack.error().message);
    return nullptr;
  }

 private:
  const ReadOnlySettings& settings_;
  std::optional<Result<PackPolicy>> policy_;
};

}  // namespace

std::vector<std::unique_ptr<Layer>> open_read_only(const std::vector<std::filesystem::path>& paths,
                                                   const ReadOnlySettings& settings) {
  std::vector<std::unique_ptr<Layer>> layers;
  Packs packs(settings);
  for (const auto& path : paths) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
      settings.report(fmt::format("read-only cache {}: {}", path.string(), std::strerror(errno)));
    } else if (!S_ISDIR(status.st_mode)) {
      if (auto pack = packs.open(path)) layers.push_back(std::move(pack));
    } else if (auto folder = open_folder(path, settings.files)) {
      layers.push_back(*std::move(folder));
    } else {
      settings.report(folder.error().message);
    }
  }
  return layers;
}

}  // namespace tma_jit::cache
