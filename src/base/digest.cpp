#include "base/digest.h"

// Uses the low-level SHA256_* calls: EVP would load libcrypto's providers, which takes about a millisecond in a fresh
// process and would dominate a warm start.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

namespace tma_jit {

struct Sha256::State {
  SHA256_CTX context;
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  SHA256_Init(&state_->context);
}
Sha256::~Sha256() = default;

void Sha256::update(const void* bytes, std::size_t size) {
  SHA256_Update(&state_->context, bytes, size);
}

Digest Sha256::finish() {
  Digest digest{};
  SHA256_Final(digest.data(), &state_->context);
  return digest;
}

Digest sha256(const void* bytes, std::size_t size) {
  Sha256 hash;
  hash.update(bytes, size);
  return hash.finish();
}

std::string to_hex(std::span<const std::uint8_t> bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::uint8_t byte : bytes) {
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

}  // namespace tma_jit
