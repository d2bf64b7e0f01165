#include "cache/remote_entry.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/digest.h"
#include "cache/signature.h"
#include "core/failure.h"

namespace tma_jit::cache {
namespace {

constexpr std::array<std::uint8_t, 8> kMagic = {0x89, 'T', 'M', 'S', '\r', '\n', 0x1a, '\n'};
constexpr std::string_view kPurpose = "tma-jit remote entry 1";  // no signature of anything else is one of an entry

std::vector<std::uint8_t> message_of(std::span<const std::byte> encoded) {
  const Digest digest = sha256(encoded.data(), encoded.size());
  std::vector<std::uint8_t> message(kPurpose.begin(), kPurpose.end());
  message.insert(message.end(), digest.begin(), digest.end());
  return message;
}

struct Trailer {
  std::array<std::uint8_t, 8> magic = kMagic;
  KeyId id{};
  Signature signature{};
};
static_assert(sizeof(Trailer) == kRemoteTrailerBytes && std::has_unique_object_representations_v<Trailer>);

std::optional<Trailer> trailer_of(std::span<const std::byte> bytes) {
  Trailer trailer;
  if (bytes.size() < sizeof trailer) return std::nullopt;
  std::memcpy(&trailer, bytes.last(sizeof trailer).data(), sizeof trailer);
  return trailer.magic == kMagic ? std::optional(trailer) : std::nullopt;
}

bool is_trusted(const Trailer& trailer, std::span<const std::byte> encoded, const PackPolicy& policy) {
  return std::any_of(policy.keys.begin(), policy.keys.end(), [&](const PublicKey& key) {
    return key.id == trailer.id && is_signed_by(key, trailer.signature, message_of(encoded));
  });
}

}  // namespace

Result<std::vector<std::byte>> to_remote(std::span<const std::byte> encoded, const std::filesystem::path& private_key) {
  std::vector<std::byte> bytes(encoded.begin(), encoded.end());
  if (private_key.empty()) return bytes;
  TMA_JIT_ASSIGN(const Signed made, sign(private_key, message_of(encoded)));
  const Trailer trailer{.id = made.id, .signature = made.signature};
  const auto* first = reinterpret_cast<const std::byte*>(&trailer);
  bytes.insert(bytes.end(), first, first + sizeof trailer);
  return bytes;
}

tl::expected<RemoteEntry, Fault> from_remote(std::span<const std::byte> bytes, const Key& key,
                                             const PackPolicy& policy) {
  const auto trailer = trailer_of(bytes);
  const auto encoded = trailer ? bytes.first(bytes.size() - sizeof(Trailer)) : bytes;
  if (policy.signed_only && (!trailer || !is_trusted(*trailer, encoded, policy))) {
    return tl::make_unexpected(
        Fault{MissReason::untrusted, trailer ? "it is not signed by a key that is trusted here" : "it is not signed"});
  }
  auto entry = decode(encoded, key, Depth::hit);
  if (!entry) return tl::make_unexpected(std::move(entry).error());
  return RemoteEntry{*std::move(entry), encoded};
}

}  // namespace tma_jit::cache
