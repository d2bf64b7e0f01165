#include "support/fake_driver.h"

#include <algorithm>
#include <cstdlib>

#include "support/fake_calls.h"

namespace tma_jit::testing {
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
