#include "driver/api.h"

#include <unistd.h>

#include <atomic>
#include <mutex>

#include "base/environment.h"
#include "base/fork.h"
#include "base/library.h"
#include "base/text.h"

namespace tma_jit::driver {
namespace {

constexpr std::string_view kName = "libcuda.so.1";

// Folders outside the loader's path on some systems: WSL, NixOS, containers that mount the driver.
constexpr const char* kFolders[] = {"/usr/lib/wsl/lib", "/run/opengl-driver/lib", "/usr/local/nvidia/lib64",
                                    "/usr/lib/aarch64-linux-gnu/nvidia", "/usr/local/cuda/compat"};

// Tries the bare name first, so that the loader's own rules take precedence; then each folder.
Result<Library> open_library() {
  std::vector<std::filesystem::path> candidates = {kName};
  for (const auto& folder : loader_folders(ProcessEnvironment::read().library_path))
    candidates.push_back(folder / kName);
  for (const char* folder : kFolders) candidates.push_back(std::filesystem::path(folder) / kName);
  Error error{
      ErrorCode::driver, "no CUDA driver: libcuda.so.1 could not be opened; tried", {}, ErrorReason::library_missing};
  for (const auto& candidate : candidates) {
    auto library = Library::open(candidate);
    if (library) return library;
    error.detail += attempt_line(candidate, library.error());
  }
  return tl::make_unexpected(std::move(error));
}

// Looks up functions by name and by the CUDA version whose signature cuda.h declares here.
class Binder {
 public:
  explicit Binder(const Library& library) {
    library.find(get_, "cuGetProcAddress_v2");
    if (get_ == nullptr) library.find(get_old_, "cuGetProcAddress");
  }

  template <class Function> void required(Function& function, const char* name, int since = kOldestDriver) {
    function = reinterpret_cast<Function>(find(name, since));
    if (function == nullptr) missing_.emplace_back(name);
  }
  template <class Function> void optional(Function& function, const char* name, int since) {
    function = reinterpret_cast<Function>(find(name, since));
  }
  const std::vector<std::string>& missing() const { return missing_; }

 private:
  // Requests the variants for the legacy stream, because Launch documents its default stream as the legacy one.
  void* find(const char* name, int since) const {
    void* address = nullptr;
    if (get_ != nullptr) {
      CUdriverProcAddressQueryResult status{};
      if (get_(name, &address, since, CU_GET_PROC_ADDRESS_LEGACY_STREAM, &status) != CUDA_SUCCESS) return nullptr;
    } else if (get_old_ != nullptr) {
      if (get_old_(name, &address, since, CU_GET_PROC_ADDRESS_LEGACY_STREAM) != CUDA_SUCCESS) return nullptr;
    }
    return address;
  }

