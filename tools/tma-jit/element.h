// One element of a tensor on the host: from its bits to a double and back, rounded to nearest even as the device does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <tma_jit/dtype.h>

namespace tma_jit::cli {

// The element's bits, zero-extended.
std::uint64_t load_bits(const std::byte* element, std::size_t size);
void store_bits(std::byte* element, std::size_t size, std::uint64_t bits);

double decode(DType type, std::uint64_t bits);
// Nearest, ties to even. What is too large becomes infinity, or the largest finite value in the 8-bit formats and the
// integers, which is how CUDA converts.
std::uint64_t encode(DType type, double value);

// decode() by table for types of one and two bytes.
class Decoder {
 public:
  explicit Decoder(DType type);
  double operator()(const std::byte* element) const {
    const std::uint64_t bits = load_bits(element, size_);
    return table_.empty() ? decode(type_, bits) : table_[bits];
  }
  std::size_t size() const { return size_; }

 private:
  DType type_;
  std::size_t size_;
  std::vector<double> table_;
};

}  // namespace tma_jit::cli
