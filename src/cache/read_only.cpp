#include "cache/read_only.h"

#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/failure.h"
#include "cache/pack.h"
#include "cache/store.h"

namespace tma_jit::cache {
namespace {

// An administrator's word on whose packs are believed, where the application has none.
constexpr const char* kSystemKeys = "/etc/tma-jit/trusted.d";

// A store that is not there is not made, and nothing is put into it.
class ReadOnlyFolder final : public Layer {
 public:
  explicit ReadOnlyFolder(Store store) : store_(std::move(store)) {}
  const std::string& name() const override { return store_.name(); }
  Lookup get(const Key& key) const override { return store_.get(key); }
  std::vector<std::string> compilers() const override { return store_.compilers(); }
  Result<void> put(const Key&, std::span<const std::byte>) const override {
    return failure(ErrorCode::io, "cache folder {}: it is used read-only", name());
  }

 private:
  Store store_;
};

}  // namespace

Result<std::unique_ptr<Layer>> open_read_only_layer(const std::filesystem::path& path, const ReadOnlyTrust& trust) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0)
    return failure(ErrorCode::io, "read-only cache {}: {}", path.string(), std::strerror(errno));
  if (!S_ISDIR(status.st_mode)) {
    const bool use_system = trust.keys.empty() && ::access(kSystemKeys, F_OK) == 0;
    return Pack::open(path, *trust.files, use_system ? std::vector<std::filesystem::path>{kSystemKeys} : trust.keys);
  }
  StoreOptions options;
  options.files = trust.files;
  options.existing = true;
  TMA_JIT_ASSIGN(Store store, Store::open(path, options));
  return std::make_unique<ReadOnlyFolder>(std::move(store));
}

}  // namespace tma_jit::cache
