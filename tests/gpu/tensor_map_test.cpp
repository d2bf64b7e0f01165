#include <random>

#include "driver/tensor_map.h"
#include "gpu_fixture.h"
#include "plan/tensor_map_rules.h"

namespace tma_jit {

using namespace testing;

namespace {

template <class Value> Value any_of(std::mt19937& random, std::initializer_list<Value> values) {
  return values.begin()[std::uniform_int_distribution<std::size_t>(0, values.size() - 1)(random)];
}

// A spec that is legal about as often as not. None is interleaved: there the documentation and the driver disagree.
TensorMapSpec random_spec(std::mt19937& random) {
  TensorMapSpec spec;
  spec.dtype = any_of(random, {DType::u8, DType::bf16, DType::f32, DType::f64, DType::s32});
  spec.rank = any_of(random, {1, 2, 2, 2, 3, 4, 5});
  spec.swizzle = any_of(random, {Swizzle::none, Swizzle::none, Swizzle::b32, Swizzle::b64, Swizzle::b128});
  spec.l2_promotion = any_of(random, {L2Promotion::none, L2Promotion::b128, L2Promotion::b256});
  spec.fill = any_of(random, {Fill::zero, Fill::zero, Fill::nan});
  std::uint64_t stride = size_of(spec.dtype);
  for (std::size_t i = 0; i < static_cast<std::size_t>(spec.rank); ++i) {
    spec.dims[i] = any_of<std::uint64_t>(random, {1, 7, 16, 64, 100, 256, 1000});
    spec.box[i] = any_of<std::uint32_t>(random, {1, 4, 8, 16, 32, 64, 128, 256, 257});
    spec.element_strides[i] = any_of<std::uint32_t>(random, {1, 1, 1, 1, 1, 2, 8, 9});
    if (i > 0) spec.strides[i - 1] = stride;
    stride *= spec.dims[i];
    if (any_of(random, {true, true, false})) stride = (stride + 31) / 32 * 32;
  }
  return spec;
}

std::int64_t box_bytes(const TensorMapSpec& spec) {
  auto bytes = static_cast<std::int64_t>(size_of(spec.dtype));
  for (std::size_t i = 0; i < static_cast<std::size_t>(spec.rank); ++i) bytes *= spec.box[i];
  return bytes;
}

bool driver_takes(const TensorMapSpec& spec, std::uint64_t address);

}  // namespace

TEST_CASE("the rules in words agree with the driver on random maps") {
  Gpu gpu;
  const auto context = gpu.engine.state()->device.context().value();
  const auto scope = driver::Scope::enter(*context);
  const DeviceBuffer buffer = gpu.buffer(1 << 20);
  std::mt19937 random(20261121);
  int taken = 0, refused = 0, too_strict = 0, too_lax = 0;
  for (int i = 0; i < 20000; ++i) {
    const TensorMapSpec spec = random_spec(random);
    if (box_bytes(spec) > gpu.engine.device().value().smem_per_block) continue;  // ours to refuse, not the driver's
    const std::uint64_t address = buffer.address() + any_of<std::uint64_t>(random, {0, 0, 0, 16, 8});
    const auto rules = planning::check_tensor_map(spec, {address, 90}, "A");
    const bool driver = driver_takes(spec, address);
    ++(driver ? taken : refused);
    if (driver && !rules && ++too_strict <= 5)
      MESSAGE("the driver takes what the rules refuse: " << rules.error().text());
    if (!driver && rules && ++too_lax <= 5) {
      MESSAGE(
          "the rules take what the driver refuses: " << driver::encode(*context, spec, address, "A").error().text());
    }
  }
  MESSAGE("the driver takes " << taken << " and refuses " << refused);
  CHECK(taken > 100);
  CHECK(too_lax == 0);
  CHECK(too_strict == 0);
}

TEST_CASE("a map whose address was replaced is the map of that address") {
  Gpu gpu;
  const auto context = gpu.engine.state()->device.context().value();
  const auto scope = driver::Scope::enter(*context);
  const DeviceBuffer buffer = gpu.buffer(1 << 20);
  std::mt19937 random(7);
  int compared = 0;
  for (int i = 0; i < 5000; ++i) {
    const TensorMapSpec spec = random_spec(random);
    auto first = driver::encode(*context, spec, buffer.address(), "A");
    if (!first) continue;
    const std::uint64_t elsewhere = buffer.address() + 4096;
    TMA_JIT_REQUIRE_OK(driver::replace_address(*context, spec, *first, elsewhere));
    const CUtensorMap second = driver::encode(*context, spec, elsewhere, "A").value();
    REQUIRE(std::memcmp(&*first, &second, sizeof second) == 0);
    ++compared;
  }
  CHECK(compared > 100);
}

namespace {

// The driver's own verdict, without the rules before it.
bool driver_takes(const TensorMapSpec& spec, std::uint64_t address) {
  const auto type = [&] {
    switch (spec.dtype) {
      case DType::bf16: return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
      case DType::f32: return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
      case DType::f64: return CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
      case DType::s32: return CU_TENSOR_MAP_DATA_TYPE_INT32;
      default: return CU_TENSOR_MAP_DATA_TYPE_UINT8;
    }
  }();
  CUtensorMap map;
  return api().tensor_map_encode_tiled(&map, type, static_cast<cuuint32_t>(spec.rank), reinterpret_cast<void*>(address),
                                       spec.dims.data(), spec.strides.data(), spec.box.data(),
                                       spec.element_strides.data(), static_cast<CUtensorMapInterleave>(spec.interleave),
                                       static_cast<CUtensorMapSwizzle>(spec.swizzle),
                                       static_cast<CUtensorMapL2promotion>(spec.l2_promotion),
                                       static_cast<CUtensorMapFloatOOBfill>(spec.fill)) == CUDA_SUCCESS;
}

}  // namespace

}  // namespace tma_jit
