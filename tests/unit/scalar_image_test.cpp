#include "core/scalar_image.h"

#include <cmath>
#include <limits>

#include "planning_fixture.h"

namespace tma_jit::plan {
namespace {

std::uint64_t pattern(DType type, const Scalar& value) {
  const std::vector<std::byte> image = scalar_image("x", type, value).value();
  CHECK(image.size() == size_of(type));
  std::uint64_t bits = 0;
  std::memcpy(&bits, image.data(), image.size());
  return bits;
}

std::string fault_of(DType type, const Scalar& value) {
  return scalar_image("x", type, value).error().message;
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("floating-point scalars round to the nearest, ties to even") {
  CHECK(pattern(DType::f32, 1.0) == 0x3f800000);
  CHECK(pattern(DType::f32, std::int64_t{-2}) == 0xc0000000);
  CHECK(pattern(DType::f64, 0.1) == 0x3fb999999999999a);
  CHECK(pattern(DType::f64, -0.0) == 0x8000000000000000);
  CHECK(pattern(DType::f16, 65504.0) == 0x7bff);
  CHECK(pattern(DType::f16, 65519.0) == 0x7bff);
  CHECK(pattern(DType::f16, 0x1p-24) == 0x0001);
  CHECK(pattern(DType::f16, 0x1p-25) == 0x0000);
  CHECK(pattern(DType::f16, 0x1.8p-25) == 0x0001);
  CHECK(pattern(DType::f16, 0x1.ffcp-15 + 0x1p-25) == 0x0400);  // the largest subnormal rounds up to a normal
  CHECK(pattern(DType::bf16, 1.00390625) == 0x3f80);
  CHECK(pattern(DType::bf16, 1.01171875) == 0x3f82);
  CHECK(pattern(DType::e4m3, 448.0) == 0x7e);
  CHECK(pattern(DType::e4m3, -1.0) == 0xb8);
  CHECK(pattern(DType::e5m2, 57344.0) == 0x7b);
  CHECK(pattern(DType::e5m2, kInfinity) == 0x7c);
  CHECK(pattern(DType::f32, std::nan("")) == 0x7fc00000);
  CHECK(pattern(DType::e4m3, std::nan("")) == 0x7f);
}

TEST_CASE("every float is its own image") {
  for (std::uint32_t bits = 0; bits < 0x7f800000; bits += 99991) {
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    REQUIRE(pattern(DType::f32, static_cast<double>(value)) == bits);
  }
}

TEST_CASE("a number the type does not have is an error") {
  CHECK(fault_of(DType::f16, 65520.0) == "scalar x = 65520 is not a value of f16");
  CHECK(fault_of(DType::e4m3, 480.0) == "scalar x = 480 is not a value of e4m3");
  CHECK(fault_of(DType::e4m3, kInfinity) == "scalar x = inf is not a value of e4m3");
  CHECK(fault_of(DType::f32, 1e39) == "scalar x = 1e+39 is not a value of f32");
  CHECK(fault_of(DType::s32, 1.5) == "scalar x = 1.5 is not a value of s32");
  CHECK(fault_of(DType::u8, std::int64_t{256}) == "scalar x = 256 is not a value of u8");
  CHECK(fault_of(DType::u64, std::int64_t{-1}) == "scalar x = -1 is not a value of u64");
}

TEST_CASE("integer scalars reach the ends of their types") {
  CHECK(pattern(DType::s8, std::int64_t{-128}) == 0x80);
  CHECK(pattern(DType::u8, 255.0) == 255);
  CHECK(pattern(DType::s64, std::numeric_limits<std::int64_t>::min()) == 0x8000000000000000);
  CHECK(pattern(DType::s64, std::numeric_limits<std::int64_t>::max()) == 0x7fffffffffffffff);
  CHECK(pattern(DType::u64, 0x1p63) == 0x8000000000000000);
  CHECK(pattern(DType::u64, std::numeric_limits<std::uint64_t>::max()) == 0xffffffffffffffff);
  CHECK(pattern(DType::u64, 0x8000000000000001ULL) == 0x8000000000000001);
  CHECK(pattern(DType::u32, 4294967295U) == 0xffffffff);
  CHECK(fault_of(DType::s64, 0x8000000000000000ULL) == "scalar x = 9223372036854775808 is not a value of s64");
}

TEST_CASE("scalars of a kernel: the default, the request's, neither") {
  const std::string text = R"(//! kernel k
//! arch sm_90a
//! scalar alpha : f32 = 2
//! scalar seed : u64
//! launch grid 1 block 32
)";
  CHECK(refusal(text, {.kernel = "k"}) == "invalid_argument: k: scalar seed has no default; give it a value");
  const Plan planned = plan(text, {.kernel = "k", .scalars = {{"seed", std::int64_t{7}}}}).value();
  CHECK(planned.arguments[0].image == packed(2.0F));
  CHECK(planned.arguments[0].alignment == 4);
  CHECK(planned.arguments[1].image == packed(std::uint64_t{7}));
  CHECK(refusal(text, {.kernel = "k", .scalars = {{"seed", 0.5}}}) ==
        "invalid_argument: k: scalar seed = 0.5 is not a value of u64");
}

}  // namespace tma_jit::plan
