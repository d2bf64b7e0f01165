// Memory, streams and events. All calls are synchronous.
#include <chrono>
#include <cstring>

#include "emulator/driver/calls.h"
#include "emulator/driver/device.h"
#include "emulator/driver/host_memory.h"

namespace tma_jit::emulator::driver {
namespace {

struct Event {
  std::chrono::steady_clock::time_point when{};
  bool recorded = false;
};

// Checks that one allocation contains the whole range, and records a report otherwise.
CUresult refuse_range(Device& device, CUdeviceptr address, std::size_t bytes, std::string_view call) {
  if (bytes == 0 || device.memory.find(address, bytes).end != 0) return CUDA_SUCCESS;
  remember_failure(CUDA_ERROR_INVALID_VALUE,
                   fmt::format("{} of {} bytes at {:#x}: {}", call, bytes, address, device.memory.describe(address)));
  return CUDA_ERROR_INVALID_VALUE;
}

// Checks that the emulated device and the host have enough memory, and records a report otherwise.
CUresult refuse_size(const Device& device, std::size_t bytes) {
  const auto room = static_cast<u64>(device.info.memory_bytes);
  const u64 used = device.memory.allocated();
  if (bytes > room || used > room - bytes) {
    remember_failure(CUDA_ERROR_OUT_OF_MEMORY,
                     fmt::format("cuMemAlloc of {} bytes: {} has {}, of which {} are allocated", bytes,
                                 device.info.name, room, used));
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  const u64 needed = host_bytes(bytes), available = available_memory();
  if (needed <= available) return CUDA_SUCCESS;
  remember_failure(
      CUDA_ERROR_OUT_OF_MEMORY,
      fmt::format("cuMemAlloc of {} bytes: the emulator keeps device memory in this machine's and needs {} "
                  "bytes of it, of which {} are available; make the problem smaller, or run where there is "
                  "more memory",
                  bytes, needed, available));
  return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult allocate(CUdeviceptr* address, std::size_t bytes) {
  Device* device = current_device();
  if (device == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  const CUresult refused = refuse_size(*device, bytes);
  if (refused != CUDA_SUCCESS) return refused;
  *address = device->memory.allocate(bytes);
  return *address != 0 ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult deallocate(CUdeviceptr address) {
  Device* device = current_device();
  if (device == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  device->separated = true;
  return address == 0 || device->memory.free(address) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult to_device(CUdeviceptr target, const void* source, std::size_t bytes) {
  Device* device = current_device();
  if (device == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  const CUresult refused = refuse_range(*device, target, bytes, "cuMemcpyHtoD");
  if (refused != CUDA_SUCCESS) return refused;
  device->separated = true;
  if (bytes == 0) return CUDA_SUCCESS;
  if (source == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::memcpy(reinterpret_cast<void*>(target), source, bytes);
  device->memory.mark_written(target, bytes);
  return CUDA_SUCCESS;
}

CUresult to_host(void* target, CUdeviceptr source, std::size_t bytes) {
  Device* device = current_device();
  if (device == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  const CUresult refused = refuse_range(*device, source, bytes, "cuMemcpyDtoH");
  if (refused != CUDA_SUCCESS) return refused;
  device->separated = true;
  if (bytes == 0) return CUDA_SUCCESS;
  if (target == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::memcpy(target, reinterpret_cast<const void*>(source), bytes);
  return CUDA_SUCCESS;
}

CUresult fill(CUdeviceptr target, unsigned char byte, std::size_t bytes, CUstream) {
  Device* device = current_device();
  if (device == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  const CUresult refused = refuse_range(*device, target, bytes, "cuMemsetD8Async");
  if (refused != CUDA_SUCCESS) return refused;
  device->separated = true;
  if (bytes == 0) return CUDA_SUCCESS;
  std::memset(reinterpret_cast<void*>(target), byte, bytes);
  device->memory.mark_written(target, bytes);
  return CUDA_SUCCESS;
}

// For an address that is not device memory, each attribute has its null value, as in libcuda.
CUresult pointer_attributes(unsigned count, CUpointer_attribute* attributes, void** values, CUdeviceptr address) {
  Device* device = current_device();
  if (device == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  const bool own = device->memory.find(address, 1).end != 0;
  for (unsigned i = 0; i < count; ++i) {
    switch (attributes[i]) {
      case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: *static_cast<unsigned*>(values[i]) = own ? CU_MEMORYTYPE_DEVICE : 0; break;
      case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: *static_cast<CUdeviceptr*>(values[i]) = own ? address : 0; break;
      case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *static_cast<int*>(values[i]) = own ? device->ordinal : -2; break;
      case CU_POINTER_ATTRIBUTE_IS_MANAGED: *static_cast<unsigned*>(values[i]) = 0; break;
      case CU_POINTER_ATTRIBUTE_MAPPED: *static_cast<unsigned*>(values[i]) = own ? 1 : 0; break;
      default: return CUDA_ERROR_NOT_SUPPORTED;
    }
  }
  return CUDA_SUCCESS;
}

CUresult create_stream(CUstream* stream, unsigned) {
  *stream = reinterpret_cast<CUstream>(new char);
  return CUDA_SUCCESS;
}

CUresult destroy_stream(CUstream stream) {
  delete reinterpret_cast<char*>(stream);
  return CUDA_SUCCESS;
}

CUresult create_event(CUevent* event, unsigned) {
  *event = reinterpret_cast<CUevent>(new Event);
  return CUDA_SUCCESS;
}

CUresult destroy_event(CUevent event) {
  delete reinterpret_cast<Event*>(event);
  return CUDA_SUCCESS;
}

CUresult record(CUevent event, CUstream) {
  auto* const recorded = reinterpret_cast<Event*>(event);
  recorded->when = std::chrono::steady_clock::now();
  recorded->recorded = true;
  return separate_launches();
}

// Returns host time: how long the emulator took, not how long a device would take.
CUresult elapsed(float* milliseconds, CUevent first, CUevent second) {
  const auto* const a = reinterpret_cast<const Event*>(first);
  const auto* const b = reinterpret_cast<const Event*>(second);
  if (!a->recorded || !b->recorded) return CUDA_ERROR_INVALID_VALUE;
  *milliseconds = std::chrono::duration<float, std::milli>(b->when - a->when).count();
  return CUDA_SUCCESS;
}

}  // namespace

void fill_memory_calls(tma_jit::driver::Api& api) {
  api.mem_alloc = allocate;
  api.mem_free = deallocate;
  api.memcpy_host_to_device = to_device;
  api.memcpy_device_to_host = to_host;
  api.memcpy_host_to_device_async = [](CUdeviceptr target, const void* source, std::size_t bytes, CUstream) {
    return to_device(target, source, bytes);
  };
  api.memcpy_device_to_host_async = [](void* target, CUdeviceptr source, std::size_t bytes, CUstream) {
    return to_host(target, source, bytes);
  };
  api.memset_d8_async = fill;
  api.pointer_get_attributes = pointer_attributes;
  api.stream_create = create_stream;
  api.stream_destroy = destroy_stream;
  api.stream_synchronize = [](CUstream) { return separate_launches(); };
  api.event_create = create_event;
  api.event_destroy = destroy_event;
  api.event_record = record;
  api.event_elapsed_time = elapsed;
}

}  // namespace tma_jit::emulator::driver
