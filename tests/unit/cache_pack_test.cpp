#include "cache/pack.h"

#include <sys/stat.h>
#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <tma_jit/cache.h>

#include "base/digest.h"
#include "base/file.h"
#include "cache/folder.h"
#include "cache/layers.h"
#include "core/failure.h"
#include "support/cache_samples.h"
#include "support/combinations.h"
#include "support/temporary_folder.h"

namespace tma_jit::cache {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kEntries = 5;

struct Fixture {
  TemporaryFolder folder;
  fs::path root = folder.path() / "cache";
  fs::path pack = folder.path() / "kernels.tmjpack";
  fs::path secret = folder.path() / "signing.key";
  fs::path open = folder.path() / "signing.pub";

  Fixture() {
    const Store store = Store::open(root).value();
    for (unsigned i = 0; i < kEntries; ++i) REQUIRE(store.put(sample_key(i), sample_entry(i, 300 + 100 * i)));
    REQUIRE(store.record_compiler("nvrtc 13.0 abc"));
    REQUIRE(cache_keygen(secret, open));
  }
  Result<std::unique_ptr<Pack>> opened(const std::vector<fs::path>& keys = {}) const {
    TMA_JIT_ASSIGN(const PackPolicy policy, read_pack_policy(keys, folder.path() / "no rule"));
    return Pack::open(pack, FileSystem::system(), policy);
  }
};

// In place: a file system flushes a file that is truncated and written anew, which takes milliseconds.
void put_byte(const fs::path& path, std::size_t at, char byte) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(at)).put(byte);
  REQUIRE(file.good());
}

}  // namespace

TEST_CASE_FIXTURE(Fixture, "a folder packed and unpacked is the same folder") {
  const PackInfo made = cache_pack(root, pack).value();
  CHECK(made.entries == kEntries);
  CHECK(made.signer.empty());
  const fs::path other = folder.path() / "other";
  REQUIRE(cache_unpack(pack, other));
  for (unsigned i = 0; i < kEntries; ++i)
    CHECK(read_file(entry_path(root, sample_key(i))).value() == read_file(entry_path(other, sample_key(i))).value());
  CHECK(Store::open(other).value().compilers() == std::vector<std::string>{"nvrtc 13.0 abc"});
}

TEST_CASE_FIXTURE(Fixture, "a pack is a layer: it has its entries and no others, and is never written") {
  REQUIRE(cache_pack(root, pack, secret));
  const auto layer = opened({open}).value();
  for (unsigned i = 0; i < kEntries; ++i)
    CHECK(same(layer->get(sample_key(i)).entry.value(), sample_entry(i, 300 + 100 * i)));
  CHECK(layer->get(sample_key(99)).reason == MissReason::absent);
  CHECK(layer->compilers() == std::vector<std::string>{"nvrtc 13.0 abc"});
  CHECK_FALSE(layer->put(sample_key(99), {}));
}

