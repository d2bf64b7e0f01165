#include "driver/encode_tensor_map.h"

#include <algorithm>

#include "plan/tensor_map_rules.h"

namespace tma_jit::driver {
namespace {

// The driver's enumerators are in the same order as this library's.
template <class Driver, class Ours> constexpr Driver same_number(Ours value) {
  return static_cast<Driver>(static_cast<int>(value));
}
static_assert(same_number<CUtensorMapDataType>(MapType::s64) == CU_TENSOR_MAP_DATA_TYPE_INT64);
static_assert(same_number<CUtensorMapDataType>(MapType::f64) == CU_TENSOR_MAP_DATA_TYPE_FLOAT64);
static_assert(same_number<CUtensorMapDataType>(MapType::f32_ftz) == CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ);
static_assert(same_number<CUtensorMapDataType>(MapType::tf32_ftz) == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ);
static_assert(same_number<CUtensorMapDataType>(MapType::b4x16) == CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B);
static_assert(same_number<CUtensorMapDataType>(MapType::b6x16_p32) == CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B);
static_assert(same_number<CUtensorMapSwizzle>(Swizzle::b128_atom_b32_flip_b8) ==
              CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B);
static_assert(same_number<CUtensorMapSwizzle>(Swizzle::b128_atom_b64) == CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B);
static_assert(same_number<CUtensorMapInterleave>(Interleave::b32) == CU_TENSOR_MAP_INTERLEAVE_32B);
static_assert(same_number<CUtensorMapL2promotion>(L2Promotion::b256) == CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
static_assert(same_number<CUtensorMapFloatOOBfill>(Fill::nan) == CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);

CUtensorMapDataType driver_value(MapType type) {
  return same_number<CUtensorMapDataType>(type);
}
CUtensorMapSwizzle driver_value(Swizzle swizzle) {
  return same_number<CUtensorMapSwizzle>(swizzle);
}
CUtensorMapInterleave driver_value(Interleave interleave) {
  return same_number<CUtensorMapInterleave>(interleave);
}
CUtensorMapL2promotion driver_value(L2Promotion promotion) {
  return same_number<CUtensorMapL2promotion>(promotion);
}
CUtensorMapFloatOOBfill driver_value(Fill fill) {
  return same_number<CUtensorMapFloatOOBfill>(fill);
}

// On Blackwell, drivers up to CUDA 13.1 encode a bit that makes TMA read past the end of small allocations of tensors
// that are not dense. Clearing it is the fix given in the release notes of NVIDIA driver 595.71.05, which CUTLASS and
// Triton also apply.
void clear_faulty_small_allocation_bit(const Context& context, const TensorMapSpec& spec, CUtensorMap& map) {
  constexpr int kLastFaultyDriver = 13010;
  constexpr std::uint64_t kSmallAllocation = std::uint64_t{128} << 10;
  constexpr std::uint64_t kFaultyBit = std::uint64_t{1} << 21;
  if (context.device().compute_capability < 100 || context.api().version > kLastFaultyDriver) return;
  if (footprint_of(spec) < kSmallAllocation) map.opaque[1] &= ~kFaultyBit;
}

template <class Values> std::string list_of(const Values& values, int count) {
  const auto kept = static_cast<std::ptrdiff_t>(std::clamp<int>(count, 0, static_cast<int>(values.size())));
  return fmt::format("{}", fmt::join(values.begin(), values.begin() + kept, ", "));
}

constexpr std::string_view kEncodeNames[] = {"cuTensorMapEncodeTiled", "cuTensorMapEncodeIm2col",
                                             "cuTensorMapEncodeIm2colWide", "cuTensorMapEncodeIm2colWide"};
std::string_view call_name(const TensorMapSpec& spec) {
  return kEncodeNames[static_cast<std::size_t>(spec.mode)];
}

std::string call_text(const TensorMapSpec& spec, std::uint64_t address, std::string_view name) {
  const std::string corners = spec.mode == MapMode::tile
                                  ? ""
                                  : fmt::format(", corners [{}] and [{}]", list_of(spec.lower, spec.corners()),
                                                list_of(spec.upper, spec.corners()));
  return fmt::format(
      "{}({}: {}, address {:#x}, innermost first dims [{}], strides [{}] bytes, box [{}]{}, steps [{}], swizzle {}{}, "
      "interleave {})",
      call_name(spec), name, name_of(spec.type()), address, list_of(spec.dims, spec.rank),
      list_of(spec.strides, spec.rank - 1), list_of(spec.box, spec.box_rank()), corners,
      list_of(spec.element_strides, spec.rank), span_of(spec.swizzle),
      atom_of(spec.swizzle) > 16 ? fmt::format(" atom {}", atom_of(spec.swizzle)) : "",
      16 * static_cast<int>(spec.interleave));
}

CUresult encode_tiled(const Api& api, const TensorMapSpec& spec, void* address, CUtensorMap& map) {
  return api.tensor_map_encode_tiled(
      &map, driver_value(spec.type()), static_cast<cuuint32_t>(spec.rank), address, spec.dims.data(),
      spec.strides.data(), spec.box.data(), spec.element_strides.data(), driver_value(spec.interleave),
      driver_value(spec.swizzle), driver_value(spec.l2_promotion), driver_value(spec.fill));
}

CUresult encode_im2col(const Api& api, const TensorMapSpec& spec, void* address, CUtensorMap& map) {
  return api.tensor_map_encode_im2col(&map, driver_value(spec.type()), static_cast<cuuint32_t>(spec.rank), address,
                                      spec.dims.data(), spec.strides.data(), spec.lower.data(), spec.upper.data(),
                                      spec.box[0], spec.box[1], spec.element_strides.data(),
                                      driver_value(spec.interleave), driver_value(spec.swizzle),
                                      driver_value(spec.l2_promotion), driver_value(spec.fill));
}

CUresult encode_im2col_wide(const Api& api, const TensorMapSpec& spec, void* address, CUtensorMap& map) {
  const auto mode =
      spec.mode == MapMode::im2col_w ? CU_TENSOR_MAP_IM2COL_WIDE_MODE_W : CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128;
  return api.tensor_map_encode_im2col_wide(&map, driver_value(spec.type()), static_cast<cuuint32_t>(spec.rank), address,
                                           spec.dims.data(), spec.strides.data(), spec.lower[0], spec.upper[0],
                                           spec.box[0], spec.box[1], spec.element_strides.data(),
                                           driver_value(spec.interleave), mode, driver_value(spec.swizzle),
                                           driver_value(spec.l2_promotion), driver_value(spec.fill));
}

bool is_wide(const TensorMapSpec& spec) {
  return spec.mode == MapMode::im2col_w || spec.mode == MapMode::im2col_w128;
}

Result<void> check_driver(const Api& api, const TensorMapSpec& spec, std::string_view name) {
  if (!is_wide(spec) || api.tensor_map_encode_im2col_wide != nullptr) return {};
  return failure(ErrorCode::driver,
                 "{}: an {} map needs cuTensorMapEncodeIm2colWide, which drivers have since {}; this one supports {}: "
                 "update the NVIDIA driver",
                 name, name_of(spec.mode), version_text(kIm2colWideDriver), version_text(api.version));
}

}  // namespace

std::uint64_t footprint_of(const TensorMapSpec& spec) {
  const auto bits = static_cast<std::uint64_t>(bits_of(spec.type()));
  std::uint64_t last = (spec.dims[0] * bits + 7) / 8;
  for (std::size_t i = 1; i < static_cast<std::size_t>(spec.rank); ++i) {
    if (spec.dims[i] > 0) last += (spec.dims[i] - 1) * spec.strides[i - 1];
  }
  return last;
}

Result<CUtensorMap> encode(const Context& context, const TensorMapSpec& spec, std::uint64_t address,
                           std::string_view name) {
  TMA_JIT_CHECK(plan::check_tensor_map(spec, {address, context.device().compute_capability}, name));
  const Api& api = context.api();
  TMA_JIT_CHECK(check_driver(api, spec, name));
  CUtensorMap map{};
  const auto call = spec.mode == MapMode::tile ? encode_tiled : is_wide(spec) ? encode_im2col_wide : encode_im2col;
  const CUresult result = call(api, spec, reinterpret_cast<void*>(address), map);
  if (result != CUDA_SUCCESS) return tl::make_unexpected(error_of(api, result, call_text(spec, address, name)));
  clear_faulty_small_allocation_bit(context, spec, map);
  return map;
}

Result<void> replace_address(const Context& context, const TensorMapSpec& spec, CUtensorMap& map,
                             std::uint64_t address) {
  const Api& api = context.api();
  const CUresult result = api.tensor_map_replace_address(&map, reinterpret_cast<void*>(address));
  if (result != CUDA_SUCCESS) [[unlikely]] {
    return tl::make_unexpected(error_of(api, result, fmt::format("cuTensorMapReplaceAddress({:#x})", address)));
  }
  clear_faulty_small_allocation_bit(context, spec, map);
  return {};
}

}  // namespace tma_jit::driver
