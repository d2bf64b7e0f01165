// SHA-256 as hexadecimal digits.
#pragma once

#include <openssl/sha.h>

#include <array>
#include <cstddef>
#include <span>
#include <string>

namespace tma_jit::remote {

inline std::string sha256_hex(std::span<const std::byte> bytes) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  (void)::SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), digest.data());
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : digest) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace tma_jit::remote
