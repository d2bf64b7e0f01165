// The key that distinguishes the shapes of a Function's calls: an array of words on the stack.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include <tma_jit/tensor.h>

namespace tma_jit::engine {

inline constexpr std::size_t kFunctionTensorsMax = 32;

class FunctionKey {
 public:
  FunctionKey(const Tensor* tensors, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) add(tensors[i]);
  }
  void add(std::uint64_t word) { words_[size_++] = word; }
  std::span<const std::uint64_t> words() const { return {words_.data(), size_}; }

 private:
  // A null address has its own class, so that it never matches a kernel prepared for a real address.
  static std::uint64_t alignment_class(std::uint64_t address) {
    return address == 0 ? 9 : static_cast<std::uint64_t>(std::min(std::countr_zero(address), 8));
  }

  void add(const Tensor& tensor) {
    const auto rank = static_cast<std::uint32_t>(tensor.rank);
    add(std::uint64_t{rank} << 32 | static_cast<std::uint64_t>(tensor.dtype) << 8 | alignment_class(tensor.address));
    for (std::size_t i = 0; i < std::min<std::size_t>(rank, kMaxRank); ++i) {
      add(static_cast<std::uint64_t>(tensor.shape[i]));
      add(static_cast<std::uint64_t>(tensor.strides[i]));
    }
  }

  static constexpr std::size_t kWordsMax = kFunctionTensorsMax * (1 + 2 * std::size_t{kMaxRank}) + 1;
  std::array<std::uint64_t, kWordsMax> words_;  // only the first size_ are used
  std::size_t size_ = 0;
};

}  // namespace tma_jit::engine
