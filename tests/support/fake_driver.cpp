#include "support/fake_driver.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace tma_jit::testing {
namespace {

FakeDriver* current_driver = nullptr;

// A handle is a tag and the number of its device.
constexpr int kContextTag = 0x1000;
constexpr int kKernelTag = 0x2000;
constexpr int kStreamTag = 0x3000;
constexpr int kDevicesMax = 16;
constexpr std::size_t kMostSet = 1 << 20;  // bytes of a memset: L2 is flushed by larger ones, which nobody reads

template <class Handle> Handle handle(int tag) {
  return reinterpret_cast<Handle>(static_cast<std::uintptr_t>(tag));
}

CUcontext current_context() {
  return FakeDriver::contexts().empty() ? nullptr : FakeDriver::contexts().back();
}

// The device of the current context; the last number where that is none of the fake's.
int current_device() {
  const auto number = reinterpret_cast<std::uintptr_t>(current_context()) - kContextTag;
  return number < kDevicesMax ? static_cast<int>(number) : kDevicesMax - 1;
}

// The context of a handle that the fake made; null for any other.
template <class Handle> CUcontext owner_of(Handle made, int tag) {
  const auto number = reinterpret_cast<std::uintptr_t>(made) - static_cast<std::uintptr_t>(tag);
  return number < kDevicesMax ? FakeDriver::primary(static_cast<CUdevice>(number)) : nullptr;
}

}  // namespace

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

namespace {

void fill_device_calls(driver::Api& api) {
  api.init = [](unsigned) { return CUDA_SUCCESS; };
  api.get_error_name = FakeCalls::error_name;
  api.get_error_string = FakeCalls::error_string;
  api.device_get_count = FakeCalls::device_get_count;
  api.device_get = FakeCalls::device_get;
  api.device_get_name = FakeCalls::device_get_name;
  api.device_get_attribute = FakeCalls::device_get_attribute;
  api.device_total_mem = FakeCalls::device_total_mem;
  api.device_primary_ctx_retain = FakeCalls::retain;
  api.device_primary_ctx_release = FakeCalls::release;
  api.ctx_get_current = FakeCalls::get_current;
  api.ctx_push_current = FakeCalls::push;
  api.ctx_pop_current = FakeCalls::pop;
  api.ctx_synchronize = FakeCalls::context_synchronize;
  api.thread_exchange_stream_capture_mode = FakeCalls::exchange_mode;
}

void fill_memory_calls(driver::Api& api) {
  api.mem_alloc = FakeCalls::mem_alloc;
  api.mem_free = FakeCalls::mem_free;
  api.memcpy_host_to_device = FakeCalls::to_device;
  api.memcpy_device_to_host = FakeCalls::to_host;
  api.memcpy_host_to_device_async = FakeCalls::to_device_async;
  api.memcpy_device_to_host_async = FakeCalls::to_host_async;
  api.memset_d8_async = FakeCalls::memset;
  api.pointer_get_attributes = FakeCalls::pointer_attributes;
  api.stream_create = FakeCalls::stream_create;
  api.stream_destroy = FakeCalls::stream_destroy;
  api.stream_is_capturing = FakeCalls::stream_is_capturing;
  api.stream_synchronize = FakeCalls::stream_synchronize;
  api.event_create = FakeCalls::event_create;
  api.event_destroy = FakeCalls::event_destroy;
  api.event_record = FakeCalls::event_record;
  api.event_elapsed_time = FakeCalls::event_elapsed;
}

void fill_kernel_calls(driver::Api& api) {
  api.library_load_data = FakeCalls::load;
  api.library_unload = FakeCalls::unload;
  api.library_get_kernel = FakeCalls::get_kernel;
  api.kernel_get_function = FakeCalls::get_function;
  api.func_get_attribute = FakeCalls::get_attribute;
  api.func_set_attribute = FakeCalls::set_attribute;
  api.occupancy_max_active_clusters = FakeCalls::active_clusters;
  api.tensor_map_encode_tiled = FakeCalls::encode;
  api.tensor_map_encode_im2col = FakeCalls::encode_im2col;
  api.tensor_map_encode_im2col_wide = FakeCalls::encode_im2col_wide;
  api.tensor_map_replace_address = FakeCalls::replace;
  api.launch_kernel_ex = FakeCalls::launch;
}

}  // namespace

FakeDriver::FakeDriver() {
  current_driver = this;
  api_.version = 13000;
  fill_device_calls(api_);
  fill_memory_calls(api_);
  fill_kernel_calls(api_);
  api_.kernel_get_param_info = FakeCalls::param_info;
  device_attributes = {{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
                       {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
                       {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132},
                       {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448},
                       {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 233472},
                       {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
                       {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
                       {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
                       {CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 1},
                       {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 52428800},
                       {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1980000},
                       {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 2619000},
                       {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 5120}};
  function_attributes = {{CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
                         {CU_FUNC_ATTRIBUTE_NUM_REGS, 64},
                         {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 1024},
                         {CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 48128}};
}

FakeDriver::~FakeDriver() {
  for (const auto& [address, allocation] : memory_) std::free(allocation.memory);
  contexts().clear();
  capture_mode() = CU_STREAM_CAPTURE_MODE_GLOBAL;
  current_driver = nullptr;
}

CUresult FakeDriver::note(const char* call) {
  const std::lock_guard lock(mutex_);
  calls_.emplace_back(call);
  const auto failing = failures_.find(std::string_view(call));
  return failing != failures_.end() ? failing->second : CUDA_SUCCESS;
}

CUresult FakeDriver::note_unsafe(const char* call) {
  if (capturing && capture_mode() != CU_STREAM_CAPTURE_MODE_RELAXED) {
    capture_broken = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  return note(call);
}

void FakeDriver::fail(std::string call, CUresult result) {
  const std::lock_guard lock(mutex_);
  failures_[std::move(call)] = result;
}

void FakeDriver::succeed(const std::string& call) {
  const std::lock_guard lock(mutex_);
  failures_.erase(call);
}

int FakeDriver::count(std::string_view call) const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(std::count(calls_.begin(), calls_.end(), call));
}

std::vector<std::string> FakeDriver::calls() const {
  const std::lock_guard lock(mutex_);
  return calls_;
}

std::vector<FakeDriver::Launch> FakeDriver::launches() const {
  const std::lock_guard lock(mutex_);
  return launches_;
}

std::size_t FakeDriver::allocated() const {
  const std::lock_guard lock(mutex_);
  return memory_.size();
}

std::vector<std::string> FakeDriver::misplaced() const {
  const std::lock_guard lock(mutex_);
  return misplaced_;
}

void FakeDriver::check_owner(CUcontext owner, const char* call) {
  if (owner == nullptr || owner == current_context()) return;
  const std::lock_guard lock(mutex_);
  misplaced_.emplace_back(call);
}

void FakeDriver::check_owner_of(CUdeviceptr address, const char* call) {
  CUcontext owner = nullptr;
  {
    const std::lock_guard lock(mutex_);
    const auto after = memory_.upper_bound(address);
    if (after != memory_.begin()) owner = std::prev(after)->second.owner;
  }
  check_owner(owner, call);
}

CUcontext FakeDriver::primary(CUdevice device) {
  return handle<CUcontext>(kContextTag + device);
}

std::vector<CUcontext>& FakeDriver::contexts() {
  thread_local std::vector<CUcontext> stack;
  return stack;
}

CUstreamCaptureMode& FakeDriver::capture_mode() {
  thread_local CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  return mode;
}

}  // namespace tma_jit::testing
