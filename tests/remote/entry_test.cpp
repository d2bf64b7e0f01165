#include "cache/remote_entry.h"

#include <doctest/doctest.h>

#include "cache/remote_catalogue.h"
#include "remote/action_result.h"
#include "support/cache_samples.h"
#include "support/temporary_folder.h"

namespace tma_jit::cache {
namespace {

struct Keys {
  TemporaryFolder folder;
  std::filesystem::path of(const std::string& name) const { return folder.path() / name; }
  Keys() {
    REQUIRE(make_keys(of("mine.key"), of("mine.pub")));
    REQUIRE(make_keys(of("other.key"), of("other.pub")));
  }
  PackPolicy trusting(const std::string& name) const { return *read_pack_policy({of(name)}); }
};

}  // namespace

TEST_CASE("a signed entry is read by those who trust its key, and by those who demand none") {
  const Keys keys;
  const Key key = sample_key(1);
  const auto encoded = *encode(key, sample_entry(1));
  const auto bytes = to_remote(encoded, keys.of("mine.key"));
  REQUIRE(bytes);
  CHECK(bytes->size() == encoded.size() + kRemoteTrailerBytes);
  for (const PackPolicy& policy : {PackPolicy{}, keys.trusting("mine.pub")}) {
    const auto read = from_remote(*bytes, key, policy);
    REQUIRE(read);
    CHECK(same(read->entry, sample_entry(1)));
    CHECK(std::equal(read->encoded.begin(), read->encoded.end(), encoded.begin(), encoded.end()));
  }
  const auto foreign = from_remote(*bytes, key, keys.trusting("other.pub"));
  REQUIRE(!foreign);
  CHECK(foreign.error().reason == MissReason::untrusted);
  const auto bare = from_remote(encoded, key, keys.trusting("mine.pub"));
  REQUIRE(!bare);
  CHECK(bare.error().reason == MissReason::untrusted);
  CHECK(from_remote(*bytes, sample_key(2), keys.trusting("mine.pub")).error().reason == MissReason::wrong_key);
}

TEST_CASE("no changed byte and no cut of a signed entry is accepted") {
  const Keys keys;
  const Key key = sample_key(1);
  const auto bytes = *to_remote(*encode(key, sample_entry(1)), keys.of("mine.key"));
  const PackPolicy policy = keys.trusting("mine.pub");
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    auto changed = bytes;
    changed[i] ^= std::byte{1};
    CHECK(!from_remote(changed, key, policy));
    CHECK(!from_remote(std::span(bytes).first(i), key, policy));
  }
  // The signature of one entry is none of another.
  const auto other = *encode(key, sample_entry(2));
  auto mixed = other;
  mixed.insert(mixed.end(), bytes.end() - kRemoteTrailerBytes, bytes.end());
  CHECK(!from_remote(mixed, key, policy));
}

TEST_CASE("a catalogue survives the way to the server and back") {
  Catalogue catalogue;
  CHECK(catalogue_in(to_entry(catalogue)).keys.empty());
  for (unsigned i = 0; i < 100; ++i) catalogue.keys.insert(sample_key(i));
  catalogue.compilers = {"NVRTC 13.0", "NVRTC 12.8"};
  const Catalogue read = catalogue_in(to_entry(catalogue));
  CHECK(read.keys == catalogue.keys);
  CHECK(read.compilers == catalogue.compilers);
}

TEST_CASE("an ActionResult in the bytes that the protocol's own encoder makes") {
  const remote::Blob blob{std::string(64, 'a'), 300};
  const auto bytes = remote::action_result("entry", blob);
  std::string expected(
      "\x12\x4e\x0a\x05"
      "entry"
      "\x12\x45\x0a\x40",
      13);
  expected += blob.sha256 + "\x10\xac\x02";
  CHECK(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()) == expected);
  const auto read = remote::output_of(bytes);
  REQUIRE(read);
  CHECK(read->sha256 == blob.sha256);
  CHECK(read->bytes == 300);
  for (std::size_t i = 0; i < bytes.size(); ++i) CHECK(!remote::output_of(std::span(bytes).first(i)));
}

}  // namespace tma_jit::cache
