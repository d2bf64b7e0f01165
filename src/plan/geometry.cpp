#include "plan/geometry.h"

#include <algorithm>
#include <array>

#include "core/failure.h"

namespace tma_jit::plan {
namespace {

using templates::Expression;
using Extent = std::array<std::int64_t, 3>;

// CUDA C++ Programming Guide 13.0, "Technical Specifications per Compute Capability"; equal for all of them.
constexpr Extent kGridMax = {2147483647, 65535, 65535};
constexpr Extent kBlockMax = {1024, 1024, 64};
constexpr std::array<char, 3> kAxes = {'x', 'y', 'z'};
constexpr int kPortableCluster = 8, kLargestCluster = 16;

template <class... Args> tl::unexpected<Error> refusal(fmt::format_string<Args...> format, Args&&... args) {
  return failure(ErrorCode::invalid_argument, format, std::forward<Args>(args)...);
}

struct Bounds {
  std::string_view name;
  std::int64_t min;
  Extent max;
};

Result<std::array<std::uint32_t, 3>> extent(const Values& values, const std::vector<Expression>& expressions,
                                            const Bounds& bounds) {
  std::array<std::uint32_t, 3> result = {1, 1, 1};
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    TMA_JIT_ASSIGN(const std::int64_t value, expressions[i].evaluate(values));
    if (value < bounds.min || value > bounds.max[i]) {
      return refusal("{} {} = {} is outside {}..{}", bounds.name, kAxes[i], value, bounds.min, bounds.max[i]);
    }
    result[i] = static_cast<std::uint32_t>(value);
  }
  return result;
}

std::int64_t volume(const std::array<std::uint32_t, 3>& extent) {
  return std::int64_t{extent[0]} * extent[1] * extent[2];
}

Result<void> check_block(const Geometry& geometry, const DeviceInfo& device) {
  const std::int64_t limit = device.threads_per_block != 0 ? device.threads_per_block : kBlockMax[0];
  if (volume(geometry.block) <= limit) return {};
  return refusal("a block of {} threads; {} takes {}", volume(geometry.block), device.name, limit);
}

Result<void> set_smem(const Values& values, const templates::LaunchShape& launch, Geometry& geometry) {
  if (!launch.smem.has_value()) return {};
  const DeviceInfo& device = *values.binding().device;
  TMA_JIT_ASSIGN(const std::int64_t bytes, launch.smem->evaluate(values));
  if (bytes < 0) return refusal("{} bytes of shared memory", bytes);
  if (device.smem_per_block != 0 && bytes > device.smem_per_block) {
    return refusal("{} bytes of shared memory; a block on {} has {}", bytes, device.name, device.smem_per_block);
  }
  if (bytes > INT32_MAX) return refusal("{} bytes of shared memory", bytes);
  geometry.smem_bytes = static_cast<std::uint32_t>(bytes);
  return {};
}

// Hopper and Blackwell's data center chips have larger clusters than portable ones. How many run at once depends on
// which SMs of a device are enabled: a template that has them requires enough SMs.
std::int64_t largest_cluster(const DeviceInfo& device) {
  const int capability = device.compute_capability;
  const bool larger = capability == 90 || capability == 100 || capability == 103;
  return larger && device.cluster_max == kPortableCluster ? kLargestCluster : std::max(device.cluster_max, 1);
}

Result<void> check_cluster(const Geometry& geometry, const DeviceInfo& device) {
  const std::int64_t limit = largest_cluster(device);
  if (volume(geometry.cluster) > limit) {
    return refusal("a cluster of {} blocks; {} takes {}", volume(geometry.cluster), device.name, limit);
  }
  for (std::size_t i = 0; i < 3; ++i) {
    if (geometry.grid[i] % geometry.cluster[i] == 0) continue;
    return refusal("grid {} = {} is not a multiple of cluster {} = {}", kAxes[i], geometry.grid[i], kAxes[i],
                   geometry.cluster[i]);
  }
  return {};
}

// A block runs on one SM, so that a grid of that many blocks never occupies more.
Result<void> check_budget(const Geometry& geometry, const Request& request) {
  if (request.sm_budget == 0 || volume(geometry.grid) <= request.sm_budget) return {};
  return refusal("{} blocks for a budget of {} SMs; a configuration whose blocks go from tile to tile can have fewer",
                 volume(geometry.grid), request.sm_budget);
}

}  // namespace

Result<void> set_grid(const Values& values, Geometry& geometry) {
  const Binding& binding = values.binding();
  const templates::Template& kernel = *binding.kernel;
  const templates::ReferenceKernel* const stand_in = binding.stand_in();
  const Bounds grid{"grid", 0, kGridMax};
  const Bounds cluster{"cluster", 1, {kLargestCluster, kLargestCluster, kLargestCluster}};
  TMA_JIT_ASSIGN(geometry.grid, extent(values, stand_in != nullptr ? stand_in->grid : kernel.launch.grid, grid));
  if (stand_in != nullptr) return {};
  TMA_JIT_ASSIGN(geometry.cluster, extent(values, kernel.cluster, cluster));
  TMA_JIT_CHECK(check_cluster(geometry, *binding.device));
  return check_budget(geometry, *binding.request);
}

Result<void> set_block(const Values& values, Geometry& geometry) {
  const Binding& binding = values.binding();
  const templates::Template& kernel = *binding.kernel;
  const templates::ReferenceKernel* const stand_in = binding.stand_in();
  const Bounds block{"block", 1, kBlockMax};
  TMA_JIT_ASSIGN(geometry.block, extent(values, stand_in != nullptr ? stand_in->block : kernel.launch.block, block));
  TMA_JIT_CHECK(check_block(geometry, *binding.device));
  return stand_in != nullptr ? Result<void>() : set_smem(values, kernel.launch, geometry);
}

Result<Geometry> geometry_of(const Values& values) {
  Geometry geometry;
  TMA_JIT_CHECK(set_grid(values, geometry));
  TMA_JIT_CHECK(set_block(values, geometry));
  if (values.binding().stand_in() != nullptr) return geometry;
  const templates::LaunchShape& launch = values.binding().kernel->launch;
  geometry.programmatic = launch.programmatic;
  geometry.waits = launch.waits;
  return geometry;
}

}  // namespace tma_jit::plan
