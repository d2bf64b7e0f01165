// The functions of the fake driver's table. Each notes its call, checks that it is made in the context of what it is
// given, and does over host memory what tests read of its effect.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "support/fake_driver.h"

namespace tma_jit::testing {

inline FakeDriver* current_driver = nullptr;

// A handle is a tag and the number of its device.
inline constexpr int kContextTag = 0x1000;
inline constexpr int kKernelTag = 0x2000;
inline constexpr int kStreamTag = 0x3000;
inline constexpr int kDevicesMax = 16;
inline constexpr std::size_t kMostSet = 1 << 20;  // bytes of a memset: L2 is flushed by larger ones, which nobody reads

template <class Handle> Handle handle(int tag) {
  return reinterpret_cast<Handle>(static_cast<std::uintptr_t>(tag));
}

inline CUcontext current_context() {
  return FakeDriver::contexts().empty() ? nullptr : FakeDriver::contexts().back();
}

// The device of the current context; the last number where that is none of the fake's.
inline int current_device() {
  const auto number = reinterpret_cast<std::uintptr_t>(current_context()) - kContextTag;
  return number < kDevicesMax ? static_cast<int>(number) : kDevicesMax - 1;
}

// The context of a handle that the fake made; null for any other.
template <class Handle> CUcontext owner_of(Handle made, int tag) {
  const auto number = reinterpret_cast<std::uintptr_t>(made) - static_cast<std::uintptr_t>(tag);
  return number < kDevicesMax ? FakeDriver::primary(static_cast<CUdevice>(number)) : nullptr;
}

// The functions of the table; each notes its call first.
struct FakeCalls {
  static FakeDriver& self() { return *current_driver; }

  static CUresult device_get_count(int* count) {
    *count = self().device_count;
    return self().note("cuDeviceGetCount");
  }
  static CUresult device_get(CUdevice* device, int ordinal) {
    *device = ordinal;
    return self().note("cuDeviceGet");
  }
  static CUresult device_get_name(char* name, int size, CUdevice) {
    std::strncpy(name, self().device_name.c_str(), static_cast<std::size_t>(size));
    return self().note("cuDeviceGetName");
  }
  static CUresult device_get_attribute(int* value, CUdevice_attribute attribute, CUdevice device) {
    {
      const std::lock_guard lock(self().attributes_mutex_);
      *value = self().device_attributes[attribute];
      const auto own = self().attributes_of.find(device);
      if (own != self().attributes_of.end() && own->second.contains(attribute)) *value = own->second.at(attribute);
    }
    return self().note("cuDeviceGetAttribute");
  }
  static CUresult device_total_mem(std::size_t* bytes, CUdevice) {
    *bytes = std::size_t{80} << 30;
    return self().note("cuDeviceTotalMem");
  }

  static CUresult retain(CUcontext* context, CUdevice device) {
    *context = self().primary(device);
    const CUresult result = self().note("cuDevicePrimaryCtxRetain");
    const std::lock_guard lock(self().mutex_);
    if (result == CUDA_SUCCESS) ++self().retained_;
    return result;
  }
  static CUresult release(CUdevice) {
    {
      const std::lock_guard lock(self().mutex_);
      --self().retained_;
    }
    return self().note("cuDevicePrimaryCtxRelease");
  }
  static CUresult get_current(CUcontext* context) {
    *context = current_context();
    return self().note("cuCtxGetCurrent");
  }
  static CUresult push(CUcontext context) {
    const CUresult result = self().note("cuCtxPushCurrent");
    if (result == CUDA_SUCCESS) FakeDriver::contexts().push_back(context);
    return result;
  }
  static CUresult pop(CUcontext* context) {
    *context = FakeDriver::contexts().back();
    FakeDriver::contexts().pop_back();
    return self().note("cuCtxPopCurrent");
  }
  static CUresult context_synchronize() { return self().note_unsafe("cuCtxSynchronize"); }
  static CUresult exchange_mode(CUstreamCaptureMode* mode) {
    std::swap(*mode, FakeDriver::capture_mode());
    return self().note("cuThreadExchangeStreamCaptureMode");
  }

