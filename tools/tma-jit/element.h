// Conversion of one tensor element on the host between its bits and a double, rounded to nearest even as on the device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <tma_jit/dtype.h>

namespace tma_jit::cli {

// Returns the element's bits, zero-extended.
std::uint64_t load_bits(const std::byte* element, std::size_t size);
void store_bits(std::byte* element, std::size_t size, std::uint64_t bits);

double decode(DType type, std::uint64_t bits);
// Rounds to nearest, ties to even. Values that are too large become infinity, or the largest finite value in the 8-bit
// formats and the integers, as in CUDA's conversions.
std::uint64_t encode(DType type, double value);

// decode(), by table for types of one and two bytes.
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
