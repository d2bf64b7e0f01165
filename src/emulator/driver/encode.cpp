// Rules of CUDA Driver API 13.0, "Tensor Map Object Management".
#include "emulator/driver/encode.h"

#include <cstring>
#include <optional>

#include "emulator/async/tensor_map.h"
#include "emulator/driver/device.h"

namespace tma_jit::emulator {
namespace {

constexpr u64 kMostExtent = u64{1} << 32;
constexpr u64 kStrideLimit = u64{1} << 40;
constexpr u32 kMostBox = 256;
constexpr u32 kMostStep = 8;

// What all the encoders are given alike.
struct Encoding {
  CUtensorMapDataType type;
  cuuint32_t rank;
  void* address;
  const cuuint64_t* dims;
  const cuuint64_t* strides;
  const cuuint32_t* steps;
  CUtensorMapInterleave interleave;
  CUtensorMapSwizzle swizzle;
  CUtensorMapFloatOOBfill fill;
};

template <class... Args> std::optional<std::string> broken(fmt::format_string<Args...> format, Args&&... args) {
  return fmt::format(format, std::forward<Args>(args)...);
}

u32 alignment_of(const Encoding& e) {
  const bool packed =
      e.type == CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B || e.type == CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B;
  return e.interleave == CU_TENSOR_MAP_INTERLEAVE_32B || packed ? 32 : 16;
}

bool is_float(CUtensorMapDataType type) {
  return type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT16 && type <= CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
}

std::optional<std::string> check_strides(const Encoding& e) {
  for (u32 i = 0; i + 1 < e.rank; ++i) {
    if (e.strides[i] % alignment_of(e) != 0 || e.strides[i] >= kStrideLimit) {
      return broken("stride {} is {} bytes; it takes a multiple of {} below 2^40", i, e.strides[i], alignment_of(e));
    }
  }
  return std::nullopt;
}

std::optional<std::string> check_common(const Encoding& e) {
  if (e.rank < 1 || e.rank > 5) return broken("a rank of {}", e.rank);
  if (e.interleave != CU_TENSOR_MAP_INTERLEAVE_NONE && e.rank < 3)
    return broken("an interleaved map of rank {}", e.rank);
  if (static_cast<unsigned>(e.type) > CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B) return broken("an unknown data type");
  const u64 address = reinterpret_cast<u64>(e.address);
  if (address % alignment_of(e) != 0) return broken("address {:#x} is not a multiple of {}", address, alignment_of(e));
  for (u32 i = 0; i < e.rank; ++i) {
    if (e.dims[i] == 0 || e.dims[i] > kMostExtent) return broken("extent {} is {}", i, e.dims[i]);
    if (e.steps[i] == 0 || e.steps[i] > kMostStep) return broken("element stride {} is {}", i, e.steps[i]);
  }
  if (e.interleave == CU_TENSOR_MAP_INTERLEAVE_32B && e.swizzle != CU_TENSOR_MAP_SWIZZLE_32B)
    return broken("interleave 32 without swizzle 32");
  if (e.fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE && !is_float(e.type)) return broken("a NaN fill of integers");
  return check_strides(e);
}

u64 inner_bytes(const Encoding& e, u32 elements) {
  const ElementUnit unit = unit_of(static_cast<TensorMap::Type>(e.type));
  return u64{elements} * unit.shared / unit.elements;
}

std::optional<std::string> check_inner(const Encoding& e, u32 elements) {
  const u64 bytes = inner_bytes(e, elements);
  if (e.interleave != CU_TENSOR_MAP_INTERLEAVE_NONE) return std::nullopt;
  if (bytes % 16 != 0) return broken("the box is {} bytes wide, not a multiple of 16", bytes);
  const u32 span = e.swizzle == CU_TENSOR_MAP_SWIZZLE_NONE  ? 0U
                   : e.swizzle == CU_TENSOR_MAP_SWIZZLE_32B ? 32U
                   : e.swizzle == CU_TENSOR_MAP_SWIZZLE_64B ? 64U
                                                            : 128U;
  if (span != 0 && bytes > span) return broken("the box is {} bytes wide, the swizzle spans {}", bytes, span);
  return std::nullopt;
}

TensorMap common_map(const Encoding& e) {
  TensorMap map;
  map.magic = TensorMap::kMagic;
  map.address = reinterpret_cast<u64>(e.address);
  map.rank = static_cast<u8>(e.rank);
  map.type = static_cast<TensorMap::Type>(e.type);
  map.interleave = static_cast<u8>(e.interleave);
  map.swizzle = static_cast<TensorMap::Swizzle>(e.swizzle);
  map.fill_nan = e.fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
  for (u32 i = 0; i < e.rank; ++i) {
    map.last[i] = static_cast<u32>(e.dims[i] - 1);
    map.steps[i] = static_cast<u8>(e.steps[i]);
    if (i > 0) map.strides[i - 1] = e.strides[i - 1];
  }
  return map;
}

CUresult refuse(std::string text) {
  remember_failure(CUDA_ERROR_INVALID_VALUE, std::move(text));
  return CUDA_ERROR_INVALID_VALUE;
}

void store(CUtensorMap* to, const TensorMap& map) {
  std::memset(to, 0, sizeof *to);
  std::memcpy(to, &map, sizeof map);
}

CUresult encode_tiled(CUtensorMap* to, CUtensorMapDataType type, cuuint32_t rank, void* address, const cuuint64_t* dims,
                      const cuuint64_t* strides, const cuuint32_t* box, const cuuint32_t* steps,
                      CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle, CUtensorMapL2promotion,
                      CUtensorMapFloatOOBfill fill) {
  if (current_device() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  const Encoding e{type, rank, address, dims, strides, steps, interleave, swizzle, fill};
  if (auto fault = check_common(e)) return refuse(*fault);
  for (u32 i = 0; i < rank; ++i) {
    if (box[i] == 0 || box[i] > kMostBox)
      return refuse(fmt::format("box extent {} is {}; it takes 1 to {}", i, box[i], kMostBox));
  }
  if (auto fault = check_inner(e, box[0])) return refuse(*fault);
  TensorMap map = common_map(e);
  for (u32 i = 0; i < rank; ++i) map.box[i] = static_cast<u16>(box[i]);
  store(to, map);
  return CUDA_SUCCESS;
}

// Corners are of the spatial dimensions, innermost first.
std::optional<std::string> set_corners(TensorMap& map, const int* lower, const int* upper) {
  const int bits = map.rank == 3 ? 16 : map.rank == 4 ? 8 : 5;
  const int low = -(1 << (bits - 1)), high = (1 << (bits - 1)) - 1;
  for (std::size_t i = 0; i + 2 < map.rank; ++i) {
    if (lower[i] < low || lower[i] > high || upper[i] < low || upper[i] > high) {
      return broken("corners {} and {} of dimension {}; they take {} to {}", lower[i], upper[i], i, low, high);
    }
    map.lower[i] = static_cast<s16>(lower[i]);
    map.upper[i] = static_cast<s16>(upper[i]);
  }
  return std::nullopt;
}

CUresult encode_im2col(CUtensorMap* to, CUtensorMapDataType type, cuuint32_t rank, void* address,
                       const cuuint64_t* dims, const cuuint64_t* strides, const int* lower, const int* upper,
                       cuuint32_t channels, cuuint32_t pixels, const cuuint32_t* steps,
                       CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle, CUtensorMapL2promotion,
                       CUtensorMapFloatOOBfill fill) {
  if (current_device() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  const Encoding e{type, rank, address, dims, strides, steps, interleave, swizzle, fill};
  if (auto fault = check_common(e)) return refuse(*fault);
  if (rank < 3) return refuse(fmt::format("an im2col map of rank {}", rank));
  if (channels == 0 || channels > 256 || pixels == 0 || pixels > 1024) {
    return refuse(fmt::format("{} channels and {} pixels; they take 1 to 256 and 1 to 1024", channels, pixels));
  }
  if (auto fault = check_inner(e, channels)) return refuse(*fault);
  TensorMap map = common_map(e);
  map.mode = TensorMap::Mode::im2col;
  map.box[0] = static_cast<u16>(channels);
  map.box[1] = static_cast<u16>(pixels);
  if (auto fault = set_corners(map, lower, upper)) return refuse(*fault);
  store(to, map);
  return CUDA_SUCCESS;
}

CUresult replace_address(CUtensorMap* at, void* address) {
  TensorMap map;
  std::memcpy(static_cast<void*>(&map), at, sizeof map);
  if (map.magic != TensorMap::kMagic) return refuse("these 128 bytes are no tensor map");
  if (reinterpret_cast<u64>(address) % 16 != 0)
    return refuse(fmt::format("address {} is not a multiple of 16", address));
  map.address = reinterpret_cast<u64>(address);
  store(at, map);
  return CUDA_SUCCESS;
}

}  // namespace

void fill_tensor_map_calls(driver::Api& api) {
  api.tensor_map_encode_tiled = encode_tiled;
  api.tensor_map_encode_im2col = encode_im2col;
  api.tensor_map_replace_address = replace_address;
}

}  // namespace tma_jit::emulator
