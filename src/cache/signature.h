// Ed25519 signatures of packs, by libcrypto. Keys are PEM files as `openssl genpkey -algorithm ED25519` makes them.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <tma_jit/error.h>

#include "base/digest.h"

namespace tma_jit::cache {

using Signature = std::array<std::uint8_t, 64>;
using KeyId = Digest;  // SHA-256 of the 32 bytes of a public key

struct PublicKey {
  std::array<std::uint8_t, 32> bytes{};
  KeyId id{};
};

struct Signed {
  KeyId id{};
  Signature signature{};
};

// Writes the private key (0600) and the public key (0644). Fails if either file exists.
[[nodiscard]] Result<PublicKey> make_keys(const std::filesystem::path& private_key,
                                          const std::filesystem::path& public_key);

// Reads files, and all *.pub in folders, as key_files finds them. Fails unless every one is such a key, belongs to this
// user or root, and is not writable by others.
[[nodiscard]] Result<std::vector<PublicKey>> read_public_keys(const std::vector<std::filesystem::path>& paths);

// Fails if others can read the private key.
[[nodiscard]] Result<Signed> sign(const std::filesystem::path& private_key, std::span<const std::uint8_t> message);
bool is_signed_by(const PublicKey& key, const Signature& signature, std::span<const std::uint8_t> message);

}  // namespace tma_jit::cache