  decltype(&::cuGetProcAddress) get_ = nullptr;
  CUresult (*get_old_)(const char*, void**, int, cuuint64_t) = nullptr;
  std::vector<std::string> missing_;
};

void bind_device(Binder& binder, Api& api) {
  binder.required(api.init, "cuInit");
  binder.required(api.get_error_name, "cuGetErrorName");
  binder.required(api.get_error_string, "cuGetErrorString");
  binder.required(api.device_get_count, "cuDeviceGetCount");
  binder.required(api.device_get, "cuDeviceGet");
  binder.required(api.device_get_name, "cuDeviceGetName");
  binder.required(api.device_get_attribute, "cuDeviceGetAttribute");
  binder.required(api.device_total_mem, "cuDeviceTotalMem");
  binder.required(api.device_primary_ctx_retain, "cuDevicePrimaryCtxRetain");
  binder.required(api.device_primary_ctx_release, "cuDevicePrimaryCtxRelease");
  binder.required(api.ctx_get_current, "cuCtxGetCurrent");
  binder.required(api.ctx_push_current, "cuCtxPushCurrent");
  binder.required(api.ctx_pop_current, "cuCtxPopCurrent");
  binder.required(api.ctx_synchronize, "cuCtxSynchronize");
  binder.required(api.thread_exchange_stream_capture_mode, "cuThreadExchangeStreamCaptureMode");
}

void bind_memory(Binder& binder, Api& api) {
  binder.required(api.mem_alloc, "cuMemAlloc");
  binder.required(api.mem_free, "cuMemFree");
  binder.required(api.memcpy_host_to_device, "cuMemcpyHtoD");
  binder.required(api.memcpy_device_to_host, "cuMemcpyDtoH");
  binder.required(api.memcpy_host_to_device_async, "cuMemcpyHtoDAsync");
  binder.required(api.memcpy_device_to_host_async, "cuMemcpyDtoHAsync");
  binder.required(api.memset_d8_async, "cuMemsetD8Async");
  binder.optional(api.pointer_get_attributes, "cuPointerGetAttributes", 7000);
  binder.required(api.stream_create, "cuStreamCreate");
  binder.required(api.stream_destroy, "cuStreamDestroy");
  binder.required(api.stream_synchronize, "cuStreamSynchronize");
  binder.required(api.event_create, "cuEventCreate");
  binder.required(api.event_destroy, "cuEventDestroy");
  binder.required(api.event_record, "cuEventRecord");
  binder.required(api.event_elapsed_time, "cuEventElapsedTime");
}

void bind_graphs(Binder& binder, Api& api) {
  binder.required(api.stream_begin_capture, "cuStreamBeginCapture");
  binder.required(api.stream_end_capture, "cuStreamEndCapture");
  binder.required(api.graph_instantiate, "cuGraphInstantiateWithFlags");
  binder.required(api.graph_launch, "cuGraphLaunch");
  binder.required(api.graph_destroy, "cuGraphDestroy");
  binder.required(api.graph_exec_destroy, "cuGraphExecDestroy");
}

void bind_kernels(Binder& binder, Api& api) {
  binder.required(api.library_load_data, "cuLibraryLoadData");
  binder.required(api.library_unload, "cuLibraryUnload");
  binder.required(api.library_get_kernel, "cuLibraryGetKernel");
  binder.required(api.kernel_get_function, "cuKernelGetFunction");
  binder.optional(api.stream_is_capturing, "cuStreamIsCapturing", 10000);
  binder.optional(api.stream_capture_info, "cuStreamGetCaptureInfo", 11030);
  binder.optional(api.kernel_get_param_info, "cuKernelGetParamInfo", 12040);
  binder.required(api.func_get_attribute, "cuFuncGetAttribute");
  binder.required(api.func_set_attribute, "cuFuncSetAttribute");
  binder.required(api.occupancy_max_active_clusters, "cuOccupancyMaxActiveClusters");
  binder.required(api.tensor_map_encode_tiled, "cuTensorMapEncodeTiled");
  binder.required(api.tensor_map_encode_im2col, "cuTensorMapEncodeIm2col");
  binder.optional(api.tensor_map_encode_im2col_wide, "cuTensorMapEncodeIm2colWide", kIm2colWideDriver);
  binder.required(api.tensor_map_replace_address, "cuTensorMapReplaceAddress");
  binder.required(api.launch_kernel_ex, "cuLaunchKernelEx");
}

Result<void> refuse_old(const Api& api, const Library& library) {
  if (api.version >= kOldestDriver) return {};
  return failure(
      ErrorCode::driver, ErrorReason::library_outdated,
      "the CUDA driver {} supports {}, and tma-jit needs {} or newer: update the NVIDIA driver (525 or newer)",
      library.path().string(), version_text(api.version), version_text(kOldestDriver));
}

Result<void> initialise(const Api& api) {
  const CUresult result = api.init(0);
  if (result == CUDA_SUCCESS) return {};
  Error error = error_of(api, result, "cuInit(0)");
  if (result == CUDA_ERROR_NO_DEVICE) error.detail = "the driver is there, but it shows this process no GPU";
  return tl::make_unexpected(std::move(error));
}

struct Loaded {
  Library library;
  Api api;
};

Result<std::unique_ptr<const Loaded>> load_once() {
  TMA_JIT_ASSIGN(Library library, open_library());
  auto loaded = std::make_unique<Loaded>();
  Api& api = loaded->api;
  if (library.find(api.driver_get_version, "cuDriverGetVersion")) api.driver_get_version(&api.version);
  TMA_JIT_CHECK(refuse_old(api, library));
  Binder binder(library);
  bind_device(binder, api);
  bind_memory(binder, api);
  bind_graphs(binder, api);
  bind_kernels(binder, api);
  if (!binder.missing().empty()) {
    return failure(ErrorCode::driver, ErrorReason::library_outdated,
                   "the CUDA driver {} ({}) lacks {}: update the NVIDIA driver", library.path().string(),
                   version_text(api.version), joined(binder.missing()));
  }
  TMA_JIT_CHECK(initialise(api));
  loaded->library = std::move(library);
  return loaded;
}

struct Process {
  std::mutex mutex;
  const Loaded* loaded = nullptr;
};

PerProcess<Process>& process = *new PerProcess<Process>;  // leaked, so that it outlives every static object
std::atomic<pid_t> opened_by = 0;  // this process, or the one that it was forked from; set before the driver is opened

}  // namespace

// The library is never unloaded: libcuda does not survive a dlclose, and launches may outlive every engine.
Result<SharedApi> load() {
  Process& own = process.get();
  const std::lock_guard lock(own.mutex);
  if (const pid_t opener = opened_by; opener != 0 && opener != ::getpid()) {
    return failure(
        ErrorCode::driver, ErrorReason::forked,
        "process {} was forked from {}, which had opened CUDA, and CUDA does not survive a fork: fork before "
        "the first call that needs a device, or start a program in the child",
        ::getpid(), opener);
  }
  if (own.loaded == nullptr) {
    const NoFork no_fork;
    opened_by = ::getpid();
    auto fresh = load_once();
    if (!fresh) {
      opened_by = 0;
      return tl::make_unexpected(std::move(fresh).error());
    }
    own.loaded = fresh->release();
  }
  return borrowed(own.loaded->api);
}

std::string version_text(int version) {
  return fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10);
}

ErrorReason reason_of(CUresult result) {
  switch (result) {
    case CUDA_ERROR_NO_DEVICE: return ErrorReason::no_device;
    case CUDA_ERROR_OUT_OF_MEMORY: return ErrorReason::out_of_memory;
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_INVALID_SOURCE:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    case CUDA_ERROR_INVALID_PTX: return ErrorReason::image_refused;
    default: return ErrorReason::unspecified;
  }
}

Error error_of(const Api& api, CUresult result, std::string_view call) {
  const char* name = nullptr;
  const char* text = api.failure_report != nullptr ? api.failure_report(result) : nullptr;
  api.get_error_name(result, &name);
  if (text == nullptr) api.get_error_string(result, &text);
  if (name == nullptr) name = "an error this driver does not name";
  return Error{ErrorCode::driver,
               fmt::format("{}: {} ({}): {}", call, name, static_cast<int>(result), text != nullptr ? text : "?"),
               {},
               reason_of(result)};
}

}  // namespace tma_jit::driver
