#include "emulator/driver/launch.h"

#include <algorithm>
#include <utility>

#include "emulator/driver/parameters.h"

#include "emulator/observe/trace.h"

namespace tma_jit::emulator::driver {
namespace {

constexpr u32 kMostGridYZ = 65535;
constexpr u32 kMostGridX = 0x7fffffff;
constexpr u32 kMostBlockZ = 64;
constexpr u32 kPortableCluster = 8;
constexpr u32 kLargestCluster = 16;
constexpr std::size_t kMostEarlier = 8;  // launches that are taken to run at once

u64 product(const Dim3& extents) {
  return u64{extents[0]} * extents[1] * extents[2];
}
std::string text(const Dim3& extents) {
  return fmt::format("[{}, {}, {}]", extents[0], extents[1], extents[2]);
}
bool given(const Dim3& extents) {
  return extents[0] != 0;
}

LaunchShape shape_of(const Kernel& kernel, const CUlaunchConfig& config) {
  LaunchShape shape;
  shape.grid = {config.gridDimX, config.gridDimY, config.gridDimZ};
  shape.block = {config.blockDimX, config.blockDimY, config.blockDimZ};
  shape.dynamic_shared = config.sharedMemBytes;
  const Dim3& required = kernel.program->function->cluster;
  if (given(required)) shape.cluster = required;
  shape.explicit_cluster = given(required);
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const CUlaunchAttribute& attribute = config.attrs[i];
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) shape.cooperative = attribute.value.cooperative != 0;
    if (attribute.id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) continue;
    const auto& dim = attribute.value.clusterDim;
    const Dim3 requested = {dim.x, dim.y, dim.z};
    if (given(required) && requested != required) {
      throw_fault(FaultKind::launch, "a cluster of {}; the kernel was compiled for {}", text(requested),
                  text(required));
    }
    shape.cluster = requested;
    shape.explicit_cluster = true;
  }
  return shape;
}

bool is_programmatic(const CUlaunchConfig& config) {
  return std::any_of(config.attrs, config.attrs + config.numAttrs, [](const CUlaunchAttribute& attribute) {
    return attribute.id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION &&
           attribute.value.programmaticStreamSerializationAllowed != 0;
  });
}

void check_extents(const LaunchShape& shape) {
  const Dim3& grid = shape.grid;
  const Dim3& block = shape.block;
  if (product(grid) == 0 || grid[0] > kMostGridX || grid[1] > kMostGridYZ || grid[2] > kMostGridYZ) {
    throw_fault(FaultKind::launch, "a grid of {}; the extents go from 1 to {}, {} and {}", text(grid), kMostGridX,
                kMostGridYZ, kMostGridYZ);
  }
  if (product(block) == 0 || block[2] > kMostBlockZ || block[0] > 1024 || block[1] > 1024) {
    throw_fault(FaultKind::launch, "a block of {}; the extents go from 1 to 1024, 1024 and {}", text(block),
                kMostBlockZ);
  }
}

void check_block(const Kernel& kernel, const LaunchShape& shape) {
  const ptx::Function& function = *kernel.program->function;
  const u64 threads = product(shape.block);
  u64 most = static_cast<u64>(kernel.library->device.info.threads_per_block);
  if (given(function.max_threads)) most = std::min(most, product(function.max_threads));
  if (threads > most)
    throw_fault(FaultKind::launch, "a block of {} threads; the kernel takes at most {}", threads, most);
  if (given(function.required_threads) && shape.block != function.required_threads) {
    throw_fault(FaultKind::launch, "a block of {}; the kernel was compiled for {}", text(shape.block),
                text(function.required_threads));
  }
}

void check_cluster(const Kernel& kernel, const LaunchShape& shape) {
  if (kernel.program->function->explicit_cluster && !shape.explicit_cluster) {
    throw_fault(FaultKind::launch, "no cluster; the kernel was compiled with .explicitcluster, for launches with one");
  }
  const u64 blocks = product(shape.cluster);
  const u32 most = kernel.large_clusters ? kLargestCluster : kPortableCluster;
  const int supported = kernel.library->device.info.cluster_max;
  if (blocks == 0 || blocks > most || (supported <= 1 && blocks > 1)) {
    throw_fault(FaultKind::launch, "a cluster of {}; {} takes 1 to {} blocks", text(shape.cluster),
                kernel.library->device.info.name, supported <= 1 ? 1 : most);
  }
  for (std::size_t i = 0; i < 3; ++i) {
    if (shape.grid[i] % shape.cluster[i] == 0) continue;
    throw_fault(FaultKind::launch, "a grid of {} is not a multiple of the cluster {}", text(shape.grid),
                text(shape.cluster));
  }
}

u64 shared_of(const Kernel& kernel, const LaunchShape& shape) {
  return kernel.program->shared_bytes - kReservedShared + u64{shape.dynamic_shared};
}

