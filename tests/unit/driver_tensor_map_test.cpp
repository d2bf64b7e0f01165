#include "driver/encode_tensor_map.h"

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
  const auto context = driver::Context::open(driver::borrowed(fake.api()), 0).value();
  fake.contexts().push_back(fake.primary());
  return decoded(driver::encode(*context, *boxed("A", 0x1000, rows, 64).map, 0x1000, "A").value()).flags;
}

}  // namespace

TEST_CASE("a spec reaches the driver as it is") {
  FakeDriver fake;
  const auto context = driver::Context::open(driver::borrowed(fake.api()), 0).value();
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

namespace {

// Images of 32 by 64 pixels with 128 channels, in windows of 3 by 5 with the first column outside.
TensorMapSpec windows() {
  TensorMapSpec spec;
  spec.dtype = DType::bf16;
  spec.mode = MapMode::im2col;
  spec.rank = 4;
  spec.dims = {128, 64, 32, 8};
  spec.strides = {256, 16384, 524288};
  spec.box = {64, 100};
  spec.lower = {-1, 0};
  spec.upper = {-3, -2};
  spec.swizzle = Swizzle::b128;
  return spec;
}

}  // namespace

TEST_CASE("an im2col map reaches its own function, corners W first") {
  FakeDriver fake;
  const auto context = driver::Context::open(driver::borrowed(fake.api()), 0).value();
  fake.contexts().push_back(fake.primary());
  const auto map = driver::encode(*context, windows(), 0x1000, "X");
  REQUIRE(map);
  const FakeTensorMap seen = decoded(*map);
  CHECK(fake.count("cuTensorMapEncodeIm2col") == 1);
  CHECK(seen.rank == 4);
  CHECK(seen.dims == std::array<std::uint64_t, 2>{128, 64});
  CHECK(seen.box == std::array<std::uint32_t, 2>{64, 100});
  CHECK(seen.lower == std::array<std::int32_t, 3>{-1, 0});
  CHECK(seen.upper == std::array<std::int32_t, 3>{-3, -2});
  CHECK(seen.wide_mode == -1);
}

TEST_CASE("an im2col_w map needs a Blackwell device and a driver that can encode it") {
  FakeDriver fake;
  fake.device_attributes[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR] = 10;
  const auto context = driver::Context::open(driver::borrowed(fake.api()), 0).value();
  fake.contexts().push_back(fake.primary());
  TensorMapSpec spec = windows();
  spec.mode = MapMode::im2col_w128;
  spec.box = {64, 128};
  const auto map = driver::encode(*context, spec, 0x1000, "X");
  REQUIRE(map);
  CHECK(fake.count("cuTensorMapEncodeIm2colWide") == 1);
  CHECK(decoded(*map).wide_mode == CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128);
  CHECK(decoded(*map).lower[0] == -1);
  CHECK(decoded(*map).upper[0] == -3);
  spec.mode = MapMode::im2col_w;
  CHECK(decoded(driver::encode(*context, spec, 0x1000, "X").value()).wide_mode == CU_TENSOR_MAP_IM2COL_WIDE_MODE_W);

  fake.api().tensor_map_encode_im2col_wide = nullptr;
  fake.api().version = 12060;
  CHECK(driver::encode(*context, spec, 0x1000, "X").error().message ==
        "X: an im2col_w map needs cuTensorMapEncodeIm2colWide, which drivers have since CUDA 12.8; this one supports "
        "CUDA 12.6: update the NVIDIA driver");
}

TEST_CASE("what TMA takes elements for is what the driver is told") {
  FakeDriver fake;
  fake.device_attributes[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR] = 10;
  const auto context = driver::Context::open(driver::borrowed(fake.api()), 0).value();
  fake.contexts().push_back(fake.primary());
  const auto told = [&](DType dtype, MapType type, std::uint32_t width) {
    TensorMapSpec spec = *boxed("A", 0x1000, 512, 256).map;
    spec.dtype = dtype;
    spec.as = type;
    spec.box[0] = width;
    return decoded(driver::encode(*context, spec, 0x1000, "A").value()).type;
  };
  CHECK(told(DType::f32, MapType::tf32, 32) == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32);
  CHECK(told(DType::f32, MapType::tf32_ftz, 32) == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ);
  CHECK(told(DType::f32, MapType::f32_ftz, 32) == CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ);
  CHECK(told(DType::u8, MapType::b4x16, 64) == CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B);
  CHECK(told(DType::u8, MapType::b4x16_p64, 128) == CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B);
  CHECK(told(DType::u8, MapType::b6x16_p32, 128) == CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B);
}

TEST_CASE("what the driver would refuse without a word is refused in words, and the driver not asked") {
  FakeDriver fake;
  const auto context = driver::Context::open(driver::borrowed(fake.api()), 0).value();
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
  const auto context = driver::Context::open(driver::borrowed(fake.api()), 0).value();
  fake.contexts().push_back(fake.primary());
  fake.fail("cuTensorMapEncodeTiled", CUDA_ERROR_INVALID_VALUE);
  const auto map = driver::encode(*context, *boxed("A", 0x1000, 512, 256).map, 0x1000, "A");
  REQUIRE(!map);
  CHECK(
      map.error().message ==
      "cuTensorMapEncodeTiled(A: bf16, address 0x1000, innermost first dims [256, 512], strides [512] bytes, box [64, "
      "64], steps [1, 1], swizzle 128, interleave 0): CUDA_ERROR_INVALID_VALUE (1): in the driver's words");
}

TEST_CASE("the address is replaced in place") {
  FakeDriver fake;
  const auto context = driver::Context::open(driver::borrowed(fake.api()), 0).value();
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

TEST_CASE("im2col maps of faulty Blackwell drivers are mended too, when made and when their address is replaced") {
  FakeDriver fake;
  fake.device_attributes[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR] = 10;
  const auto context = driver::Context::open(driver::borrowed(fake.api()), 0).value();
  fake.contexts().push_back(fake.primary());
  TensorMapSpec spec = windows();
  spec.dims = {64, 8, 8, 2};
  spec.strides = {128, 1024, 8192};
  CUtensorMap map = driver::encode(*context, spec, 0x1000, "X").value();
  CHECK((decoded(map).flags & kBit) == 0);
  map.opaque[1] |= kBit;  // a driver that sets it again
  REQUIRE(driver::replace_address(*context, spec, map, 0x2000));
  CHECK((map.opaque[1] & kBit) == 0);
}

TEST_CASE("the footprint ends with the last element, whatever the strides") {
  TensorMapSpec spec = *boxed("A", 0x1000, 3, 8).map;
  spec.strides[0] = 64;
  CHECK(driver::footprint_of(spec) == 2 * 64 + 7 * 2 + 2);
  spec.dtype = DType::u8;
  spec.as = MapType::b6x16_p32;
  spec.dims[0] = 128;
  CHECK(driver::footprint_of(spec) == 2 * 64 + 96);
}

}  // namespace tma_jit