  static CUresult mem_alloc(CUdeviceptr* address, std::size_t bytes) {
    if (const CUresult result = self().note_unsafe("cuMemAlloc"); result != CUDA_SUCCESS) return result;
    void* memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    *address = reinterpret_cast<CUdeviceptr>(memory);
    const std::lock_guard lock(self().mutex_);
    self().memory_[*address] = {memory, current_context()};
    return CUDA_SUCCESS;
  }
  static CUresult mem_free(CUdeviceptr address) {
    if (const CUresult result = self().note_unsafe("cuMemFree"); result != CUDA_SUCCESS) return result;
    self().check_owner_of(address, "cuMemFree");
    const std::lock_guard lock(self().mutex_);
    std::free(self().memory_.at(address).memory);
    self().memory_.erase(address);
    return CUDA_SUCCESS;
  }
  static CUresult to_device(CUdeviceptr target, const void* source, std::size_t bytes) {
    self().check_owner_of(target, "cuMemcpyHtoD");
    std::memcpy(reinterpret_cast<void*>(target), source, bytes);
    return self().note("cuMemcpyHtoD");
  }
  static CUresult to_host(void* target, CUdeviceptr source, std::size_t bytes) {
    self().check_owner_of(source, "cuMemcpyDtoH");
    std::memcpy(target, reinterpret_cast<void*>(source), bytes);
    return self().note("cuMemcpyDtoH");
  }
  static CUresult to_device_async(CUdeviceptr target, const void* source, std::size_t bytes, CUstream) {
    self().check_owner_of(target, "cuMemcpyHtoDAsync");
    std::memcpy(reinterpret_cast<void*>(target), source, bytes);
    return self().note("cuMemcpyHtoDAsync");
  }
  static CUresult to_host_async(void* target, CUdeviceptr source, std::size_t bytes, CUstream) {
    self().check_owner_of(source, "cuMemcpyDtoHAsync");
    std::memcpy(target, reinterpret_cast<void*>(source), bytes);
    return self().note("cuMemcpyDtoHAsync");
  }
  static CUresult memset(CUdeviceptr target, unsigned char byte, std::size_t bytes, CUstream stream) {
    self().check_owner_of(target, "cuMemsetD8Async");
    self().check_owner(owner_of(stream, kStreamTag), "cuMemsetD8Async");
    std::memset(reinterpret_cast<void*>(target), byte, std::min(bytes, kMostSet));
    return stream == nullptr ? self().note_unsafe("cuMemsetD8Async") : self().note("cuMemsetD8Async");
  }

