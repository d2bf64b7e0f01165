// Layouts, random data, and the comparison with a reference: that it passes what is right and fails what is wrong.
#include "compare.h"

#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include "element.h"
#include "random_data.h"

namespace tma_jit::cli {
namespace {

std::vector<std::byte> encoded(DType type, const Layout& layout, const std::vector<double>& values) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(layout.span()) * size_of(type), std::byte{0xff});
  for_each_row(layout, [&](std::int64_t offset, std::int64_t first, std::int64_t count, std::int64_t stride) {
    for (std::int64_t i = 0; i < count; ++i) {
      store_bits(bytes.data() + static_cast<std::size_t>(offset + i * stride) * size_of(type), size_of(type),
                 encode(type, values[static_cast<std::size_t>(first + i)]));
    }
  });
  return bytes;
}

std::vector<double> waves(std::size_t count) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = 10 * std::sin(static_cast<double>(i));
  return values;
}

TEST_CASE("layouts count, span and find positions") {
  const Layout packed = Layout::row_major({3, 4, 5});
  CHECK(packed.strides == std::vector<std::int64_t>{20, 5, 1});
  CHECK(packed.span() == 60);
  CHECK(packed.position(27) == std::vector<std::int64_t>{1, 1, 2});
  const Layout padded = Layout::pitched({3, 4, 5}, 8);
  CHECK(padded.strides == std::vector<std::int64_t>{32, 8, 1});
  CHECK(padded.span() == 93);
  CHECK(Layout::row_major({3, 0}).span() == 0);
  CHECK(Layout::row_major({}).elements() == 1);
}

TEST_CASE("rows are visited in order, wherever they lie") {
  std::vector<std::int64_t> offsets;
  for_each_row(Layout::pitched({2, 3, 4}, 10),
               [&](std::int64_t offset, std::int64_t first, std::int64_t count, std::int64_t) {
                 CHECK(first == static_cast<std::int64_t>(offsets.size()) * 4);
                 CHECK(count == 4);
                 offsets.push_back(offset);
               });
  CHECK(offsets == std::vector<std::int64_t>{0, 10, 20, 30, 40, 50});
  for_each_row(Layout::row_major({0, 4}), [&](auto...) { FAIL("an empty tensor has no rows"); });
}

TEST_CASE("a correctly rounded output passes in every type") {
  const Layout layout = Layout::pitched({30, 33}, 40);
  const std::vector<double> reference = waves(990);
  for (const DType type : {DType::bf16, DType::f16, DType::e4m3, DType::e5m2, DType::f32, DType::f64}) {
    CAPTURE(name_of(type));
    for (const Strictness strictness : {Strictness::tolerant, Strictness::integers, Strictness::exact})
      CHECK(compare(encoded(type, layout, reference), type, layout, reference, strictness).passed());
  }
}

TEST_CASE("one lost term of a thousand fails") {
  // The output of a product of 1,024 terms is off by one term of typical size: rms / 32.
  const Layout layout = Layout::row_major({1000});
  const std::vector<double> reference = waves(1000);
  std::vector<double> wrong = reference;
  wrong[500] += 7.07 / 32 + std::fabs(wrong[500]) * 0x1p-7;
  for (const DType type : {DType::bf16, DType::f16, DType::f32, DType::f64}) {
    const Comparison result = compare(encoded(type, layout, wrong), type, layout, reference, Strictness::tolerant);
    CAPTURE(name_of(type));
    CHECK(result.mismatches == 1);
    REQUIRE(result.first.size() == 1);
    CHECK(result.first[0].index == 500);
    CHECK_FALSE(result.first[0].unwritten);
  }
}

TEST_CASE("sums that keep fewer bits may differ by as much of the root mean square") {
  const Layout layout = Layout::row_major({1000});
  const std::vector<double> reference = waves(1000);
  std::vector<double> wrong = reference;
  wrong[500] += 7.07 * 0x1p-9;
  const std::vector<std::byte> out = encoded(DType::f32, layout, wrong);
  CHECK_FALSE(compare(out, DType::f32, layout, reference, Strictness::tolerant).passed());
  CHECK_FALSE(compare(out, DType::f32, layout, reference, {Strictness::tolerant, 10}).passed());
  CHECK(compare(out, DType::f32, layout, reference, {Strictness::tolerant, 8}).passed());
  CHECK_FALSE(compare(out, DType::f32, layout, reference, {Strictness::exact, 8}).passed());
}

