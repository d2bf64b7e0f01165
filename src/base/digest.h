// SHA-256, computed by libcrypto.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace tma_jit {

using Digest = std::array<std::uint8_t, 32>;

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void update(const void* bytes, std::size_t size);
  void update(std::string_view text) { update(text.data(), text.size()); }
  Digest finish();  // may be called once

 private:
  struct State;
  std::unique_ptr<State> state_;
};

Digest sha256(const void* bytes, std::size_t size);
std::string to_hex(std::span<const std::uint8_t> bytes);

}  // namespace tma_jit