  static CUresult pointer_attributes(unsigned count, CUpointer_attribute* attributes, void** values,
                                     CUdeviceptr address) {
    ++self().pointer_queries;
    if (current_context() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    const auto known = self().pointers.find(address);
    const FakeDriver::Pointer own{CU_MEMORYTYPE_DEVICE, current_device(), true, false, true};
    const FakeDriver::Pointer& pointer = known != self().pointers.end() ? known->second : own;
    for (unsigned i = 0; i < count; ++i) {
      auto* const number = static_cast<unsigned*>(values[i]);
      switch (attributes[i]) {
        case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: *number = pointer.memory_type; break;
        case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
          *static_cast<CUdeviceptr*>(values[i]) = pointer.reachable ? address : 0;
          break;
        case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: *static_cast<int*>(values[i]) = pointer.ordinal; break;
        case CU_POINTER_ATTRIBUTE_IS_MANAGED: *number = pointer.managed ? 1 : 0; break;
        case CU_POINTER_ATTRIBUTE_MAPPED: *number = pointer.mapped ? 1 : 0; break;
        default: return CUDA_ERROR_INVALID_VALUE;
      }
    }
    return CUDA_SUCCESS;
  }

  static CUresult stream_create(CUstream* stream, unsigned) {
    *stream = handle<CUstream>(kStreamTag + current_device());
    return self().note("cuStreamCreate");
  }
  static CUresult stream_destroy(CUstream stream) {
    self().check_owner(owner_of(stream, kStreamTag), "cuStreamDestroy");
    return self().note("cuStreamDestroy");
  }
  static CUresult stream_is_capturing(CUstream stream, CUstreamCaptureStatus* status) {
    *status = CU_STREAM_CAPTURE_STATUS_NONE;
    const CUresult result = self().note("cuStreamIsCapturing");
    const bool implicit = stream == nullptr && self().capturing && self().capturing_stream_waits;
    return result == CUDA_SUCCESS && implicit ? CUDA_ERROR_STREAM_CAPTURE_IMPLICIT : result;
  }
  static CUresult stream_synchronize(CUstream stream) {
    self().check_owner(owner_of(stream, kStreamTag), "cuStreamSynchronize");
    return self().note_unsafe("cuStreamSynchronize");
  }
  static CUresult event_create(CUevent* event, unsigned) {
    *event = handle<CUevent>(0x4000);
    return self().note("cuEventCreate");
  }
  static CUresult event_destroy(CUevent) { return self().note("cuEventDestroy"); }
  static CUresult event_record(CUevent, CUstream) { return self().note("cuEventRecord"); }
  static CUresult event_elapsed(float* milliseconds, CUevent, CUevent) {
    *milliseconds = 0.25F;
    return self().note("cuEventElapsedTime");
  }

  static CUresult load(CUlibrary* library, const void*, CUjit_option*, void**, unsigned, CUlibraryOption*, void**,
                       unsigned) {
    *library = handle<CUlibrary>(0x5000);
    return self().note_unsafe("cuLibraryLoadData");
  }
  static CUresult unload(CUlibrary) { return self().note_unsafe("cuLibraryUnload"); }
  static CUresult get_kernel(CUkernel* kernel, CUlibrary, const char*) {
    *kernel = handle<CUkernel>(kKernelTag);
    return self().note("cuLibraryGetKernel");
  }
  static CUresult get_function(CUfunction* function, CUkernel) {
    *function = handle<CUfunction>(kKernelTag + current_device());
    return self().note_unsafe("cuKernelGetFunction");
  }
  static CUresult param_info(CUkernel, std::size_t index, std::size_t* offset, std::size_t* size) {
    if (const CUresult result = self().note("cuKernelGetParamInfo"); result != CUDA_SUCCESS) return result;
    if (index >= self().parameters.size()) return CUDA_ERROR_INVALID_VALUE;
    std::tie(*offset, *size) = self().parameters[index];
    return CUDA_SUCCESS;
  }
  static CUresult get_attribute(int* value, CUfunction_attribute attribute, CUfunction function) {
    self().check_owner(owner_of(function, kKernelTag), "cuFuncGetAttribute");
    const std::lock_guard lock(self().attributes_mutex_);
    *value = self().function_attributes[attribute];
    return self().note("cuFuncGetAttribute");
  }
  static CUresult set_attribute(CUfunction function, CUfunction_attribute attribute, int value) {
    self().check_owner(owner_of(function, kKernelTag), "cuFuncSetAttribute");
    const CUresult result = self().note("cuFuncSetAttribute");
    const std::lock_guard lock(self().attributes_mutex_);
    if (result == CUDA_SUCCESS) self().function_attributes[attribute] = value;
    return result;
  }
  static CUresult active_clusters(int* clusters, CUfunction, const CUlaunchConfig*) {
    *clusters = self().active_clusters;
    return self().note("cuOccupancyMaxActiveClusters");
  }

  // What the three kinds of map have in common.
  struct Map {
    CUtensorMapDataType type;
    cuuint32_t rank;
    void* address;
    const cuuint64_t *dims, *strides;
    CUtensorMapInterleave interleave;
    CUtensorMapSwizzle swizzle;
    CUtensorMapL2promotion l2;
    CUtensorMapFloatOOBfill fill;
  };
  static FakeTensorMap noted(const Map& map) {
    FakeTensorMap fake{};
    fake.address = reinterpret_cast<std::uint64_t>(map.address);
    fake.flags = ~std::uint64_t{0};
    fake.type = map.type;
    fake.rank = map.rank;
    fake.swizzle = map.swizzle;
    fake.interleave = map.interleave;
    fake.l2 = map.l2;
    fake.fill = map.fill;
    std::copy_n(map.dims, std::min<cuuint32_t>(map.rank, 2), fake.dims.begin());
    if (map.rank > 1) fake.stride = map.strides[0];
    fake.wide_mode = -1;
    return fake;
  }
  static CUresult encoded(CUtensorMap* map, const FakeTensorMap& fake, const char* call) {
    if (FakeDriver::contexts().empty()) return CUDA_ERROR_INVALID_CONTEXT;  // as driver 580 does
    static_assert(sizeof fake <= sizeof *map);
    std::memcpy(map, &fake, sizeof fake);
    return self().note(call);
  }

  // NOLINTBEGIN(readability-function-size): their parameters are those of the driver's functions
  static CUresult encode(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
                         const cuuint64_t* dims, const cuuint64_t* strides, const cuuint32_t* box, const cuuint32_t*,
                         CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2,
                         CUtensorMapFloatOOBfill fill) {
    FakeTensorMap fake = noted({type, rank, address, dims, strides, interleave, swizzle, l2, fill});
    std::copy_n(box, std::min<cuuint32_t>(rank, 2), fake.box.begin());
    return encoded(map, fake, "cuTensorMapEncodeTiled");
  }
  static CUresult encode_im2col(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
                                const cuuint64_t* dims, const cuuint64_t* strides, const int* lower, const int* upper,
                                cuuint32_t channels, cuuint32_t pixels, const cuuint32_t*,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2,
                                CUtensorMapFloatOOBfill fill) {
    FakeTensorMap fake = noted({type, rank, address, dims, strides, interleave, swizzle, l2, fill});
    fake.box = {channels, pixels};
    std::copy_n(lower, rank - 2, fake.lower.begin());
    std::copy_n(upper, rank - 2, fake.upper.begin());
    return encoded(map, fake, "cuTensorMapEncodeIm2col");
  }
  static CUresult encode_im2col_wide(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
                                     const cuuint64_t* dims, const cuuint64_t* strides, int lower, int upper,
                                     cuuint32_t channels, cuuint32_t pixels, const cuuint32_t*,
                                     CUtensorMapInterleave interleave, CUtensorMapIm2ColWideMode mode,
                                     CUtensorMapSwizzle swizzle, CUtensorMapL2promotion l2,
                                     CUtensorMapFloatOOBfill fill) {
    FakeTensorMap fake = noted({type, rank, address, dims, strides, interleave, swizzle, l2, fill});
    fake.box = {channels, pixels};
    fake.lower[0] = lower;
    fake.upper[0] = upper;
    fake.wide_mode = mode;
    return encoded(map, fake, "cuTensorMapEncodeIm2colWide");
  }
  // NOLINTEND(readability-function-size)
  static CUresult replace(CUtensorMap* map, void* address) {
    const CUresult result = self().note("cuTensorMapReplaceAddress");
    if (result == CUDA_SUCCESS) map->opaque[0] = reinterpret_cast<std::uint64_t>(address);
    return result;
  }

  static CUresult launch(const CUlaunchConfig* config, CUfunction function, void** arguments, void**) {
    self().check_owner(owner_of(function, kKernelTag), "cuLaunchKernelEx");
    self().check_owner(owner_of(config->hStream, kStreamTag), "cuLaunchKernelEx");
    if (const CUresult result = self().note("cuLaunchKernelEx"); result != CUDA_SUCCESS) return result;
    FakeDriver::Launch made;
    made.config = *config;
    made.attributes.assign(config->attrs, config->attrs + config->numAttrs);
    made.context = current_context();
    const std::lock_guard lock(self().mutex_);
    for (std::size_t i = 0; i < self().argument_sizes.size(); ++i) {
      const auto* bytes = static_cast<const std::byte*>(arguments[i]);
      made.arguments.emplace_back(bytes, bytes + self().argument_sizes[i]);
    }
    self().launches_.push_back(std::move(made));
    return CUDA_SUCCESS;
  }

  static CUresult error_name(CUresult result, const char** name) {
    switch (result) {
      case CUDA_ERROR_INVALID_VALUE: *name = "CUDA_ERROR_INVALID_VALUE"; break;
      case CUDA_ERROR_OUT_OF_MEMORY: *name = "CUDA_ERROR_OUT_OF_MEMORY"; break;
      case CUDA_ERROR_NO_BINARY_FOR_GPU: *name = "CUDA_ERROR_NO_BINARY_FOR_GPU"; break;
      case CUDA_ERROR_LAUNCH_FAILED: *name = "CUDA_ERROR_LAUNCH_FAILED"; break;
      default: *name = nullptr; return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
  }
  static CUresult error_string(CUresult, const char** text) {
    *text = "in the driver's words";
    return CUDA_SUCCESS;
  }
};

}  // namespace tma_jit::testing
