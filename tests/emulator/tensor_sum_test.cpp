// Sums of products bit-identical to a Hopper device, and the two implementations against each other.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string_view>

#include "emulator/hopper_sums.h"
#include "emulator/matrix/mma_sync.h"
#include "emulator/numeric/tensor_sum.h"
#include "emulator/wgmma_samples.h"

using namespace tma_jit::emulator;
using namespace tma_jit::emulator::matrix;
using namespace tma_jit::emulator::numeric;
using namespace tma_jit::testing;

namespace {

std::vector<u8> bytes_of(std::string_view hexadecimal) {
  std::vector<u8> bytes;
  for (std::size_t i = 0; i < hexadecimal.size(); i += 2)
    bytes.push_back(static_cast<u8>(std::stoul(std::string(hexadecimal.substr(i, 2)), nullptr, 16)));
  return bytes;
}

u32 word_of(const std::vector<u8>& bytes, u32 at) {
  return u32{bytes[at]} | u32{bytes[at + 1]} << 8 | u32{bytes[at + 2]} << 16 | u32{bytes[at + 3]} << 24;
}

// Row 0 of a fragment of 8 rows, in the first of each `step` registers: 16 bytes of K per register, 4 of them per lane.
void put_row(const Bank& bank, u32 step, const std::vector<u8>& bytes) {
  for (u32 at = 0; at < bytes.size(); at += 4)
    set_lane_word(bank.registers(), at / 16 * step, static_cast<int>(at % 16 / 4), word_of(bytes, at));
}

u64 accumulator_of(Format format, u32 f32_bits) {
  const auto value = double{std::bit_cast<float>(f32_bits)};
  return format == Format::f16 ? numeric::nearest(format, value) : f32_bits;
}

u32 sum_of(const Bank& d, Format format) {
  if (format == Format::f32) return static_cast<u32>(d.word(0, 0));
  const u64 bits = d.word(0, 0) & 0xffff;
  if (bits == numeric::canonical_nan(Format::f16)) return static_cast<u32>(numeric::canonical_nan(Format::f32));
  return std::bit_cast<u32>(static_cast<float>(numeric::value_of(Format::f16, bits)));
}

u32 by_warpgroup(const TensorSum& sample) {
  Wgmma instruction{.n = 8, .a_format = sample.a_format, .b_format = sample.b_format, .accumulator = sample.d_format};
  instruction.a_in_registers = true;
  const Bank a(16), d(4 * accumulator_registers(instruction));
  put_row(a, 2, bytes_of(sample.a));
  // Column 0 of B: the first row of each of two core matrices of 8 rows of 16 bytes.
  std::vector<u8> shared(2048);
  const std::vector<u8> b = bytes_of(sample.b);
  for (u32 i = 0; i < b.size(); ++i) shared[1024 + i / 16 * 128 + i % 16] = b[i];
  instruction.b_descriptor = wgmma_samples::descriptor_of(1024, 128, 256, 16);
  set_lane_word(d.registers(), 0, 0, static_cast<u32>(accumulator_of(sample.d_format, sample.c)));
  execute(instruction, shared.data(), a.registers(), d.registers());
  return sum_of(d, sample.d_format);
}

u32 by_warp(const TensorSum& sample) {
  MmaSync instruction{.a_format = sample.a_format,
                      .b_format = sample.b_format,
                      .c_format = sample.d_format,
                      .d_format = sample.d_format,
                      .widened = numeric::bits_of(sample.a_format) == 8};
  const std::vector<u8> row = bytes_of(sample.a);
  instruction.k = static_cast<u32>(row.size()) / static_cast<u32>(numeric::container_bytes(sample.a_format));
  const MmaCounts counts = counts_of(instruction);
  const Bank a(counts.a), b(counts.b), c(counts.c), d(counts.d);
  put_row(a, 2, row);
  put_row(b, 1, bytes_of(sample.b));
  set_lane_word(c.registers(), 0, 0, static_cast<u32>(accumulator_of(sample.d_format, sample.c)));
  execute(instruction, {.d = d.registers(), .a = a.registers(), .b = b.registers(), .c = c.registers()});
  return sum_of(d, sample.d_format);
}

// Random values of a format whose exponents are within `radius` of 0 and within the range of the format.
std::vector<float> draw(Format format, u32 count, int radius, std::mt19937& random) {
  const int most = numeric::layout_of(format).bias - 1;
  std::vector<float> values(count);
  for (float& value : values) {
    const int exponent = static_cast<int>(random() % static_cast<u32>(radius + std::min(radius, most) + 1)) - radius;
    const double drawn = std::ldexp(1.0 + static_cast<double>(random() % 4096) / 4096, exponent);
    const u64 bits = numeric::nearest(format, random() % 8 == 0 ? 0.0 : random() % 2 == 0 ? drawn : -drawn);
    value = static_cast<float>(numeric::value_of(format, bits));
  }
  return values;
}

struct Drawn {
  std::vector<float> a, b, c;
  std::vector<s16> a_exponents, b_exponents;
  FloatTile tile;
};

constexpr u32 kRows = 5, kColumns = 24;

Drawn draw_tile(Format format, u32 depth, int radius, std::mt19937& random) {
  Drawn drawn{draw(format, kRows * depth, radius, random),
              draw(format, depth * kColumns, radius, random),
              draw(Format::f32, kRows * kColumns, 2 * radius, random),
              {},
              {},
              {}};
  drawn.a_exponents.resize(drawn.a.size());
  drawn.b_exponents.resize(drawn.b.size());
  drawn.tile = {{drawn.a.data(), drawn.a_exponents.data(), depth},
                {drawn.b.data(), drawn.b_exponents.data(), kColumns},
                drawn.c.data(),
                kRows,
                kColumns,
                depth,
                kColumns,
                true,
                {}};
  find_exponents(format, drawn.tile.a, kRows * depth);
  find_exponents(format, drawn.tile.b, depth * kColumns);
  return drawn;
}

std::vector<float> product_of(FloatTile tile, const std::vector<float>& c) {
  std::vector<float> sums = c;
  tile.c = sums.data();
  multiply(tile);
  return sums;
}

bool same_bits(const std::vector<float>& x, const std::vector<float>& y) {
  return std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
}

}  // namespace