TEST_CASE("an output whose terms are rounded may be rounded twice") {
  // One number is large beside the root mean square, as the gradient of a query that sees one key may be.
  const Layout layout = Layout::row_major({100000});
  std::vector<double> reference(100000, 0.0);
  reference[7] = 256.9;
  std::vector<double> got = reference;
  const auto check = [&](double value, int bits) {
    got[7] = value;
    return compare(encoded(DType::bf16, layout, got), DType::bf16, layout, reference, {Strictness::tolerant, bits})
        .passed();
  };
  CHECK(check(256, 0));
  CHECK_FALSE(check(258, 0));
  CHECK(check(258, 4));
  CHECK_FALSE(check(260, 4));
}

TEST_CASE(
    "a result that is large beside the others may differ by as much as its terms, whose errors are of their size") {
  const Layout layout = Layout::row_major({100000});
  std::vector<double> reference(100000, 0.0), near(reference), far(reference);
  reference[7] = 256;  // 316 times the root mean square
  near[7] = 256 + 15;  // 2^-4 and less of it, as one weight of e4m3 may be rounded
  far[7] = 256 + 18;
  const Demand demand = {Strictness::tolerant, 1};
  CHECK(compare(encoded(DType::bf16, layout, near), DType::bf16, layout, reference, demand).passed());
  CHECK_FALSE(compare(encoded(DType::bf16, layout, far), DType::bf16, layout, reference, demand).passed());
}

TEST_CASE("an f64 of what was computed in f32 is as accurate as an f32") {
  const Layout layout = Layout::row_major({1000});
  const std::vector<double> reference = waves(1000);
  std::vector<double> rounded, wrong;
  for (const double x : reference) rounded.push_back(static_cast<float>(x)), wrong.push_back(x * (1 + 0x1p-10));
  const auto agrees = [&](const std::vector<double>& out, int bits) {
    return compare(encoded(DType::f64, layout, out), DType::f64, layout, reference, {Strictness::tolerant, bits})
        .passed();
  };
  CHECK(agrees(rounded, 14));
  CHECK_FALSE(agrees(rounded, 0));
  CHECK_FALSE(agrees(wrong, 14));
}

TEST_CASE("integers must be exact, and so must every copy") {
  const Layout layout = Layout::row_major({4});
  const std::vector<double> reference = {1, 2, 1000, -3};
  CHECK(compare(encoded(DType::f32, layout, {1, 2, 1000.001, -3}), DType::f32, layout, reference, Strictness::tolerant)
            .passed());
  CHECK(compare(encoded(DType::f32, layout, {1, 2, 1000.001, -3}), DType::f32, layout, reference, Strictness::integers)
            .mismatches == 1);
  CHECK(compare(encoded(DType::f32, layout, {1, 2, 1000.001, -3}), DType::f32, layout, reference, Strictness::exact)
            .mismatches == 1);
  CHECK(compare(encoded(DType::s32, layout, {1, 2, 1001, -3}), DType::s32, layout, reference, Strictness::tolerant)
            .mismatches == 1);
}

TEST_CASE("integers among other numbers are so by chance, and need not be exact") {
  const Layout layout = Layout::row_major({4});
  const std::vector<double> reference = {1.5, 0, 1000, -3};  // 0: rounded terms cancel
  const std::vector<double> rounded = {1.5, 2.4e-7, 1000, -3}, wrong = {1.5, 0, 1001, -3};
  CHECK(compare(encoded(DType::f32, layout, rounded), DType::f32, layout, reference, Strictness::integers).passed());
  CHECK(compare(encoded(DType::f32, layout, wrong), DType::f32, layout, reference, Strictness::integers).mismatches ==
        1);
}