TEST_CASE_FIXTURE(Fixture, "with trusted keys a pack must be signed by one of them") {
  REQUIRE(cache_pack(root, pack));
  CHECK(opened());
  CHECK(opened({open}).error().message.find("it is not signed") != std::string::npos);

  const std::string id = cache_pack(root, pack, secret).value().signer;
  CHECK(id.size() == 64);
  CHECK(opened({open}));
  CHECK(opened({folder.path()}));  // a folder of keys
  const fs::path other = folder.path() / "other";
  fs::create_directory(other);
  REQUIRE(cache_keygen(other / "b.key", other / "b.pub"));
  CHECK(opened({other}).error().message.find("none of the 1 trusted keys") != std::string::npos);
  CHECK(opened({folder.path() / "none.pub"}).error().message.find("none.pub") != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "keys that others can read or write, and files that are none, are refused") {
  CHECK_FALSE(cache_keygen(secret, folder.path() / "new.pub"));  // never replaced
  ::chmod(secret.c_str(), 0644);
  CHECK(cache_pack(root, pack, secret).error().message.find("chmod 600") != std::string::npos);
  REQUIRE(cache_pack(root, pack));
  ::chmod(open.c_str(), 0666);
  CHECK(opened({open}).error().message.find("others can write") != std::string::npos);
  REQUIRE(write_file(folder.path() / "bad.pub", "no key"));
  CHECK(opened({folder.path() / "bad.pub"}).error().code == ErrorCode::parse);
}

TEST_CASE_FIXTURE(Fixture, "every changed byte of a pack and every truncation is found, signed or not") {
  for (const bool with_signature : {false, true}) {
    REQUIRE(cache_pack(root, pack, with_signature ? secret : fs::path()));
    const std::string sound = read_file(pack).value();
    const std::vector<fs::path> keys = with_signature ? std::vector<fs::path>{open} : std::vector<fs::path>{};
    unsigned undetected = 0;
    const std::size_t stride = testing::byte_stride();
    for (std::size_t at = 0; at < sound.size(); at += stride) {
      put_byte(pack, at, static_cast<char>(sound[at] ^ (1 << at % 8)));
      const auto verified = cache_verify(pack, keys);
      bool found = !verified;
      for (unsigned i = 0; verified && i < verified->size(); ++i) found = found || !(*verified)[i].fault.empty();
      undetected += !found;
      put_byte(pack, at, sound[at]);
    }
    CHECK(undetected == 0);
    for (std::size_t size = sound.size() - 1; size >= 3 * stride; size -= 3 * stride) {
      fs::resize_file(pack, size);
      undetected += opened(keys).has_value();
    }
    REQUIRE(write_file(pack, sound + "x"));
    undetected += opened(keys).has_value();
    CHECK(undetected == 0);
  }
}

TEST_CASE_FIXTURE(Fixture, "an entry swapped for a sound one of the same key, with its record, breaks the signature") {
  REQUIRE(cache_pack(root, pack, secret));
  const auto original = opened({open}).value();
  const Signed signature = original->index().signature;
  REQUIRE(Store::open(root).value().put(sample_key(1), noise_entry(1, 700)));  // the attacker's kernel
  REQUIRE(cache_pack(root, pack));
  // A pack of the attacker's with the tail that the builder signed.
  const auto forged = opened().value();
  const PackFrame frame = pack_frame(forged->index().compilers, forged->index().records);
  const auto tail = pack_tail(frame, signature);
  std::string bytes = read_file(pack).value();
  bytes.replace(bytes.size() - tail.size(), tail.size(), reinterpret_cast<const char*>(tail.data()), tail.size());
  REQUIRE(write_file(pack, bytes));
  CHECK(opened());
  CHECK(opened({open}).error().message.find("its signature by key") != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture, "a pack that others can write to is refused, one that is replaced goes on as it was") {
  REQUIRE(cache_pack(root, pack));
  const auto layer = opened().value();
  REQUIRE(cache_clear(root));
  REQUIRE(cache_pack(root, pack));
  CHECK(layer->get(sample_key(1)).entry);
  CHECK_FALSE(opened().value()->get(sample_key(1)).entry);
  ::chmod(pack.c_str(), 0666);
  CHECK(opened().error().message.find("others can write") != std::string::npos);
}

TEST_CASE_FIXTURE(Fixture,
                  "packs and folders that are only read are asked after the user's folder, and nothing is copied") {
  REQUIRE(cache_pack(root, pack, secret));
  LayerSettings settings;
  settings.root = folder.path() / "mine";
  settings.read_only = {folder.path() / "missing", pack, root};
  settings.pack_keys = {open};
  std::vector<std::string> reports;
  settings.report = [&](const std::string& what) { reports.push_back(what); };
  Layers layers(settings);
  CHECK(same(layers.get(sample_key(2)).entry.value(), sample_entry(2, 500)));
  CHECK(layers.tally().read_only_hits == 1);
  CHECK(reports.size() == 1);
  CHECK(layers.compilers() == std::vector<std::string>{"nvrtc 13.0 abc"});
  CHECK(cache_stat(settings.root).value().entries == 0);
  CHECK_FALSE(fs::exists(folder.path() / "missing"));
}

TEST_CASE_FIXTURE(Fixture, "a pack takes no device's place, and a pair of keys is written whole or not at all") {
  const fs::path pipe = folder.path() / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(cache_pack(root, pipe).error().message.find("pipe: it is a pipe, socket or device") != std::string::npos);
  CHECK(fs::is_fifo(pipe));
  CHECK_FALSE(cache_keygen(folder.path() / "second.key", open));
  CHECK_FALSE(fs::exists(folder.path() / "second.key"));
}

}  // namespace tma_jit::cache
