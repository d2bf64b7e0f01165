// Devices, contexts and errors.
#include <cstring>

#include "emulator/driver/calls.h"
#include "emulator/driver/device.h"

namespace tma_jit::emulator::driver {
namespace {

constexpr int kTransfersPerClock = 2;
constexpr int kBusBits = 1024;  // arbitrary; only its product with the clock is meaningful

int attribute_of(const DeviceInfo& info, CUdevice_attribute attribute) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: return info.compute_capability / 10;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: return info.compute_capability % 10;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: return static_cast<int>(info.sm_count);
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: return static_cast<int>(info.smem_per_block);
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR: return static_cast<int>(info.smem_per_sm);
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR: return static_cast<int>(info.registers_per_sm);
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK: return info.threads_per_block;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR: return info.threads_per_sm;
    case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH: return 1;
    case CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH: return info.cluster_max > 1 ? 1 : 0;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: return static_cast<int>(info.l2_bytes);
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE: return static_cast<int>(info.clock_mhz * 1e3);
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
      return static_cast<int>(info.memory_gb_per_s * 1e9 * 8 / kBusBits / kTransfersPerClock / 1e3);
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH: return kBusBits;
    default: return 0;
  }
}

const char* description_of(CUresult result) {
  switch (result) {
    case CUDA_SUCCESS: return "no error";
    case CUDA_ERROR_INVALID_VALUE: return "invalid argument";
    case CUDA_ERROR_OUT_OF_MEMORY: return "out of memory";
    case CUDA_ERROR_INVALID_CONTEXT: return "no context is current";
    case CUDA_ERROR_INVALID_DEVICE: return "no such device";
    case CUDA_ERROR_INVALID_HANDLE: return "invalid resource handle";
    case CUDA_ERROR_NOT_FOUND: return "named symbol not found";
    case CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE: return "too many blocks in cooperative launch";
    default: return "the emulator stopped";
  }
}

const char* name_of(CUresult result) {
  switch (result) {
    case CUDA_SUCCESS: return "CUDA_SUCCESS";
    case CUDA_ERROR_INVALID_VALUE: return "CUDA_ERROR_INVALID_VALUE";
    case CUDA_ERROR_OUT_OF_MEMORY: return "CUDA_ERROR_OUT_OF_MEMORY";
    case CUDA_ERROR_INVALID_CONTEXT: return "CUDA_ERROR_INVALID_CONTEXT";
    case CUDA_ERROR_INVALID_DEVICE: return "CUDA_ERROR_INVALID_DEVICE";
    case CUDA_ERROR_INVALID_PTX: return "CUDA_ERROR_INVALID_PTX";
    case CUDA_ERROR_NO_BINARY_FOR_GPU: return "CUDA_ERROR_NO_BINARY_FOR_GPU";
    case CUDA_ERROR_INVALID_HANDLE: return "CUDA_ERROR_INVALID_HANDLE";
    case CUDA_ERROR_NOT_FOUND: return "CUDA_ERROR_NOT_FOUND";
    case CUDA_ERROR_NOT_SUPPORTED: return "CUDA_ERROR_NOT_SUPPORTED";
    case CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE: return "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE";
    case CUDA_ERROR_ILLEGAL_ADDRESS: return "CUDA_ERROR_ILLEGAL_ADDRESS";
    case CUDA_ERROR_MISALIGNED_ADDRESS: return "CUDA_ERROR_MISALIGNED_ADDRESS";
    case CUDA_ERROR_LAUNCH_TIMEOUT: return "CUDA_ERROR_LAUNCH_TIMEOUT";
    case CUDA_ERROR_LAUNCH_FAILED: return "CUDA_ERROR_LAUNCH_FAILED";
    case CUDA_ERROR_ASSERT: return "CUDA_ERROR_ASSERT";
    default: return nullptr;
  }
}

CUresult get_error_name(CUresult result, const char** name) {
  *name = name_of(result);
  return *name != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult get_error_string(CUresult result, const char** text) {
  const char* remembered = failure_brief(result);
  *text = remembered != nullptr ? remembered : description_of(result);
  return CUDA_SUCCESS;
}

CUresult get_count(int* count) {
  *count = count_ordinals();
  return CUDA_SUCCESS;
}

CUresult get_device(CUdevice* device, int ordinal) {
  if (device_at(ordinal) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult get_name(char* name, int size, CUdevice ordinal) {
  const Device* device = device_at(ordinal);
  if (device == nullptr || size <= 0) return CUDA_ERROR_INVALID_DEVICE;
  const std::string text = fmt::format("{}, emulated", device->info.name);
  const std::size_t kept = std::min(text.size(), static_cast<std::size_t>(size) - 1);
  std::memcpy(name, text.data(), kept);
  name[kept] = '\0';
  return CUDA_SUCCESS;
}

CUresult get_attribute(int* value, CUdevice_attribute attribute, CUdevice ordinal) {
  const Device* device = device_at(ordinal);
  if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  *value = attribute_of(device->info, attribute);
  return CUDA_SUCCESS;
}

CUresult total_memory(std::size_t* bytes, CUdevice ordinal) {
  const Device* device = device_at(ordinal);
  if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  *bytes = static_cast<std::size_t>(device->info.memory_bytes);
  return CUDA_SUCCESS;
}

CUresult retain(CUcontext* context, CUdevice ordinal) {
  Device* device = device_at(ordinal);
  if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  *context = reinterpret_cast<CUcontext>(device);
  return CUDA_SUCCESS;
}

CUresult release(CUdevice ordinal) {
  return device_at(ordinal) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult get_current(CUcontext* context) {
  *context = reinterpret_cast<CUcontext>(current_device());
  return CUDA_SUCCESS;
}

CUresult push(CUcontext context) {
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  return context_stack().push(reinterpret_cast<Device*>(context)) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult pop(CUcontext* context) {
  if (current_device() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *context = reinterpret_cast<CUcontext>(current_device());
  context_stack().pop();
  return CUDA_SUCCESS;
}

CUresult exchange_mode(CUstreamCaptureMode* mode) {
  thread_local CUstreamCaptureMode current = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::swap(*mode, current);
  return CUDA_SUCCESS;
}

}  // namespace

void fill_device_calls(tma_jit::driver::Api& api) {
  api.init = [](unsigned) { return CUDA_SUCCESS; };
  api.driver_get_version = [](int* version) {
    *version = kDriverVersion;
    return CUDA_SUCCESS;
  };
  api.get_error_name = get_error_name;
  api.get_error_string = get_error_string;
  api.failure_report = failure_report;
  api.device_get_count = get_count;
  api.device_get = get_device;
  api.device_get_name = get_name;
  api.device_get_attribute = get_attribute;
  api.device_total_mem = total_memory;
  api.device_primary_ctx_retain = retain;
  api.device_primary_ctx_release = release;
  api.ctx_get_current = get_current;
  api.ctx_push_current = push;
  api.ctx_pop_current = pop;
  api.ctx_synchronize = separate_launches;
  api.thread_exchange_stream_capture_mode = exchange_mode;
}

}  // namespace tma_jit::emulator::driver