TEST_CASE("unwritten elements and infinities") {
  const Layout layout = Layout::row_major({4});
  std::vector<std::byte> out = encoded(DType::f16, layout, {1, 2, 1e6, -1e6});
  CHECK(compare(out, DType::f16, layout, std::vector<double>{1, 2, 1e6, -1e6}, Strictness::tolerant).passed());
  store_bits(out.data() + 2, 2, 0xffff);
  const Comparison result =
      compare(out, DType::f16, layout, std::vector<double>{1, 2, 1e6, -1e6}, Strictness::tolerant);
  CHECK(result.mismatches == 1);
  CHECK(result.unwritten == 1);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(compare(encoded(DType::f32, layout, {nan, 0, 0, 0}), DType::f32, layout, std::vector<double>{nan, 0, 0, 0},
                Strictness::exact)
            .passed());
  CHECK_FALSE(compare(encoded(DType::f32, layout, {1, 0, 0, 0}), DType::f32, layout, std::vector<double>{nan, 0, 0, 0},
                      Strictness::tolerant)
                  .passed());
}

TEST_CASE("a number that may be the first to round to infinity may be infinity, and no smaller one") {
  const Layout layout = Layout::row_major({4});
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> near = {65519.99, 1000, -3, 30000}, less = {60000, 1000, -3, 30000};
  const std::vector<std::byte> above = encoded(DType::f16, layout, {infinity, 1000, -3, 30000});
  const std::vector<std::byte> below = encoded(DType::f16, layout, {-infinity, 1000, -3, 30000});
  CHECK(compare(above, DType::f16, layout, near, Strictness::tolerant).passed());
  CHECK(compare(above, DType::f16, layout, less, Strictness::tolerant).mismatches == 1);
  CHECK(compare(below, DType::f16, layout, near, Strictness::tolerant).mismatches == 1);
}

TEST_CASE("bytes written outside the tensor are counted") {
  const Layout layout = Layout::pitched({2, 3}, 5);
  std::vector<std::byte> buffer(64 + 8 * 4, std::byte{0xff});
  const std::vector<std::byte> elements = encoded(DType::f32, layout, waves(6));
  std::copy(elements.begin(), elements.end(), buffer.begin() + 32);
  std::vector<std::byte> sound = buffer;
  CHECK(count_stray_bytes(sound, 32, DType::f32, layout) == 0);
  buffer[31] = std::byte{0};
  buffer[32 + 3 * 4] = std::byte{1};
  CHECK(count_stray_bytes(buffer, 32, DType::f32, layout) == 2);
}

TEST_CASE("random data are seeded, differ by name, and have the promised distribution") {
  const Layout layout = Layout::row_major({100000});
  std::vector<std::byte> a(400000), again(400000), other(400000);
  fill_random(a, DType::f32, layout, {DataKind::normal, 7}, "A");
  fill_random(again, DType::f32, layout, {DataKind::normal, 7}, "A");
  fill_random(other, DType::f32, layout, {DataKind::normal, 7}, "B");
  CHECK(a == again);
  CHECK(a != other);
  double sum = 0, squares = 0;
  const Decoder decode_f32(DType::f32);
  for (std::size_t i = 0; i < 100000; ++i) {
    const double value = decode_f32(a.data() + 4 * i);
    sum += value;
    squares += value * value;
  }
  CHECK(std::fabs(sum / 1e5) < 0.02);
  CHECK(std::fabs(squares / 1e5 - 1) < 0.02);
}

TEST_CASE("integer data are small integers in every type") {
  const Layout layout = Layout::row_major({1000});
  for (const DType type : {DType::u8, DType::s8, DType::e4m3, DType::bf16, DType::f64, DType::u64}) {
    std::vector<std::byte> data(1000 * size_of(type));
    fill_random(data, type, layout, {DataKind::integers, 0}, "A");
    const Decoder decoder(type);
    for (std::size_t i = 0; i < 1000; ++i) {
      const double value = decoder(data.data() + i * decoder.size());
      CHECK(value == std::nearbyint(value));
      CHECK(std::fabs(value) <= 8);
    }
  }
}

}  // namespace
}  // namespace tma_jit::cli
