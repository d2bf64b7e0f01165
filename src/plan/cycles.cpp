#include "plan/cycles.h"

#include <limits>

#include "plan/geometry.h"

namespace tma_jit::plan {
namespace {

// The groups of SMs (GPCs) of a device with clusters, at most. All blocks of a cluster run in one.
constexpr std::int64_t kGroups = 8;

// Whether clusters that need nearly all SMs of a budget may find no room before others have ended: what other kernels
// leave free in each group may be some SMs more than whole clusters take.
bool clusters_may_wait(const Values& values) {
  const int budget = values.binding().request->sm_budget;
  if (budget == 0 || values.binding().device->sm_count < budget) return false;
  Geometry geometry;
  if (!set_grid(values, geometry)) return false;
  const auto blocks = [](const std::array<std::uint32_t, 3>& extent) {
    return std::int64_t{extent[0]} * extent[1] * extent[2];
  };
  const std::int64_t cluster = blocks(geometry.cluster);
  return cluster > 1 && blocks(geometry.grid) + kGroups * (cluster - 1) > budget;
}

}  // namespace

std::optional<std::int64_t> cycles_of(const Values& values) {
  const auto& stated = values.binding().kernel->work.cycles;
  if (!stated.has_value()) return std::nullopt;
  const auto cycles = stated->evaluate(values);
  if (!cycles) return std::nullopt;
  const bool twice = *cycles <= std::numeric_limits<std::int64_t>::max() / 2 && clusters_may_wait(values);
  return twice ? 2 * *cycles : *cycles;
}

}  // namespace tma_jit::plan
