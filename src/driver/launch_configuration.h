// A plan's geometry in the driver's form.
#pragma once

#include <array>

#include <cuda.h>

#include <tma_jit/plan.h>

namespace tma_jit::driver {

// Contains the attributes to which its CUlaunchConfig points, and is therefore not movable. Immutable and shared by
// threads: a launch copies the CUlaunchConfig to set its stream.
class LaunchConfiguration {
 public:
  explicit LaunchConfiguration(const Geometry& geometry);
  LaunchConfiguration(const LaunchConfiguration&) = delete;
  LaunchConfiguration& operator=(const LaunchConfiguration&) = delete;

  const CUlaunchConfig& config() const { return config_; }
  bool empty() const { return config_.gridDimX == 0 || config_.gridDimY == 0 || config_.gridDimZ == 0; }

 private:
  void add_cluster(const std::array<std::uint32_t, 3>& cluster);
  void add_programmatic();

  std::array<CUlaunchAttribute, 2> attributes_{};
  CUlaunchConfig config_{};
};

}  // namespace tma_jit::driver
