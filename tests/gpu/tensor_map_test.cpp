#include <random>

#include "driver/encode_tensor_map.h"
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

// Of each kind of map, every element type, interleave and swizzle; each argument wrong about once in twenty sets.
class AnySpec {
 public:
  explicit AnySpec(std::mt19937_64& random) : random_(random) {
    spec_.mode = pick({MapMode::tile, MapMode::tile, MapMode::im2col, MapMode::im2col_w, MapMode::im2col_w128});
    spec_.as = static_cast<MapType>(below(16));
    const bool tile = spec_.mode == MapMode::tile;
    spec_.interleave = pick({Interleave::none, Interleave::none, Interleave::b16, Interleave::b32});
    const bool deep = !tile || spec_.interleave != Interleave::none;
    spec_.rank = wrong() ? static_cast<int>(below(7)) : static_cast<int>(deep ? 3 + below(3) : 1 + below(5));
    spec_.swizzle = static_cast<Swizzle>(wrong() ? below(7) : below(4));
    spec_.fill = pick({Fill::zero, Fill::zero, Fill::zero, Fill::nan});
    spec_.l2_promotion = static_cast<L2Promotion>(below(4));
    spec_.dtype = dtype_of(static_cast<std::uint64_t>(bits_of(spec_.type())));
    draw_extents();
    draw_box();
    draw_corners();
  }
  const TensorMapSpec& spec() const { return spec_; }

 private:
  std::uint64_t below(std::uint64_t count) { return random_() % count; }
  bool wrong() { return below(20) == 0; }
  template <class Value> Value pick(std::initializer_list<Value> values) {
    return values.begin()[below(values.size())];
  }
  static DType dtype_of(std::uint64_t bits) {
    return bits == 64 ? DType::f64 : bits == 32 ? DType::f32 : bits == 16 ? DType::bf16 : DType::u8;
  }

  void draw_extents() {
    const std::uint64_t unit = spec_.interleave == Interleave::b32 && !wrong() ? 32 : 16;
    std::uint64_t stride = 0;
    for (std::size_t i = 0; i < 5; ++i) {
      spec_.dims[i] = 1 + below(300);
      if (wrong()) spec_.dims[i] = pick<std::uint64_t>({0, 1, 1ULL << 31, 1ULL << 32, (1ULL << 32) + 1, 1ULL << 40});
      stride = i == 0 ? spec_.dims[0] * static_cast<std::uint64_t>(bits_of(spec_.type())) / 8 : stride * spec_.dims[i];
      stride = (stride / unit + 1) * unit % (1ULL << 40);
      if (i == 4) break;
      spec_.strides[i] = stride;
      if (wrong()) spec_.strides[i] = pick<std::uint64_t>({0, 8, 48, (1ULL << 40) - 16, 1ULL << 40, 1ULL << 63});
    }
  }

  void draw_box() {
    const std::uint64_t limit = spec_.swizzle == Swizzle::none ? 256 : span_of(spec_.swizzle);
    const std::uint64_t row = 16 * (1 + below(limit / 16));
    const std::uint64_t inner = row * 8 / static_cast<std::uint64_t>(bits_of(spec_.type()));
    spec_.box[0] = static_cast<std::uint32_t>(wrong() ? below(300) : inner);
    const bool tile = spec_.mode == MapMode::tile;
    for (std::size_t i = 1; i < 5; ++i) {
      spec_.box[i] = static_cast<std::uint32_t>(1 + below(tile ? 8 : 128));
      if (wrong()) spec_.box[i] = pick({0U, 255U, 256U, 257U, 1024U, 1025U});
    }
    if (spec_.mode == MapMode::im2col_w128 && !wrong()) spec_.box[1] = 128;
    for (std::uint32_t& step : spec_.element_strides) {
      step = static_cast<std::uint32_t>(wrong() ? pick({0U, 8U, 9U, 255U}) : below(4) == 0 ? 1 + below(8) : 1);
    }
  }

  void draw_corners() {
    const std::int32_t limit = spec_.rank <= 3 ? 32768 : spec_.rank == 4 ? 128 : 16;
    for (auto* corner : {&spec_.lower, &spec_.upper}) {
      for (std::int32_t& offset : *corner) {
        offset = static_cast<std::int32_t>(below(16)) - 8;
        if (wrong()) offset = pick({-limit - 1, -limit, limit - 1, limit, 200, -200});
      }
    }
  }

  std::mt19937_64& random_;
  TensorMapSpec spec_;
};

bool is_wide(const TensorMapSpec& spec) {
  return spec.mode == MapMode::im2col_w || spec.mode == MapMode::im2col_w128;
}

