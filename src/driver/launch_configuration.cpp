#include "driver/launch_configuration.h"

namespace tma_jit::driver {

LaunchConfiguration::LaunchConfiguration(const Geometry& geometry) {
  config_.gridDimX = geometry.grid[0];
  config_.gridDimY = geometry.grid[1];
  config_.gridDimZ = geometry.grid[2];
  config_.blockDimX = geometry.block[0];
  config_.blockDimY = geometry.block[1];
  config_.blockDimZ = geometry.block[2];
  config_.sharedMemBytes = geometry.smem_bytes;
  config_.attrs = attributes_.data();
  if (geometry.cluster != std::array<std::uint32_t, 3>{1, 1, 1}) add_cluster(geometry.cluster);
  if (geometry.programmatic) add_programmatic();
}

void LaunchConfiguration::add_cluster(const std::array<std::uint32_t, 3>& cluster) {
  CUlaunchAttribute& attribute = attributes_[config_.numAttrs++];
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim.x = cluster[0];
  attribute.value.clusterDim.y = cluster[1];
  attribute.value.clusterDim.z = cluster[2];
}

void LaunchConfiguration::add_programmatic() {
  CUlaunchAttribute& attribute = attributes_[config_.numAttrs++];
  attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  attribute.value.programmaticStreamSerializationAllowed = 1;
}

}  // namespace tma_jit::driver
