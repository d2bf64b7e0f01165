#include "driver/reachable.h"

#include <array>

namespace tma_jit::driver {
namespace {

// The result of cuPointerGetAttributes; the initial values are for an address that CUDA does not know.
struct Pointer {
  unsigned memory_type = 0;
  CUdeviceptr device_pointer = 0;  // address for kernels of the current context; 0: none
  int ordinal = -2;
  unsigned managed = 0;
  unsigned mapped = 0;  // whether it is mapped to memory, by any allocator
};

CUresult look_at(const Api& api, std::uint64_t address, Pointer& pointer) {
  std::array<CUpointer_attribute, 5> attributes = {
      CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
      CU_POINTER_ATTRIBUTE_IS_MANAGED, CU_POINTER_ATTRIBUTE_MAPPED};
  std::array<void*, 5> values = {&pointer.memory_type, &pointer.device_pointer, &pointer.ordinal, &pointer.managed,
                                 &pointer.mapped};
  return api.pointer_get_attributes(static_cast<unsigned>(attributes.size()), attributes.data(), values.data(),
                                    address);
}

bool reaches_pageable_memory(const Context& context) {
  int reaches = 0;
  const CUresult asked =
      context.api().device_get_attribute(&reaches, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, context.ordinal());
  return asked != CUDA_SUCCESS || reaches != 0;
}

}  // namespace

Result<void> check_reachable(const Context& context, std::string_view name, std::uint64_t address) {
  const Api& api = context.api();
  if (api.pointer_get_attributes == nullptr) return {};
  TMA_JIT_ASSIGN([[maybe_unused]] const Current current, Current::enter(context));
  Pointer pointer;
  if (look_at(api, address, pointer) != CUDA_SUCCESS || pointer.device_pointer != 0 || pointer.managed != 0) return {};
  if (pointer.memory_type == 0 && pointer.mapped == 0 && !reaches_pageable_memory(context)) {
    return failure(
        ErrorCode::invalid_argument,
        "{}: {} cannot reach the address {:#x}: CUDA knows no memory there, so it is ordinary host memory or "
        "was freed; give memory of the device, or pinned, registered or managed memory",
        name, context.device().name, address);
  }
  if (pointer.memory_type == CU_MEMORYTYPE_DEVICE && pointer.ordinal >= 0 && pointer.ordinal != context.ordinal()) {
    return failure(
        ErrorCode::invalid_argument,
        "{}: device {} cannot reach the address {:#x}, which is memory of device {}: enable peer access with "
        "cuCtxEnablePeerAccess or cudaDeviceEnablePeerAccess, or give memory of device {}",
        name, context.ordinal(), address, pointer.ordinal, context.ordinal());
  }
  return {};
}

}  // namespace tma_jit::driver
