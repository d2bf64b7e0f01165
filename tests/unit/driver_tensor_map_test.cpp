#include "driver/tensor_map.h"

#include <doctest/doctest.h>

#include "support/fake_driver.h"
#include "support/plans.h"

namespace tma_jit {

using namespace testing;

namespace {

constexpr std::uint64_t kBit = std::uint64_t{1} << 21;

FakeTensorMap decoded(const CUtensorMap& map) {
  FakeTensorMap fake{};
  std::memcpy(&fake, &map, sizeof fake);
  return fake;
}

// The flags word of a map of 64 columns and `rows` rows, on a device and a driver.
std::uint64_t flags_on(int major, int version, std::uint64_t rows) {
  FakeDriver fake;
  fake.api().version = version;
  fake.device_attributes[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR] = major;
  const auto context = driver::Context::open(fake.api(), 0).value();
  fake.contexts().push_back(fake.primary());
  return decoded(driver::encode(*context, *boxed("A", 0x1000, rows, 64).map, 0x1000, "A").value()).flags;
}

}  // namespace

TEST_CASE("a spec reaches the driver as it is") {
  FakeDriver fake;
  const auto context = driver::Context::open(fake.api(), 0).value();
  fake.contexts().push_back(fake.primary());
  TensorMapSpec spec = *boxed("A", 0x1000, 512, 256).map;
  spec.l2_promotion = L2Promotion::b256;
  spec.fill = Fill::nan;
  const auto map = driver::encode(*context, spec, 0x1000, "A");
  REQUIRE(map);
  const FakeTensorMap seen = decoded(*map);
  CHECK(seen.address == 0x1000);
  CHECK(seen.type == CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
  CHECK(seen.rank == 2);
  CHECK(seen.dims == std::array<std::uint64_t, 2>{256, 512});
  CHECK(seen.stride == 512);
  CHECK(seen.box == std::array<std::uint32_t, 2>{64, 64});
  CHECK(seen.swizzle == CU_TENSOR_MAP_SWIZZLE_128B);
  CHECK(seen.interleave == CU_TENSOR_MAP_INTERLEAVE_NONE);
  CHECK(seen.l2 == CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
  CHECK(seen.fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);
}

TEST_CASE("what the driver would refuse without a word is refused in words, and the driver not asked") {
  FakeDriver fake;
  const auto context = driver::Context::open(fake.api(), 0).value();
  fake.contexts().push_back(fake.primary());
  TensorMapSpec spec = *boxed("A", 0x1000, 512, 256).map;
  spec.box = {96, 128};
  const auto map = driver::encode(*context, spec, 0x1000, "A");
  REQUIRE(!map);
  CHECK(map.error().message.starts_with("A: "));
  CHECK(fake.count("cuTensorMapEncodeTiled") == 0);
}

TEST_CASE("a driver that refuses anyway is quoted with the whole call") {
  FakeDriver fake;
  const auto context = driver::Context::open(fake.api(), 0).value();
  fake.contexts().push_back(fake.primary());
  fake.fail("cuTensorMapEncodeTiled", CUDA_ERROR_INVALID_VALUE);
  const auto map = driver::encode(*context, *boxed("A", 0x1000, 512, 256).map, 0x1000, "A");
  REQUIRE(!map);
  CHECK(
      map.error().message ==
      "cuTensorMapEncodeTiled(A: bf16, address 0x1000, innermost first dims [256, 512], strides [512] bytes, box [64, "
      "64], swizzle 128, interleave 0): CUDA_ERROR_INVALID_VALUE (1): in the driver's words");
}

TEST_CASE("the address is replaced in place") {
  FakeDriver fake;
  const auto context = driver::Context::open(fake.api(), 0).value();
  fake.contexts().push_back(fake.primary());
  const TensorMapSpec spec = *boxed("A", 0x1000, 512, 256).map;
  CUtensorMap map = driver::encode(*context, spec, 0x1000, "A").value();
  REQUIRE(driver::replace_address(*context, spec, map, 0x2000));
  CHECK(decoded(map).address == 0x2000);
  CHECK(decoded(map).dims[0] == 256);
  fake.fail("cuTensorMapReplaceAddress", CUDA_ERROR_INVALID_VALUE);
  CHECK(driver::replace_address(*context, spec, map, 0x3000)
            .error()
            .message.starts_with("cuTensorMapReplaceAddress(0x3000): CUDA_ERROR_INVALID_VALUE"));
}

TEST_CASE("the bit that faulty Blackwell drivers set for small allocations is cleared there and nowhere else") {
  CHECK((flags_on(10, 13010, 64) & kBit) == 0);
  CHECK((flags_on(12, 13000, 64) & kBit) == 0);
  CHECK((flags_on(9, 13000, 64) & kBit) != 0);     // Hopper
  CHECK((flags_on(10, 13020, 64) & kBit) != 0);    // a driver with the fix
  CHECK((flags_on(10, 13000, 1023) & kBit) == 0);  // 130,944 bytes
  CHECK((flags_on(10, 13000, 1024) & kBit) != 0);  // 128 KiB
}

TEST_CASE("the footprint ends with the last element, whatever the strides") {
  TensorMapSpec spec = *boxed("A", 0x1000, 3, 8).map;
  spec.strides[0] = 64;
  CHECK(driver::footprint_of(spec) == 2 * 64 + 7 * 2 + 2);
}

}  // namespace tma_jit
