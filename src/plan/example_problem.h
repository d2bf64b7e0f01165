// Rates how good an example given dims make for one configuration of a template.
#pragma once

#include <compare>
#include <map>
#include <string>
#include <vector>

#include "plan/preset_configs.h"
#include "plan/values.h"

namespace tma_jit::plan {

// Smaller is better; compared lexicographically.
struct Merit {
  int violations = 0;  // violated rules, limits and conditions of the preset
  bool empty = false;  // whether the grid has no blocks
  int dear = 0;        // how often the cost must be halved for the emulator to take no minutes
  int missing = 0;     // tensors without a second box, dims without a second tile, rings that do not wrap around
  int unusual = 0;     // extents of another kind than requested
  double cost = 0;     // bytes, operations and threads

  friend auto operator<=>(const Merit&, const Merit&) = default;  // NOLINT(modernize-use-nullptr)
};

using Dims = std::map<std::string, std::int64_t>;

class ExampleProblem {
 public:
  // `request` has everything but the dims; params are pinned or keep their defaults.
  ExampleProblem(const templates::Template& kernel, Request request, const DeviceInfo& device,
                 const templates::Expression* when);

  Merit merit(const Dims& dims) const;
  // Returns whether no dims make an example.
  bool hopeless() const { return hopeless_; }
  // Returns whether the dim is one to choose or to be given.
  bool open(const templates::Dim& dim) const { return open_dim(kernel_, dim, request_, device_); }
  const templates::Template& kernel() const { return kernel_; }
  const Request& request() const { return request_; }

 private:
  // Returns the blocks of the grid if there were processors for all of them.
  double blocks(const Dims& dims, const std::vector<std::int64_t>& params) const;
  // Returns whether the number of blocks depends on the dim.
  bool cut(const templates::Dim& dim, Dims dims, const std::vector<std::int64_t>& params) const;
  int violations(const Values& values) const;
  int lone_boxes(const Values& values) const;
  int lone_tiles(const Values& values, const Dims& dims) const;
  double ring_bytes(const Values& values, const std::string& dim, const Dims& tiles) const;
  double cost(const Values& values) const;

  const templates::Template& kernel_;
  const Request request_;
  const DeviceInfo& device_;
  const templates::Expression* const when_;
  DeviceInfo unlimited_;  // the device, with more processors than any grid has blocks
  bool persistent_;       // whether the template uses the number of processors, and the device has few
  bool hopeless_;
  mutable std::map<std::string, bool> cut_;
};

}  // namespace tma_jit::plan
