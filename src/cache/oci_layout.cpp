// A pack as an OCI image layout (github.com/opencontainers/image-spec, image-layout.md and manifest.md, "Guidelines for
// Artifact Usage"): a folder of blobs named by their SHA-256, a manifest that lists them, and an index with its tag.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <nlohmann/json.hpp>

#include <tma_jit/cache.h>

#include "base/descriptor.h"
#include "base/digest.h"
#include "base/write.h"
#include "core/failure.h"

namespace tma_jit {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kPackType = "application/vnd.tma-jit.pack.v1";
constexpr const char* kManifestType = "application/vnd.oci.image.manifest.v1+json";
constexpr const char* kTitle = "kernels.tmjpack";

Result<void> write_new(const fs::path& path, std::string_view text) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  const bool written =
      file && write_some(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) && file.close();
  if (!written) return failure(ErrorCode::io, "cannot write {}: {}", path.string(), std::strerror(errno));
  return {};
}

Json descriptor(const char* type, const std::string& digest, std::uint64_t size) {
  return {{"mediaType", type}, {"digest", "sha256:" + digest}, {"size", size}};
}

// Writes a blob and returns its descriptor.
Result<Json> add_blob(const fs::path& blobs, const char* type, const std::string& text) {
  const std::string digest = to_hex(sha256(text.data(), text.size()));
  TMA_JIT_CHECK(write_new(blobs / digest, text));
  return descriptor(type, digest, text.size());
}

Result<std::string> digest_of(const fs::path& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  Sha256 digest;
  std::vector<char> part(1 << 20);
  ssize_t got = -1;
  while (file && (got = ::read(file.get(), part.data(), part.size())) > 0)
    digest.update(part.data(), static_cast<std::size_t>(got));
  if (got < 0) return failure(ErrorCode::io, "cannot read {}: {}", path.string(), std::strerror(errno));
  return to_hex(digest.finish());
}

// Gives the pack that was written among the blobs its name.
Result<Json> add_pack(const fs::path& blobs, const fs::path& pack) {
  std::error_code error;
  TMA_JIT_ASSIGN(const std::string digest, digest_of(pack));
  const std::uint64_t size = fs::file_size(pack, error);
  if (!error) fs::rename(pack, blobs / digest, error);
  if (error) return failure(ErrorCode::io, "cannot rename {}: {}", pack.string(), error.message());
  Json layer = descriptor(kPackType, digest, size);
  layer["annotations"] = {{"org.opencontainers.image.title", kTitle}};
  return layer;
}

// Writes a layout into a new or empty folder.
Result<PackInfo> write_layout(const fs::path& root, const fs::path& layout, const fs::path& private_key) {
  std::error_code error;
  const fs::path blobs = layout / "blobs" / "sha256";
  fs::create_directories(blobs, error);
  if (error) return failure(ErrorCode::io, "cannot make {}: {}", blobs.string(), error.message());
  TMA_JIT_ASSIGN(PackInfo info, cache_pack(root, blobs / kTitle, private_key));
  TMA_JIT_ASSIGN(Json layer, add_pack(blobs, blobs / kTitle));
  TMA_JIT_ASSIGN(Json config, add_blob(blobs, "application/vnd.oci.empty.v1+json", "{}"));
  const Json manifest = {{"schemaVersion", 2},
                         {"mediaType", kManifestType},
                         {"artifactType", kPackType},
                         {"config", config},
                         {"layers", Json::array({layer})}};
  TMA_JIT_ASSIGN(Json listed, add_blob(blobs, kManifestType, manifest.dump()));
  listed["artifactType"] = kPackType;
  listed["annotations"] = {{"org.opencontainers.image.ref.name", "latest"}};
  const Json index = {{"schemaVersion", 2},
                      {"mediaType", "application/vnd.oci.image.index.v1+json"},
                      {"manifests", Json::array({listed})}};
  TMA_JIT_CHECK(write_new(layout / "index.json", index.dump()));
  TMA_JIT_CHECK(write_new(layout / "oci-layout", R"({"imageLayoutVersion":"1.0.0"})"));
  return info;
}

}  // namespace

Result<PackInfo> cache_pack_oci(const fs::path& root, const fs::path& layout, const fs::path& private_key) {
  std::error_code error;
  const bool there = fs::exists(layout, error);
  if (there && !(fs::is_directory(layout, error) && fs::is_empty(layout, error))) {
    return failure(ErrorCode::invalid_argument, "{}: it is not an empty folder; name one, or a new one",
                   layout.string());
  }
  auto info = write_layout(root, layout, private_key);
  if (info) return info;
  // A part of a layout would be pushed by nobody and refused by the next try.
  for (const char* part : {"blobs", "index.json", "oci-layout"}) fs::remove_all(layout / part, error);
  if (!there) fs::remove(layout, error);
  return info;
}

}  // namespace tma_jit