// The driver encodes wide maps for any device, though the instructions need Blackwell (docs/tensor-maps.md); the other
// arguments are held against the rules of a device that has them.
int judged_as(const TensorMapSpec& spec, int capability) {
  const bool elsewhere = is_packed(spec.type()) || atom_of(spec.swizzle) > 16;
  return is_wide(spec) && !elsewhere && capability < 100 ? 100 : capability;
}

// What the rules refuse on the hardware's account and not the driver's (docs/tensor-maps.md).
bool is_own_limit(const Error& error) {
  return error.message.find("the shared memory of a block holds") != std::string::npos ||
         error.message.find("whose steps TMA ignores") != std::string::npos ||
         error.message.find("takes no interleave") != std::string::npos ||
         error.message.find("; this map has ") != std::string::npos ||
         error.message.find("im2col_w128 moves 128") != std::string::npos;
}

bool driver_takes(const driver::Api& api, const TensorMapSpec& spec, std::uint64_t address);

}  // namespace

TEST_CASE("the rules in words accept exactly the maps that the driver accepts") {
  Gpu gpu;
  const auto context = EngineInternals::state_of(gpu.engine).device.context().value();
  const auto scope = driver::Scope::enter(*context);
  const DeviceBuffer buffer = gpu.buffer(1 << 20);
  const int capability = context->device().compute_capability;
  std::mt19937_64 random(20261121);
  int taken = 0, refused = 0, own = 0, too_strict = 0, too_lax = 0;
  for (int i = 0; i < 150000; ++i) {
    const TensorMapSpec spec = AnySpec(random).spec();
    if (is_wide(spec) && context->api().tensor_map_encode_im2col_wide == nullptr) continue;
    const std::uint64_t address = buffer.address() + (random() % 16 == 0 ? random() % 64 : 0);
    const auto rules = plan::check_tensor_map(spec, {address, judged_as(spec, capability)}, "A");
    const bool driver = driver_takes(context->api(), spec, address);
    ++(driver ? taken : refused);
    if (driver && !rules && is_own_limit(rules.error())) {
      ++own;
    } else if (driver && !rules && ++too_strict <= 5) {
      MESSAGE("the driver takes what the rules refuse: " << rules.error().text());
    } else if (!driver && rules && ++too_lax <= 5) {
      MESSAGE("the rules take what the driver refuses: " << name_of(spec.mode) << " " << name_of(spec.type()));
    }
  }
  MESSAGE("the driver takes " << taken << " and refuses " << refused << "; refused for the hardware's sake " << own);
  CHECK(taken > 20000);
  CHECK(refused > 20000);
  CHECK(too_lax == 0);
  CHECK(too_strict == 0);
}

TEST_CASE("a map whose address was replaced is the map of that address") {
  Gpu gpu;
  const auto context = EngineInternals::state_of(gpu.engine).device.context().value();
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

// The driver's own verdict, without the rules before it. The enumerations follow the driver's.
bool driver_takes(const driver::Api& api, const TensorMapSpec& spec, std::uint64_t address) {
  CUtensorMap map;
  const auto type = static_cast<CUtensorMapDataType>(spec.type());
  const auto rank = static_cast<cuuint32_t>(spec.rank);
  void* const base = reinterpret_cast<void*>(address);
  const auto interleave = static_cast<CUtensorMapInterleave>(spec.interleave);
  const auto swizzle = static_cast<CUtensorMapSwizzle>(spec.swizzle);
  const auto promotion = static_cast<CUtensorMapL2promotion>(spec.l2_promotion);
  const auto fill = static_cast<CUtensorMapFloatOOBfill>(spec.fill);
  if (spec.mode == MapMode::tile) {
    return api.tensor_map_encode_tiled(&map, type, rank, base, spec.dims.data(), spec.strides.data(), spec.box.data(),
                                       spec.element_strides.data(), interleave, swizzle, promotion,
                                       fill) == CUDA_SUCCESS;
  }
  if (spec.mode == MapMode::im2col) {
    return api.tensor_map_encode_im2col(&map, type, rank, base, spec.dims.data(), spec.strides.data(),
                                        spec.lower.data(), spec.upper.data(), spec.box[0], spec.box[1],
                                        spec.element_strides.data(), interleave, swizzle, promotion,
                                        fill) == CUDA_SUCCESS;
  }
  const auto mode =
      spec.mode == MapMode::im2col_w ? CU_TENSOR_MAP_IM2COL_WIDE_MODE_W : CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128;
  return api.tensor_map_encode_im2col_wide(&map, type, rank, base, spec.dims.data(), spec.strides.data(), spec.lower[0],
                                           spec.upper[0], spec.box[0], spec.box[1], spec.element_strides.data(),
                                           interleave, mode, swizzle, promotion, fill) == CUDA_SUCCESS;
}

}  // namespace

}  // namespace tma_jit