// The driver API does not pass the number of arguments; only a missing array can be detected.
void check_arguments(const Kernel& kernel, void** arguments) {
  const std::size_t count = kernel.program->parameters.size();
  if (count == 0) return;
  if (arguments == nullptr) throw_fault(FaultKind::launch, "no arguments; the kernel takes {}", count);
  for (std::size_t i = 0; i < count; ++i) {
    if (arguments[i] == nullptr) throw_fault(FaultKind::launch, "argument {} of {} is a null pointer", i, count);
  }
}

void check_shared(const Kernel& kernel, const LaunchShape& shape) {
  const DeviceInfo& info = kernel.library->device.info;
  if (shape.dynamic_shared > kernel.most_dynamic_shared) {
    throw_fault(FaultKind::launch, "{} bytes of dynamic shared memory; the kernel's attribute allows {}",
                shape.dynamic_shared, kernel.most_dynamic_shared);
  }
  if (shared_of(kernel, shape) > static_cast<u64>(info.smem_per_block)) {
    throw_fault(FaultKind::launch, "{} bytes of shared memory a block; {} has {}", shared_of(kernel, shape), info.name,
                info.smem_per_block);
  }
}

u64 resident_blocks(const Kernel& kernel, const LaunchShape& shape) {
  const DeviceInfo& info = kernel.library->device.info;
  const u64 shared = shared_of(kernel, shape) + kReservedShared;
  const u64 blocks_of_sm = std::min(static_cast<u64>(info.smem_per_sm) / shared,
                                    static_cast<u64>(info.threads_per_sm) / product(shape.block));
  return static_cast<u64>(info.sm_count) * blocks_of_sm;
}

void check_cooperative(const Kernel& kernel, const LaunchShape& shape) {
  if (!shape.cooperative) return;
  const u64 blocks = product(shape.grid), most = resident_blocks(kernel, shape);
  if (blocks > most) {
    throw_fault(FaultKind::too_large,
                "a cooperative launch of {} blocks; {} has room for {} of {} threads and {} bytes of shared memory",
                blocks, kernel.library->device.info.name, most, product(shape.block), shared_of(kernel, shape));
  }
}

// The workspace of grid-wide barriers in a cooperative launch, which the driver provides: {bytes, barrier}.
class GridWorkspace {
 public:
  explicit GridWorkspace(GlobalMemory& memory) : memory_(memory) {
    memory_.register_external(address(), sizeof words_, "the workspace of the grid's barriers", false);
  }
  ~GridWorkspace() { memory_.unregister_external(address()); }
  GridWorkspace(const GridWorkspace&) = delete;
  GridWorkspace& operator=(const GridWorkspace&) = delete;
  u64 address() const { return reinterpret_cast<u64>(words_); }

 private:
  GlobalMemory& memory_;
  alignas(16) u32 words_[2] = {sizeof words_, 0};
};

}  // namespace

void launch(Kernel& kernel, const CUlaunchConfig& config, void** arguments) {
  LaunchShape shape = shape_of(kernel, config);
  check_extents(shape);
  check_block(kernel, shape);
  check_cluster(kernel, shape);
  check_shared(kernel, shape);
  check_cooperative(kernel, shape);
  check_arguments(kernel, arguments);
  Device& device = kernel.library->device;
  Settings settings;
  {
    const std::lock_guard lock(device.settings_mutex);
    settings = device.settings;
  }
  const std::lock_guard lock(device.launch_mutex);
  settings.races = settings.checks && (settings.references || !kernel.reference);
  const Parameters parameters(*kernel.program, device.memory, arguments);
  if (!settings.checks) device.memory.assume_all_written();  // writes of this kernel are not tracked
  shape.parameters = parameters.address();
  const GridWorkspace workspace(device.memory);
  if (shape.cooperative) shape.grid_workspace = workspace.address();
  EarlierLaunches earlier = std::exchange(device.earlier, {});
  if (device.separated.exchange(false) || device.stream != config.hStream || !is_programmatic(config)) earlier.clear();
  Machine machine(*kernel.program, shape, device.memory, device.info, settings);
  if (!settings.trace.empty()) machine.observe(std::make_unique<observe::Trace>(machine));
  machine.follow(earlier);
  device.last = machine.run();
  device.stream = config.hStream;
  auto record = machine.record();
  if (record == nullptr) return;
  if (earlier.size() == kMostEarlier) earlier.erase(earlier.begin());
  earlier.push_back(std::move(record));
  device.earlier = std::move(earlier);
}

int active_clusters(const Kernel& kernel, const CUlaunchConfig& config) {
  const LaunchShape shape = shape_of(kernel, config);
  check_extents(shape);
  check_block(kernel, shape);
  check_cluster(kernel, shape);
  return static_cast<int>(resident_blocks(kernel, shape) / product(shape.cluster));
}

}  // namespace tma_jit::emulator::driver
