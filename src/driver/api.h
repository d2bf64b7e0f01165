// The CUDA driver as a table of functions. All code that uses a device takes a `const Api&`, so that an emulator or a
// test can supply another table. Types come from cuda.h; libcuda is not linked.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <cuda.h>

#include <tma_jit/artifact.h>

#include "core/failure.h"

namespace tma_jit::driver {

// The oldest driver that has every function marked as required in api.cpp.
inline constexpr int kOldestDriver = 12000;
inline constexpr int kIm2colWideDriver = 12080;  // the first version with cuTensorMapEncodeIm2colWide

struct Api {
  int version = 0;                               // as cuDriverGetVersion returns it: 13000 is CUDA 13.0
  Artifact::Form takes = Artifact::Form::cubin;  // the form that `library_load_data` loads
  int only_device = -1;                          // ordinal of the only device of this table; -1: the caller chooses

  decltype(&::cuInit) init = nullptr;
  decltype(&::cuDriverGetVersion) driver_get_version = nullptr;
  decltype(&::cuGetErrorName) get_error_name = nullptr;
  decltype(&::cuGetErrorString) get_error_string = nullptr;
  // Only the emulator sets it, else null. Returns the complete text of this thread's last failure, of which
  // cuGetErrorString returns the beginning; null if the thread has none for the result.
  const char* (*failure_report)(CUresult result) = nullptr;

  decltype(&::cuDeviceGetCount) device_get_count = nullptr;
  decltype(&::cuDeviceGet) device_get = nullptr;
  decltype(&::cuDeviceGetName) device_get_name = nullptr;
  decltype(&::cuDeviceGetAttribute) device_get_attribute = nullptr;
  decltype(&::cuDeviceTotalMem) device_total_mem = nullptr;

  decltype(&::cuDevicePrimaryCtxRetain) device_primary_ctx_retain = nullptr;
  decltype(&::cuDevicePrimaryCtxRelease) device_primary_ctx_release = nullptr;
  decltype(&::cuCtxGetCurrent) ctx_get_current = nullptr;
  decltype(&::cuCtxPushCurrent) ctx_push_current = nullptr;
  decltype(&::cuCtxPopCurrent) ctx_pop_current = nullptr;
  decltype(&::cuCtxSynchronize) ctx_synchronize = nullptr;
  decltype(&::cuThreadExchangeStreamCaptureMode) thread_exchange_stream_capture_mode = nullptr;

  decltype(&::cuMemAlloc) mem_alloc = nullptr;
  decltype(&::cuMemFree) mem_free = nullptr;
  decltype(&::cuMemcpyHtoD) memcpy_host_to_device = nullptr;
  decltype(&::cuMemcpyDtoH) memcpy_device_to_host = nullptr;
  decltype(&::cuMemcpyHtoDAsync) memcpy_host_to_device_async = nullptr;
  decltype(&::cuMemcpyDtoHAsync) memcpy_device_to_host_async = nullptr;
  decltype(&::cuMemsetD8Async) memset_d8_async = nullptr;
  decltype(&::cuPointerGetAttributes) pointer_get_attributes = nullptr;  // may be null

  decltype(&::cuStreamCreate) stream_create = nullptr;
  decltype(&::cuStreamDestroy) stream_destroy = nullptr;
  decltype(&::cuStreamSynchronize) stream_synchronize = nullptr;
  decltype(&::cuStreamIsCapturing) stream_is_capturing = nullptr;  // may be null
  // cuStreamGetCaptureInfo_v2, since CUDA 11.3; may be null. Its last three results may be null.
  CUresult(CUDAAPI* stream_capture_info)(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
                                         const CUgraphNode** dependencies, std::size_t* count) = nullptr;
  // What replays launches: all of these, or none; the emulator has none.
  decltype(&::cuStreamBeginCapture) stream_begin_capture = nullptr;
  decltype(&::cuStreamEndCapture) stream_end_capture = nullptr;
  decltype(&::cuGraphInstantiateWithFlags) graph_instantiate = nullptr;
  decltype(&::cuGraphLaunch) graph_launch = nullptr;
  decltype(&::cuGraphDestroy) graph_destroy = nullptr;
  decltype(&::cuGraphExecDestroy) graph_exec_destroy = nullptr;
  decltype(&::cuEventCreate) event_create = nullptr;
  decltype(&::cuEventDestroy) event_destroy = nullptr;
  decltype(&::cuEventRecord) event_record = nullptr;
  decltype(&::cuEventElapsedTime) event_elapsed_time = nullptr;

  decltype(&::cuLibraryLoadData) library_load_data = nullptr;
  decltype(&::cuLibraryUnload) library_unload = nullptr;
  decltype(&::cuLibraryGetKernel) library_get_kernel = nullptr;
  decltype(&::cuKernelGetFunction) kernel_get_function = nullptr;
  decltype(&::cuKernelGetParamInfo) kernel_get_param_info = nullptr;  // since CUDA 12.4; null before
  decltype(&::cuFuncGetAttribute) func_get_attribute = nullptr;
  decltype(&::cuFuncSetAttribute) func_set_attribute = nullptr;
  // Only the emulator sets it, else null. Marks a kernel as a reference: its launches have no shadow memory unless
  // EmulatorSettings::references demands it.
  void (*mark_reference)(CUfunction function) = nullptr;
  decltype(&::cuOccupancyMaxActiveClusters) occupancy_max_active_clusters = nullptr;

  decltype(&::cuTensorMapEncodeTiled) tensor_map_encode_tiled = nullptr;
  decltype(&::cuTensorMapEncodeIm2col) tensor_map_encode_im2col = nullptr;
  decltype(&::cuTensorMapEncodeIm2colWide) tensor_map_encode_im2col_wide = nullptr;  // since CUDA 12.8; null before
  decltype(&::cuTensorMapReplaceAddress) tensor_map_replace_address = nullptr;
  decltype(&::cuLaunchKernelEx) launch_kernel_ex = nullptr;
};

// Owns what the table's functions need.
using SharedApi = std::shared_ptr<const Api>;
// Returns a pointer that does not own the table, which must outlive every use.
inline SharedApi borrowed(const Api& api) {
  return {SharedApi(), &api};
}

// Provides an engine's table: `load`, an emulator's provider, or a test's.
using Provider = std::function<Result<SharedApi>()>;

// Opens libcuda.so.1 and initialises it, once per process; after a failure the next call tries again. The error lists
// every name and folder tried.
[[nodiscard]] Result<SharedApi> load();

// Returns e.g. "CUDA 13.0".
std::string version_text(int version);

// Returns the reason that corresponds to a result.
ErrorReason reason_of(CUresult result);
// Returns e.g. "cuMemAlloc(1048576): CUDA_ERROR_OUT_OF_MEMORY (2): out of memory".
Error error_of(const Api& api, CUresult result, std::string_view call);

// Converts a driver's result; the format describes the call with its values and is evaluated only on failure.
template <class... Args>
[[nodiscard]] Result<void> checked(const Api& api, CUresult result, fmt::format_string<Args...> call, Args&&... args) {
  if (result == CUDA_SUCCESS) [[likely]]
    return {};
  return tl::make_unexpected(error_of(api, result, fmt::format(call, std::forward<Args>(args)...)));
}

}  // namespace tma_jit::driver
