#include "driver/kernel.h"

#include <algorithm>

#include "base/profile.h"
#include "driver/argument_buffer.h"
#include "driver/launch_configuration.h"

namespace tma_jit::driver {
namespace {

constexpr std::uint32_t kPortableCluster = 8;
constexpr std::uint32_t kLargestCluster = 16;

std::uint32_t product(const std::array<std::uint32_t, 3>& extents) {
  return extents[0] * extents[1] * extents[2];
}

// Returns whether the driver rejected the image: it is damaged (bytes that are not ELF are taken for PTX), is for
// another target, or lacks the kernel.
bool is_refusal(CUresult result) {
  return reason_of(result) == ErrorReason::image_refused || result == CUDA_ERROR_INVALID_VALUE ||
         result == CUDA_ERROR_NOT_FOUND || result == CUDA_ERROR_JIT_COMPILER_NOT_FOUND ||
         result == CUDA_ERROR_JIT_COMPILATION_DISABLED || result == CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND ||
         result == CUDA_ERROR_SHARED_OBJECT_INIT_FAILED;
}

// Describes the rejected image and the machine, so that an old driver or a wrong target is obvious.
std::string both_sides(const Context& context, const Artifact& artifact, std::string_view compiler) {
  const DeviceInfo& device = context.device();
  std::string text = fmt::format("the {} is for {}, built by {}; the device is {} ({}), its driver {}",
                                 artifact.form == Artifact::Form::ptx ? "PTX" : "cubin", artifact.arch,
                                 compiler.empty() ? "an unknown compiler" : compiler, device.name, device.arch,
                                 version_text(context.api().version));
  text +=
      artifact.arch == device.arch
          ? "\na driver runs the cubins of its own CUDA release and of older ones: update the driver, or build with "
            "an NVRTC that is not newer than it"
          : "\na cubin for another target does not run here: build for " + device.arch;
  return text;
}

Result<CUlibrary> load_library(const Context& context, const Artifact& artifact, std::string_view compiler,
                               bool& refused) {
  const Api& api = context.api();
  CUlibrary library = nullptr;
  const CUresult result =
      api.library_load_data(&library, artifact.bytes.data(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  if (result == CUDA_SUCCESS) return library;
  const std::string call = fmt::format("cuLibraryLoadData({}, {} bytes)", artifact.entry, artifact.bytes.size());
  Error error = error_of(api, result, call);
  refused = is_refusal(result);
  if (error.reason == ErrorReason::image_refused) error.detail = both_sides(context, artifact, compiler);
  return tl::make_unexpected(std::move(error));
}

std::string count_of(std::size_t parameters) {
  return fmt::format("{} parameter{}", parameters, parameters == 1 ? "" : "s");
}

struct Parameter {
  std::string_view name;
  std::size_t bytes = 0;
};

// Returns the kernel's parameters as planned: the entries of a list are one.
std::vector<Parameter> parameters_of(std::span<const Argument> arguments) {
  std::vector<Parameter> parameters;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Argument& argument = arguments[i];
    if (argument.hooks_offset.has_value()) break;  // operands come last
    if (begins_parameter(arguments, i)) parameters.push_back({argument.list.empty() ? argument.name : argument.list});
    parameters.back().bytes += argument.image.size();
  }
  return parameters;
}

}  // namespace

Result<SharedKernel> Kernel::load(const SharedContext& context, const Artifact& artifact, std::string_view compiler,
                                  bool* refused) {
  bool unheard = false;
  bool& fault = refused != nullptr ? *refused : unheard;
  const profile::Range range("load", artifact.entry);
  TMA_JIT_ASSIGN([[maybe_unused]] const Scope scope, Scope::enter(*context));
  std::shared_ptr<Kernel> kernel(new Kernel(context, artifact.entry));
  TMA_JIT_ASSIGN(kernel->library_, load_library(*kernel->context_, artifact, compiler, fault));
  TMA_JIT_CHECK(kernel->find_function(fault));
  return kernel;
}

Kernel::~Kernel() {
  if (library_ == nullptr) return;
  const auto scope = Scope::enter(*context_);
  if (scope) context_->api().library_unload(library_);
}

Result<void> Kernel::find_function(bool& refused) {
  const Api& api = context_->api();
  CUkernel kernel = nullptr;
  const CUresult found = api.library_get_kernel(&kernel, library_, name_.c_str());
  refused = is_refusal(found);
  TMA_JIT_CHECK(checked(api, found, "cuLibraryGetKernel({})", name_));
  const CUresult loaded = api.kernel_get_function(&function_, kernel);  // may load the code only now (lazy loading)
  refused = is_refusal(loaded);
  TMA_JIT_CHECK(checked(api, loaded, "cuKernelGetFunction({})", name_));
  return read_parameters(kernel);
}

// The driver has no call for the number of parameters: it is the first index for which the query fails.
Result<void> Kernel::read_parameters(CUkernel kernel) {
  const Api& api = context_->api();
  if (api.kernel_get_param_info == nullptr) return {};
  while (true) {
    std::size_t offset = 0;
    std::size_t size = 0;
    const CUresult result = api.kernel_get_param_info(kernel, parameters_.size(), &offset, &size);
    if (result == CUDA_ERROR_INVALID_VALUE) break;
    TMA_JIT_CHECK(checked(api, result, "cuKernelGetParamInfo({}, {})", name_, parameters_.size()));
    parameters_.push_back(size);
  }
  parameters_known_ = true;
  return {};
}

Result<void> Kernel::check_arguments(std::span<const Argument> arguments) const {
  if (!parameters_known_) return {};
  // Compares sizes instead of offsets: the driver counts offsets from the start of its parameter bank, which is less
  // aligned than a tensor map, so that the first parameter need not be at 0 (48 on an H100).
  const std::vector<Parameter> planned = parameters_of(arguments);
  for (std::size_t i = 0; i < std::min(planned.size(), parameters_.size()); ++i) {
    if (planned[i].bytes == parameters_[i]) continue;
    return failure(
        ErrorCode::driver,
        "{}: argument {} ({}) is {} bytes in the plan and {} bytes in the compiled kernel: its signature does "
        "not follow the manifest",
        name_, i, planned[i].name, planned[i].bytes, parameters_[i]);
  }
  if (planned.size() == parameters_.size()) return {};
  const bool more = planned.size() > parameters_.size();
  return failure(ErrorCode::driver, "{}: the plan gives {} and the compiled kernel takes {}{}", name_,
                 count_of(planned.size()), count_of(parameters_.size()),
                 more ? fmt::format("; the first too many is {}", planned[parameters_.size()].name) : "");
}

Result<int> Kernel::attribute(CUfunction_attribute attribute) const {
  const Api& api = context_->api();
  int value = 0;
  TMA_JIT_CHECK(checked(api, api.func_get_attribute(&value, attribute, function_), "cuFuncGetAttribute({}, {})", name_,
                        static_cast<int>(attribute)));
  return value;
}

Result<void> Kernel::set_attribute(CUfunction_attribute attribute, int value) const {
  const Api& api = context_->api();
  return checked(api, api.func_set_attribute(function_, attribute, value), "cuFuncSetAttribute({}, {}, {})", name_,
                 static_cast<int>(attribute), value);
}

void Kernel::mark_reference() const {
  if (context_->api().mark_reference != nullptr) context_->api().mark_reference(function_);
}

Result<void> Kernel::admit(const Geometry& geometry) const {
  if (product(geometry.grid) == 0) return {};
  TMA_JIT_ASSIGN([[maybe_unused]] const Scope scope, Scope::enter(*context_));
  const std::lock_guard lock(attributes_mutex_);
  TMA_JIT_CHECK(admit_block(geometry));
  TMA_JIT_CHECK(admit_shared_memory(geometry.smem_bytes));
  return admit_cluster(geometry);
}

Result<void> Kernel::admit_block(const Geometry& geometry) const {
  TMA_JIT_ASSIGN(const int most, attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
  const std::uint32_t threads = product(geometry.block);
  if (threads > 0 && threads <= static_cast<std::uint32_t>(most)) return {};
  TMA_JIT_ASSIGN(const int registers, attribute(CU_FUNC_ATTRIBUTE_NUM_REGS));
  return failure(ErrorCode::invalid_argument,
                 "{}: a block of {} threads; as compiled ({} registers a thread) it takes 1 to {}", name_, threads,
                 registers, most);
}

Result<void> Kernel::admit_shared_memory(std::uint32_t dynamic_bytes) const {
  TMA_JIT_ASSIGN(const int allowed, attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES));
  if (std::int64_t{dynamic_bytes} <= allowed) return {};
  TMA_JIT_ASSIGN(const int fixed, attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
  const std::int64_t limit = context_->device().smem_per_block;
  if (std::int64_t{dynamic_bytes} + fixed > limit) {
    return failure(ErrorCode::invalid_argument,
                   "{}: {} bytes of dynamic and {} of static shared memory a block, and {} allows {}", name_,
                   dynamic_bytes, fixed, context_->device().name, limit);
  }
  return set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(dynamic_bytes));
}

Result<void> Kernel::admit_cluster(const Geometry& geometry) const {
  const std::uint32_t blocks = product(geometry.cluster);
  if (blocks == 1) return {};
  if (blocks == 0 || blocks > kLargestCluster) {
    return failure(ErrorCode::invalid_argument, "{}: a cluster of {} blocks; devices take 1 to {}", name_, blocks,
                   kLargestCluster);
  }
  for (std::size_t i = 0; i < 3; ++i) {
    if (geometry.grid[i] % geometry.cluster[i] == 0) continue;
    return failure(ErrorCode::invalid_argument, "{}: a grid of {} blocks in {} is not a multiple of the cluster's {}",
                   name_, geometry.grid[i], "xyz"[i], geometry.cluster[i]);
  }
  if (blocks > kPortableCluster) TMA_JIT_CHECK(set_attribute(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
  const Api& api = context_->api();
  LaunchConfiguration configuration(geometry);
  int clusters = 0;
  TMA_JIT_CHECK(checked(api, api.occupancy_max_active_clusters(&clusters, function_, &configuration.config()),
                        "cuOccupancyMaxActiveClusters({}, {} blocks)", name_, blocks));
  if (clusters > 0) return {};
  return failure(ErrorCode::invalid_argument, "{}: {} has no room for one cluster of {} blocks with {} bytes each",
                 name_, context_->device().name, blocks, geometry.smem_bytes);
}

}  // namespace tma_jit::driver
