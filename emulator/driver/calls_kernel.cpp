// Libraries, kernels and launches.
#include <algorithm>
#include <string_view>

#include "emulator/driver/calls.h"
#include "emulator/driver/launch.h"
#include "emulator/driver/library.h"

namespace tma_jit::emulator::driver {
namespace {

constexpr int kRegisters = 32;  // an estimate for reports, because PTX has no register allocation

Kernel& kernel_of(CUfunction function) {
  return *reinterpret_cast<Kernel*>(function);
}

// NOLINTNEXTLINE(readability-function-size): the driver's parameters
CUresult load_library(CUlibrary* library, const void* code, CUjit_option*, void**, unsigned, CUlibraryOption*, void**,
                      unsigned) {
  Device* device = current_device();
  if (device == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (library == nullptr || code == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return guarded([&] {
    const auto* text = static_cast<const char*>(code);
    if (std::string_view(text).starts_with("\x7f\x45LF"))
      throw_fault(FaultKind::unsupported, "the emulator runs PTX, and was given a cubin");
    auto made = std::make_unique<Library>(*device, std::string(text));
    if (made->module->target.substr(0, 3) != "sm_")
      throw_fault(FaultKind::syntax, "the target {} is no sm_", made->module->target);
    *library = reinterpret_cast<CUlibrary>(made.release());
    return CUDA_SUCCESS;
  });
}

CUresult unload_library(CUlibrary library) {
  delete reinterpret_cast<Library*>(library);
  return CUDA_SUCCESS;
}

CUresult get_kernel(CUkernel* kernel, CUlibrary library, const char* name) {
  return guarded([&] {
    Kernel* found = reinterpret_cast<Library*>(library)->kernel(name);
    if (found == nullptr) return CUDA_ERROR_NOT_FOUND;
    *kernel = reinterpret_cast<CUkernel>(found);
    return CUDA_SUCCESS;
  });
}

CUresult get_function(CUfunction* function, CUkernel kernel) {
  *function = reinterpret_cast<CUfunction>(kernel);
  return CUDA_SUCCESS;
}

CUresult parameter_info(CUkernel kernel, std::size_t index, std::size_t* offset, std::size_t* size) {
  const Program& program = *reinterpret_cast<Kernel*>(kernel)->program;
  if (index >= program.parameters.size()) return CUDA_ERROR_INVALID_VALUE;
  *offset = program.parameters[index].offset;
  if (size != nullptr) *size = program.parameters[index].size;
  return CUDA_SUCCESS;
}

int most_threads(const Kernel& kernel) {
  const Dim3& most = kernel.program->function->max_threads;
  const Dim3& required = kernel.program->function->required_threads;
  const int limit = kernel.library->device.info.threads_per_block;
  if (required[0] != 0) return static_cast<int>(required[0] * required[1] * required[2]);
  return most[0] != 0 ? std::min(limit, static_cast<int>(most[0] * most[1] * most[2])) : limit;
}

CUresult get_attribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  const Kernel& kernel = kernel_of(function);
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = most_threads(kernel); break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = kRegisters; break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *value = static_cast<int>(kernel.program->shared_bytes - kReservedShared);
      break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = static_cast<int>(kernel.program->local_bytes); break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *value = static_cast<int>(kernel.most_dynamic_shared); break;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: *value = kernel.large_clusters ? 1 : 0; break;
    default: *value = 0;
  }
  return CUDA_SUCCESS;
}

CUresult set_attribute(CUfunction function, CUfunction_attribute attribute, int value) {
  Kernel& kernel = kernel_of(function);
  if (attribute == CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED) {
    kernel.large_clusters = value != 0;
    return CUDA_SUCCESS;
  }
  if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) return CUDA_ERROR_INVALID_VALUE;
  const s64 fixed = kernel.program->shared_bytes - kReservedShared;
  if (value < 0 || value + fixed > kernel.library->device.info.smem_per_block) return CUDA_ERROR_INVALID_VALUE;
  kernel.most_dynamic_shared = static_cast<u32>(value);
  return CUDA_SUCCESS;
}

void mark_reference(CUfunction function) {
  Kernel& kernel = kernel_of(function);
  const std::lock_guard lock(kernel.library->device.launch_mutex);
  kernel.reference = true;
}

CUresult count_clusters(int* clusters, CUfunction function, const CUlaunchConfig* config) {
  return guarded([&] {
    *clusters = active_clusters(kernel_of(function), *config);
    return CUDA_SUCCESS;
  });
}

CUresult launch_kernel(const CUlaunchConfig* config, CUfunction function, void** arguments, void** extra) {
  if (current_device() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return guarded([&] {
    if (extra != nullptr)
      throw_fault(FaultKind::unsupported, "the emulator takes arguments as pointers, not in one buffer");
    launch(kernel_of(function), *config, arguments);
    return CUDA_SUCCESS;
  });
}

}  // namespace

void fill_kernel_calls(tma_jit::driver::Api& api) {
  api.library_load_data = load_library;
  api.library_unload = unload_library;
  api.library_get_kernel = get_kernel;
  api.kernel_get_function = get_function;
  api.kernel_get_param_info = parameter_info;
  api.func_get_attribute = get_attribute;
  api.func_set_attribute = set_attribute;
  api.mark_reference = mark_reference;
  api.occupancy_max_active_clusters = count_clusters;
  api.launch_kernel_ex = launch_kernel;
}

}  // namespace tma_jit::emulator::driver
