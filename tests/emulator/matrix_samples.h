// Operands for tests of the matrix instructions: small integers, so that sums are exact, and the layouts of the PTX
// ISA's figures, implemented independently of the emulator.
#pragma once

#include <bit>
#include <cstring>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "emulator/matrix/registers.h"
#include "emulator/numeric/convert.h"

namespace tma_jit::testing {

using emulator::s32;
using emulator::s64;
using emulator::u16;
using emulator::u32;
using emulator::u64;
using emulator::u8;
using emulator::numeric::Format;

// A matrix of rows by columns.
struct Values {
  u32 rows = 0;
  u32 columns = 0;
  std::vector<double> data;

  Values(u32 r, u32 c) : rows(r), columns(c), data(static_cast<std::size_t>(r) * c) {}
  double& at(u32 r, u32 c) { return data[static_cast<std::size_t>(r) * columns + c]; }
  double at(u32 r, u32 c) const { return data[static_cast<std::size_t>(r) * columns + c]; }
};

// Random integers from -4 to 4 that the format represents, or from 0 if it is unsigned.
inline Values sample(u32 rows, u32 columns, Format format, std::mt19937& random) {
  Values values(rows, columns);
  for (double& value : values.data) {
    const int drawn = static_cast<int>(random() % 9) - 4;
    value = emulator::numeric::is_signed(format) ? drawn : std::abs(drawn);
    if (format == Format::b1) value = std::abs(drawn) % 2;
  }
  return values;
}

inline u64 pattern(Format format, double value) {
  if (emulator::numeric::is_float(format)) return emulator::numeric::nearest(format, value);
  return static_cast<u64>(static_cast<s64>(value)) & ((u64{1} << emulator::numeric::bits_of(format)) - 1);
}

// Writes `bits` bits at bit offset `at`.
inline void put_bits(u8* bytes, u64 at, int bits, u64 value) {
  for (int i = 0; i < bits; ++i) {
    const u64 bit = at + static_cast<u64>(i);
    bytes[bit / 8] = static_cast<u8>((bytes[bit / 8] & ~(1U << bit % 8)) | (((value >> i) & 1) << bit % 8));
  }
}

inline Values product(const Values& a, const Values& b) {
  Values c(a.rows, b.columns);
  for (u32 i = 0; i < a.rows; ++i)
    for (u32 j = 0; j < b.columns; ++j)
      for (u32 k = 0; k < a.columns; ++k) c.at(i, j) += a.at(i, k) * b.at(k, j);
  return c;
}

// `count` registers of 32 lanes of `width` bytes.
class Bank {
 public:
  explicit Bank(u32 count, u32 width = 4) : width_(width), storage_(static_cast<std::size_t>(count) * 32 * width) {
    for (u32 i = 0; i < count; ++i) pointers_.push_back(storage_.data() + static_cast<std::size_t>(i) * 32 * width);
  }
  emulator::matrix::Registers registers() const { return {pointers_.data(), pointers_.size()}; }
  u32 count() const { return static_cast<u32>(pointers_.size()); }
  // Returns bits from `at` on of a lane's register.
  void put(u32 index, u32 lane, u32 at, int bits, u64 value) {
    put_bits(pointers_[index] + lane * width_, at, bits, value);
  }
  u64 word(u32 index, u32 lane) const {
    u64 value = 0;
    std::memcpy(&value, pointers_[index] + lane * width_, width_);
    return value;
  }

 private:
  u32 width_;
  std::vector<u8> storage_;
  std::vector<u8*> pointers_;
};

// Returns the location of a byte of a 128-byte row under a swizzle of `span` bytes: chunks of `atom` bytes are
// exchanged as the table of swizzling modes shows, for each row of 128 bytes.
inline u32 swizzled_byte(u32 address, u32 span, u32 atom) {
  if (span <= 16) return address;
  const u32 chunks = span / atom;
  const u32 line = address / 128;
  const u32 chunk = address / atom % chunks;
  return address - address % span + (chunk ^ (line % chunks)) * atom + address % atom;
}

}  // namespace tma_jit::testing
