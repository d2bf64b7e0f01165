#include "cache/entry.h"

#include <cstring>

#include <doctest/doctest.h>

#include "base/digest.h"
#include "support/cache_samples.h"

namespace tma_jit::cache {
namespace {

const Key kKey = sample_key(1);

// Too small a payload to shrink, and one that does.
std::vector<std::byte> sample_bytes() {
  return encode(kKey, noise_entry(1, 600)).value();
}
std::vector<std::byte> compressed_bytes() {
  return encode(kKey, sample_entry(1, 3000)).value();
}

// Makes the trailer right again, so that what is tested is a writer's mistake and not damage.
void seal(std::vector<std::byte>& bytes) {
  const std::size_t covered = bytes.size() - kEntryTrailerBytes;
  const Digest digest = sha256(bytes.data(), covered);
  std::memcpy(bytes.data() + covered, digest.data(), digest.size());
}

template <class T> Fault fault_with(std::size_t offset, T value) {
  auto bytes = sample_bytes();
  std::memcpy(bytes.data() + offset, &value, sizeof value);
  seal(bytes);
  const auto decoded = decode(bytes, kKey);
  REQUIRE_FALSE(decoded);
  return decoded.error();
}

}  // namespace

TEST_CASE("an entry comes back as it was written") {
  const Entry entry = sample_entry(7, 100'000);
  const auto bytes = encode(kKey, entry);
  REQUIRE(bytes);
  CHECK(bytes->size() < entry.cubin.size() / 2);  // a pattern that zstd finds
  CHECK(std::to_integer<int>((*bytes)[28]) == 1);
  const auto decoded = decode(*bytes, kKey);
  REQUIRE(decoded);
  CHECK(same(*decoded, entry));
  CHECK(encode(kKey, entry).value() == *bytes);
}

TEST_CASE("what does not shrink by a tenth is kept as it is") {
  const auto bytes = encode(kKey, noise_entry(3, 5000)).value();
  CHECK(bytes.size() == 128 + noise_entry(3, 5000).metadata.size() + 16 + 5000 + 32);
  CHECK(std::to_integer<int>(bytes[28]) == 0);
  CHECK(same(decode(bytes, kKey).value(), noise_entry(3, 5000)));
}

TEST_CASE("an entry without metadata is sound") {
  const Entry entry{sample_entry(1).cubin, {}};
  CHECK(same(decode(encode(kKey, entry).value(), kKey).value(), entry));
}

TEST_CASE("every change of a single bit is detected, and every byte of 00 and FF") {
  for (auto bytes : {sample_bytes(), compressed_bytes()}) {
    unsigned accepted = 0;
    for (std::byte& byte : bytes) {
      const std::byte sound = byte;
      for (int bit = 0; bit < 8; ++bit) {
        byte = sound ^ static_cast<std::byte>(1 << bit);
        accepted += decode(bytes, kKey, Depth::hit).has_value();
      }
      for (const auto value : {std::byte{0}, std::byte{255}}) {
        byte = value;
        accepted += value != sound && decode(bytes, kKey, Depth::hit).has_value();
      }
      byte = sound;
    }
    CHECK(accepted == 0);
    CHECK(decode(bytes, kKey).has_value());
  }
}

TEST_CASE("every truncation and extension is detected") {
  for (const auto& bytes : {sample_bytes(), compressed_bytes()}) {
    unsigned accepted = 0;
    for (std::size_t size = 0; size < bytes.size(); ++size)
      accepted += decode({bytes.data(), size}, kKey, Depth::hit).has_value();
    auto longer = bytes;
    for (int i = 0; i < 4096; ++i) {
      longer.push_back(std::byte{0});
      accepted += decode(longer, kKey, Depth::hit).has_value();
    }
    CHECK(accepted == 0);
  }
}

TEST_CASE("a sound entry of another key is named") {
  const auto decoded = decode(sample_bytes(), sample_key(2));
  REQUIRE_FALSE(decoded);
  CHECK(decoded.error().reason == MissReason::wrong_key);
  CHECK(decoded.error().detail == "it holds key " + to_hex(kKey.bytes));
}

TEST_CASE("formats and features of other versions are refused as such") {
  CHECK(fault_with(0, std::uint8_t{'P'}).reason == MissReason::format);
  CHECK(fault_with(8, std::uint16_t{2}).detail == "format 2, this version reads 1");
  CHECK(fault_with(28, std::uint32_t{2}).detail == "flags 0x2 ask for features this version lacks");
  CHECK(fault_with(28, std::uint32_t{4}).reason == MissReason::format);
}

TEST_CASE("a newer minor version may use the reserved bytes") {
  CHECK(fault_with(112, std::uint8_t{1}).detail == "reserved bytes are not zero");
  auto bytes = sample_bytes();
  bytes[10] = std::byte{1};
  bytes[112] = std::byte{1};
  seal(bytes);
  CHECK(decode(bytes, kKey).has_value());
}

TEST_CASE("lengths that do not add up are corrupt, however large") {
  for (const std::uint64_t length : {std::uint64_t{0}, std::uint64_t{1} << 32, ~std::uint64_t{0}}) {
    CHECK(fault_with(16, length).reason == MissReason::corrupt);
    CHECK(fault_with(32, length).reason == MissReason::corrupt);
    CHECK(fault_with(40, length).reason == MissReason::corrupt);
  }
  CHECK(fault_with(12, std::uint32_t{64}).detail == "header of 64 bytes");
  CHECK(fault_with(24, ~std::uint32_t{0}).reason == MissReason::corrupt);
}

TEST_CASE("a payload that is not what its digest or its section says is corrupt") {
  CHECK(fault_with(80, std::uint32_t{0}).detail == "its payload does not match its digest");
  CHECK(fault_with(128 + noise_entry(1, 600).metadata.size() + 8, std::uint64_t{0}).reason == MissReason::corrupt);
}

TEST_CASE("a sealed entry whose compressed payload is not what it says is corrupt, and costs no memory") {
  const auto with = [](std::size_t offset, auto value) {
    auto bytes = compressed_bytes();
    std::memcpy(bytes.data() + offset, &value, sizeof value);
    seal(bytes);
    return decode(bytes, kKey, Depth::hit);
  };
  for (const std::uint64_t raw : {std::uint64_t{0}, std::uint64_t{3000}, std::uint64_t{64} << 20, ~std::uint64_t{0}})
    CHECK(with(40, raw).error().reason == MissReason::corrupt);
  CHECK(with(28, std::uint32_t{0}).error().reason == MissReason::corrupt);  // said to be as it is
  const std::size_t frame = 128 + sample_entry(1, 3000).metadata.size();
  unsigned accepted = 0;
  for (std::size_t at = frame; at < compressed_bytes().size() - kEntryTrailerBytes; ++at)
    accepted += with(at, std::uint8_t{0x5a}).has_value() && compressed_bytes()[at] != std::byte{0x5a};
  CHECK(accepted == 0);
}

TEST_CASE("an empty or oversized cubin is not written") {
  const auto empty = encode(kKey, Entry{});
  REQUIRE_FALSE(empty);
  CHECK(empty.error().code == ErrorCode::invalid_argument);
  Entry large;
  large.cubin.resize(kEntryBytesMax);
  CHECK_FALSE(encode(kKey, large).has_value());
  large.cubin.resize(kEntryBytesMax - 128 - 16 - 32);
  CHECK(decode(encode(kKey, large).value(), kKey, Depth::hit).value().cubin.size() == large.cubin.size());
}

}  // namespace tma_jit::cache
