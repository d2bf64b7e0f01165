#include "driver/tensor_map.h"

#include <algorithm>

#include "plan/tensor_map_rules.h"

namespace tma_jit::driver {
namespace {

CUtensorMapDataType driver_value(MapType type) {
  switch (type) {
    case MapType::u8: return CU_TENSOR_MAP_DATA_TYPE_UINT8;
    case MapType::u16: return CU_TENSOR_MAP_DATA_TYPE_UINT16;
    case MapType::u32: return CU_TENSOR_MAP_DATA_TYPE_UINT32;
    case MapType::s32: return CU_TENSOR_MAP_DATA_TYPE_INT32;
    case MapType::u64: return CU_TENSOR_MAP_DATA_TYPE_UINT64;
    case MapType::s64: return CU_TENSOR_MAP_DATA_TYPE_INT64;
    case MapType::f16: return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    case MapType::f32: return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    case MapType::f64: return CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
    case MapType::bf16: return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    case MapType::f32_ftz: return CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ;
    case MapType::tf32: return CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;
    case MapType::tf32_ftz: return CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
    case MapType::b4x16: return CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B;
    case MapType::b4x16_p64: return CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B;
    case MapType::b6x16_p32: return CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B;
  }
  return CU_TENSOR_MAP_DATA_TYPE_UINT8;
}

CUtensorMapSwizzle driver_value(Swizzle swizzle) {
  switch (swizzle) {
    case Swizzle::none: return CU_TENSOR_MAP_SWIZZLE_NONE;
    case Swizzle::b32: return CU_TENSOR_MAP_SWIZZLE_32B;
    case Swizzle::b64: return CU_TENSOR_MAP_SWIZZLE_64B;
    case Swizzle::b128: return CU_TENSOR_MAP_SWIZZLE_128B;
    case Swizzle::b128_atom_b32: return CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B;
    case Swizzle::b128_atom_b32_flip_b8: return CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B;
    case Swizzle::b128_atom_b64: return CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B;
  }
  return CU_TENSOR_MAP_SWIZZLE_NONE;
}

CUtensorMapInterleave driver_value(Interleave interleave) {
  switch (interleave) {
    case Interleave::none: return CU_TENSOR_MAP_INTERLEAVE_NONE;
    case Interleave::b16: return CU_TENSOR_MAP_INTERLEAVE_16B;
    case Interleave::b32: return CU_TENSOR_MAP_INTERLEAVE_32B;
  }
  return CU_TENSOR_MAP_INTERLEAVE_NONE;
}

CUtensorMapL2promotion driver_value(L2Promotion promotion) {
  switch (promotion) {
    case L2Promotion::none: return CU_TENSOR_MAP_L2_PROMOTION_NONE;
    case L2Promotion::b64: return CU_TENSOR_MAP_L2_PROMOTION_L2_64B;
    case L2Promotion::b128: return CU_TENSOR_MAP_L2_PROMOTION_L2_128B;
    case L2Promotion::b256: return CU_TENSOR_MAP_L2_PROMOTION_L2_256B;
  }
  return CU_TENSOR_MAP_L2_PROMOTION_NONE;
}

CUtensorMapFloatOOBfill driver_value(Fill fill) {
  return fill == Fill::nan ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
}

// On Blackwell, drivers up to CUDA 13.1 encode a bit that makes TMA read past small allocations of tensors that are
// not dense; clearing it is the fix of the notes to NVIDIA driver 595.71.05, and what CUTLASS and Triton do.
void mend_small_allocation(const Context& context, const TensorMapSpec& spec, CUtensorMap& map) {
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
  TMA_JIT_CHECK(planning::check_tensor_map(spec, {address, context.device().compute_capability}, name));
  const Api& api = context.api();
  TMA_JIT_CHECK(check_driver(api, spec, name));
  CUtensorMap map{};
  const auto call = spec.mode == MapMode::tile ? encode_tiled : is_wide(spec) ? encode_im2col_wide : encode_im2col;
  const CUresult result = call(api, spec, reinterpret_cast<void*>(address), map);
  if (result != CUDA_SUCCESS) return tl::make_unexpected(error_of(api, result, call_text(spec, address, name)));
  mend_small_allocation(context, spec, map);
  return map;
}

Result<void> replace_address(const Context& context, const TensorMapSpec& spec, CUtensorMap& map,
                             std::uint64_t address) {
  const Api& api = context.api();
  const CUresult result = api.tensor_map_replace_address(&map, reinterpret_cast<void*>(address));
  if (result != CUDA_SUCCESS) [[unlikely]] {
    return tl::make_unexpected(error_of(api, result, fmt::format("cuTensorMapReplaceAddress({:#x})", address)));
  }
  mend_small_allocation(context, spec, map);
  return {};
}

}  // namespace tma_jit::driver
