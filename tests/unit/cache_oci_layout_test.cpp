#include <fstream>
#include <iterator>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <tma_jit/cache.h>

#include "base/digest.h"
#include "cache/store.h"
#include "support/cache_samples.h"
#include "support/temporary_folder.h"

namespace tma_jit {

namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

std::string content_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Returns the content of a blob, whose name and size must be right.
std::string blob_of(const fs::path& layout, const Json& descriptor) {
  const std::string digest = descriptor["digest"].get<std::string>().substr(7);
  const std::string content = content_of(layout / "blobs" / "sha256" / digest);
  CHECK(to_hex(sha256(content.data(), content.size())) == digest);
  CHECK(content.size() == descriptor["size"]);
  return content;
}

}  // namespace

TEST_CASE("a pack as an OCI layout: every blob has its digest as name, and the layer is the pack") {
  const TemporaryFolder folder;
  const fs::path root = folder.path() / "cache", layout = folder.path() / "layout";
  const auto store = cache::Store::open(root);
  REQUIRE(store);
  for (unsigned i = 0; i < 3; ++i) REQUIRE(store->put(cache::sample_key(i), cache::sample_entry(i)));
  const auto info = cache_pack_oci(root, layout);
  REQUIRE_MESSAGE(info, info.error().text());
  CHECK(info->entries == 3);
  CHECK(Json::parse(content_of(layout / "oci-layout"))["imageLayoutVersion"] == "1.0.0");
  const Json index = Json::parse(content_of(layout / "index.json"));
  REQUIRE(index["manifests"].size() == 1);
  CHECK(index["manifests"][0]["annotations"]["org.opencontainers.image.ref.name"] == "latest");
  const Json manifest = Json::parse(blob_of(layout, index["manifests"][0]));
  CHECK(manifest["artifactType"] == "application/vnd.tma-jit.pack.v1");
  CHECK(blob_of(layout, manifest["config"]) == "{}");
  REQUIRE(manifest["layers"].size() == 1);
  (void)blob_of(layout, manifest["layers"][0]);
  const std::string name = manifest["layers"][0]["digest"].get<std::string>().substr(7);
  const auto entries = cache_verify(layout / "blobs" / "sha256" / name);
  REQUIRE(entries);
  CHECK(entries->size() == 3);
  CHECK(std::distance(fs::directory_iterator(layout / "blobs" / "sha256"), {}) == 3);
  CHECK(!cache_pack_oci(root, layout));  // it is not empty
}

TEST_CASE("a layout that could not be written leaves nothing, so that the next try is not refused") {
  const TemporaryFolder folder;
  const fs::path root = folder.path() / "cache", layout = folder.path() / "layout", empty = folder.path() / "empty";
  const auto store = cache::Store::open(root);
  REQUIRE(store);
  REQUIRE(store->put(cache::sample_key(0), cache::sample_entry(0)));
  fs::create_directory(empty);
  CHECK_FALSE(cache_pack_oci(root, layout, folder.path() / "none.key"));
  CHECK_FALSE(fs::exists(layout));
  CHECK_FALSE(cache_pack_oci(root, empty, folder.path() / "none.key"));
  CHECK(fs::is_empty(empty));
  CHECK(cache_pack_oci(root, layout));
  CHECK(cache_pack_oci(root, root / "CACHEDIR.TAG").error().message.find("it is not an empty folder") !=
        std::string::npos);
}

}  // namespace tma_jit
