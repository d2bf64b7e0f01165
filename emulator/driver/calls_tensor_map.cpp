// Tensor maps: converts the driver's types to those of tensor/encode.h, which checks the requirements.
#include "emulator/driver/calls.h"

#include <cstring>

#include "emulator/driver/device.h"
#include "emulator/tensor/encode.h"

namespace tma_jit::emulator::driver {
namespace {

using tensor::EncodeArguments;

static_assert(sizeof(tensor::TensorMap) == sizeof(CUtensorMap));
static_assert(sizeof(cuuint64_t) == sizeof(u64) && sizeof(cuuint32_t) == sizeof(u32));

// NOLINTBEGIN(readability-function-size): the driver's parameters
EncodeArguments arguments_of(CUtensorMapDataType type, cuuint32_t rank, void* address, const cuuint64_t* dims,
                             const cuuint64_t* strides, const cuuint32_t* steps) {
  EncodeArguments arguments;
  arguments.data_type = static_cast<u32>(type);
  arguments.rank = rank;
  arguments.address = reinterpret_cast<u64>(address);
  arguments.dims = reinterpret_cast<const u64*>(dims);
  arguments.strides = reinterpret_cast<const u64*>(strides);
  arguments.element_strides = steps;
  return arguments;
}

CUresult finish(CUtensorMap* to, const tensor::TensorMap& map, std::string fault) {
  if (!fault.empty()) {
    remember_failure(CUDA_ERROR_INVALID_VALUE, std::move(fault));
    return CUDA_ERROR_INVALID_VALUE;
  }
  std::memcpy(to, &map, sizeof *to);
  return CUDA_SUCCESS;
}

CUresult encode_tiled(CUtensorMap* to, CUtensorMapDataType type, cuuint32_t rank, void* address, const cuuint64_t* dims,
                      const cuuint64_t* strides, const cuuint32_t* box, const cuuint32_t* steps,
                      CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle, CUtensorMapL2promotion,
                      CUtensorMapFloatOOBfill fill) {
  if (current_device() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  EncodeArguments arguments = arguments_of(type, rank, address, dims, strides, steps);
  arguments.interleave = static_cast<u32>(interleave);
  arguments.swizzle = static_cast<u32>(swizzle);
  arguments.fill = static_cast<u32>(fill);
  tensor::TensorMap map{};
  std::string fault = tensor::encode_tiled(arguments, box, map);
  return finish(to, map, std::move(fault));
}

CUresult encode_im2col(CUtensorMap* to, CUtensorMapDataType type, cuuint32_t rank, void* address,
                       const cuuint64_t* dims, const cuuint64_t* strides, const int* lower, const int* upper,
                       cuuint32_t channels, cuuint32_t pixels, const cuuint32_t* steps,
                       CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle, CUtensorMapL2promotion,
                       CUtensorMapFloatOOBfill fill) {
  if (current_device() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  EncodeArguments arguments = arguments_of(type, rank, address, dims, strides, steps);
  arguments.interleave = static_cast<u32>(interleave);
  arguments.swizzle = static_cast<u32>(swizzle);
  arguments.fill = static_cast<u32>(fill);
  tensor::TensorMap map{};
  std::string fault = tensor::encode_im2col(arguments, {lower, upper, channels, pixels, false}, map);
  return finish(to, map, std::move(fault));
}

// The modes im2col::w and im2col::w::128 differ in the instruction only; the map is the same.
CUresult encode_im2col_wide(CUtensorMap* to, CUtensorMapDataType type, cuuint32_t rank, void* address,
                            const cuuint64_t* dims, const cuuint64_t* strides, int lower, int upper,
                            cuuint32_t channels, cuuint32_t pixels, const cuuint32_t* steps,
                            CUtensorMapInterleave interleave, CUtensorMapIm2ColWideMode, CUtensorMapSwizzle swizzle,
                            CUtensorMapL2promotion, CUtensorMapFloatOOBfill fill) {
  if (current_device() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  EncodeArguments arguments = arguments_of(type, rank, address, dims, strides, steps);
  arguments.interleave = static_cast<u32>(interleave);
  arguments.swizzle = static_cast<u32>(swizzle);
  arguments.fill = static_cast<u32>(fill);
  tensor::TensorMap map{};
  std::string fault = tensor::encode_im2col(arguments, {&lower, &upper, channels, pixels, true}, map);
  return finish(to, map, std::move(fault));
}

// NOLINTEND(readability-function-size)

CUresult replace_address(CUtensorMap* at, void* address) {
  return guarded([&] {
    tensor::replace(at, tensor::Field::global_address, 0, reinterpret_cast<u64>(address));
    return CUDA_SUCCESS;
  });
}

}  // namespace

void fill_tensor_map_calls(tma_jit::driver::Api& api) {
  api.tensor_map_encode_tiled = encode_tiled;
  api.tensor_map_encode_im2col = encode_im2col;
  api.tensor_map_encode_im2col_wide = encode_im2col_wide;
  api.tensor_map_replace_address = replace_address;
}

}  // namespace tma_jit::emulator::driver
