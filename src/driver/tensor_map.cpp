#include "driver/tensor_map.h"

#include <algorithm>

#include "plan/tensor_map_rules.h"

namespace tma_jit::driver {
namespace {

// TMA moves bytes: it knows no signed 8- and 16-bit and no 8-bit float types, and needs none but to fill with NaN.
CUtensorMapDataType type_of(DType dtype) {
  switch (dtype) {
    case DType::u8:
    case DType::s8:
    case DType::e4m3:
    case DType::e5m2: return CU_TENSOR_MAP_DATA_TYPE_UINT8;
    case DType::u16:
    case DType::s16: return CU_TENSOR_MAP_DATA_TYPE_UINT16;
    case DType::u32: return CU_TENSOR_MAP_DATA_TYPE_UINT32;
    case DType::s32: return CU_TENSOR_MAP_DATA_TYPE_INT32;
    case DType::u64: return CU_TENSOR_MAP_DATA_TYPE_UINT64;
    case DType::s64: return CU_TENSOR_MAP_DATA_TYPE_INT64;
    case DType::f16: return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    case DType::bf16: return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    case DType::f32: return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    case DType::f64: return CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
  }
  return CU_TENSOR_MAP_DATA_TYPE_UINT8;
}

CUtensorMapSwizzle driver_value(Swizzle swizzle) {
  switch (swizzle) {
    case Swizzle::none: return CU_TENSOR_MAP_SWIZZLE_NONE;
    case Swizzle::b32: return CU_TENSOR_MAP_SWIZZLE_32B;
    case Swizzle::b64: return CU_TENSOR_MAP_SWIZZLE_64B;
    case Swizzle::b128: return CU_TENSOR_MAP_SWIZZLE_128B;
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

std::string call_text(const TensorMapSpec& spec, std::uint64_t address, std::string_view name) {
  return fmt::format(
      "cuTensorMapEncodeTiled({}: {}, address {:#x}, innermost first dims [{}], strides [{}] bytes, box [{}], swizzle "
      "{}, interleave {})",
      name, name_of(spec.dtype), address, list_of(spec.dims, spec.rank), list_of(spec.strides, spec.rank - 1),
      list_of(spec.box, spec.rank), planning::span_of(spec.swizzle), 16 * static_cast<int>(spec.interleave));
}

}  // namespace

std::uint64_t footprint_of(const TensorMapSpec& spec) {
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(spec.rank); ++i) {
    const std::uint64_t stride = i == 0 ? size_of(spec.dtype) : spec.strides[i - 1];
    if (spec.dims[i] > 0) last += (spec.dims[i] - 1) * stride;
  }
  return last + size_of(spec.dtype);
}

Result<CUtensorMap> encode(const Context& context, const TensorMapSpec& spec, std::uint64_t address,
                           std::string_view name) {
  TMA_JIT_CHECK(planning::check_tensor_map(spec, address, name));
  const Api& api = context.api();
  CUtensorMap map{};
  const CUresult result = api.tensor_map_encode_tiled(
      &map, type_of(spec.dtype), static_cast<cuuint32_t>(spec.rank), reinterpret_cast<void*>(address), spec.dims.data(),
      spec.strides.data(), spec.box.data(), spec.element_strides.data(), driver_value(spec.interleave),
      driver_value(spec.swizzle), driver_value(spec.l2_promotion), driver_value(spec.fill));
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