TEST_CASE("tensor sums: every bit is a device's") {
  for (const TensorSum& sample : kHopperSums) {
    CAPTURE(sample.warpgroup);
    CAPTURE(numeric::name_of(sample.a_format));
    CAPTURE(numeric::name_of(sample.d_format));
    CAPTURE(std::string(sample.a));
    CHECK((sample.warpgroup ? by_warpgroup(sample) : by_warp(sample)) == sample.d);
  }
}

TEST_CASE("tensor sums: vectors compute what the plain text of the rule does") {
  std::mt19937 random(1);
  for (const Format format : {Format::bf16, Format::f16, Format::tf32, Format::e4m3, Format::e5m2}) {
    for (const u32 depth : {4U, 8U, 16U, 32U}) {
      for (const int radius : {1, 6, 20, 48}) {
        for (const Summation sum :
             {Summation{}, Summation{.to_odd = true}, Summation{.fraction = 13, .significand = 14}}) {
          Drawn drawn = draw_tile(format, depth, radius, random);
          drawn.tile.sum = sum;
          REQUIRE(drawn.tile.a.range.near);
          const std::vector<float> by_vectors = product_of(drawn.tile, drawn.c);
          drawn.tile.a.range.near = false;
          CHECK(same_bits(product_of(drawn.tile, drawn.c), by_vectors));
        }
      }
    }
  }
}

TEST_CASE("tensor sums: vectors add up what takes more than 31 bits") {
  std::mt19937 random(3);
  for (const u32 depth : {16U, 32U, 64U}) {
    for (const int round : {0, 1, 2, 3}) {
      Drawn drawn = draw_tile(Format::f16, depth, 1, random);
      const float sign = round % 2 == 0 ? 1.0F : -1.0F;
      for (float& value : drawn.a) value = round < 2 ? 2047.0F / 1024 : std::abs(value);
      for (float& value : drawn.b) value = sign * (round < 2 ? 2047.0F / 1024 : std::abs(value));
      for (float& value : drawn.c) value = sign * std::abs(value);
      find_exponents(Format::f16, drawn.tile.a, kRows * depth);
      find_exponents(Format::f16, drawn.tile.b, depth * kColumns);
      const std::vector<float> by_vectors = product_of(drawn.tile, drawn.c);
      drawn.tile.a.range.near = false;
      CHECK(same_bits(product_of(drawn.tile, drawn.c), by_vectors));
    }
  }
}

TEST_CASE("tensor sums: the ends of the range") {
  std::mt19937 random(2);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Drawn drawn = draw_tile(Format::bf16, 16, 100, random);
  CHECK_FALSE(drawn.tile.a.range.near);
  drawn = draw_tile(Format::bf16, 16, 1, random);
  drawn.a[3] = kInfinity;  // row 0
  drawn.b[3 * kColumns + 1] = 0;
  find_exponents(Format::bf16, drawn.tile.a, kRows * 16);
  find_exponents(Format::bf16, drawn.tile.b, 16 * kColumns);
  CHECK_FALSE(drawn.tile.a.range.finite);
  drawn.c[kColumns] = kInfinity;  // row 1
  const std::vector<float> sums = product_of(drawn.tile, drawn.c);
  CHECK(std::isinf(sums[0]) == (drawn.b[3 * kColumns] != 0));
  CHECK(std::bit_cast<u32>(sums[1]) == 0x7fffffff);  // infinity times zero
  CHECK(sums[kColumns] == kInfinity);
  CHECK(std::isfinite(sums[kColumns + 1]));
}

TEST_CASE("tensor sums: a sum too large is infinite, one of nothing is +0") {
  for (const float value : {0.0F, -0.0F, 0x1p120F}) {
    Drawn drawn{std::vector<float>(kRows * 16, value),
                std::vector<float>(16 * kColumns, value),
                std::vector<float>(kRows * kColumns, -0.0F),
                std::vector<s16>(kRows * 16),
                std::vector<s16>(16 * kColumns),
                {}};
    drawn.tile = {{drawn.a.data(), drawn.a_exponents.data(), 16},
                  {drawn.b.data(), drawn.b_exponents.data(), kColumns},
                  drawn.c.data(),
                  kRows,
                  kColumns,
                  16,
                  kColumns,
                  true,
                  {}};
    find_exponents(Format::bf16, drawn.tile.a, kRows * 16);
    find_exponents(Format::bf16, drawn.tile.b, 16 * kColumns);
    const float expected = value == 0 ? 0.0F : std::numeric_limits<float>::infinity();
    CHECK(std::bit_cast<u32>(product_of(drawn.tile, drawn.c)[7]) == std::bit_cast<u32>(expected));
  }
}
