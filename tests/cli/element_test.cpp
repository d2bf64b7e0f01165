// Elements on the host against values worked out from the formats' definitions.
#include "element.h"

#include <cmath>
#include <limits>

#include <doctest/doctest.h>

namespace tma_jit::cli {
namespace {

constexpr DType kSmall[] = {DType::f16, DType::bf16, DType::e4m3, DType::e5m2};

TEST_CASE("every bit pattern of the small floats survives a round trip") {
  for (const DType type : kSmall) {
    const std::uint64_t patterns = std::uint64_t{1} << (8 * size_of(type));
    std::uint64_t wrong = 0;
    for (std::uint64_t bits = 0; bits < patterns; ++bits) {
      const double value = decode(type, bits);
      const bool saturated_infinity = std::isinf(value) && size_of(type) == 1;
      if (!std::isnan(value) && !saturated_infinity && encode(type, value) != bits) ++wrong;
    }
    CAPTURE(name_of(type));
    CHECK(wrong == 0);
  }
}

TEST_CASE("known values") {
  CHECK(encode(DType::f16, 1.0) == 0x3c00);
  CHECK(encode(DType::f16, 65504.0) == 0x7bff);
  CHECK(encode(DType::f16, 0x1p-24) == 0x0001);
  CHECK(encode(DType::bf16, -2.0) == 0xc000);
  CHECK(encode(DType::e4m3, 448.0) == 0x7e);
  CHECK(encode(DType::e4m3, 0x1p-9) == 0x01);
  CHECK(encode(DType::e5m2, 57344.0) == 0x7b);
  CHECK(decode(DType::e4m3, 0x7f) != decode(DType::e4m3, 0x7f));
  CHECK(decode(DType::s8, 0xff) == -1.0);
  CHECK(decode(DType::u8, 0xff) == 255.0);
}

TEST_CASE("ties go to even and carries reach the exponent") {
  CHECK(encode(DType::bf16, 1.0 + 0x1p-8) == 0x3f80);
  CHECK(encode(DType::bf16, 1.0 + 3 * 0x1p-8) == 0x3f82);
  CHECK(encode(DType::bf16, 2.0 - 0x1p-9) == 0x4000);
  CHECK(encode(DType::f16, 0x1p-25) == 0x0000);
  CHECK(encode(DType::f16, 0x1.8p-24) == 0x0002);
  CHECK(encode(DType::f16, 0x1p-14 - 0x1p-26) == 0x0400);
}

TEST_CASE("what is too large saturates or becomes infinity") {
  CHECK(encode(DType::f16, 65520.0) == 0x7c00);
  CHECK(encode(DType::f16, 65519.0) == 0x7bff);
  CHECK(encode(DType::f16, 1e300) == 0x7c00);
  CHECK(encode(DType::bf16, -1e300) == 0xff80);
  CHECK(encode(DType::e4m3, 1e9) == 0x7e);
  CHECK(encode(DType::e4m3, -std::numeric_limits<double>::infinity()) == 0xfe);
  CHECK(encode(DType::s8, 200.0) == 127);
  CHECK((encode(DType::s8, -200.0) & 0xff) == 0x80);
  CHECK(encode(DType::u8, -3.0) == 0);
  CHECK(encode(DType::s64, 1e30) == 0x7fffffffffffffffU);
  CHECK(encode(DType::u64, 1e30) == ~std::uint64_t{0});
}

TEST_CASE("nan stays nan") {
  for (const DType type : kSmall) CHECK(std::isnan(decode(type, encode(type, std::nan("")))));
}

}  // namespace
}  // namespace tma_jit::cli
