// How good an example some dims make for one configuration of a template.
#pragma once

#include <compare>
#include <map>
#include <string>
#include <vector>

#include "plan/preset_configs.h"
#include "plan/values.h"

namespace tma_jit::plan {

// The less the better, the first member counting most.
struct Merit {
  int violations = 0;  // rules, limits and the preset's condition that do not hold
  int missing = 0;     // tensors without a second box, dims without a second tile, rings that do not go round
  int unusual = 0;     // extents of another sort than the one that is asked for
  double cost = 0;     // bytes and operations

  friend auto operator<=>(const Merit&, const Merit&) = default;
};

using Dims = std::map<std::string, std::int64_t>;

class ExampleProblem {
 public:
  // `request` has all but the dims; params are pinned or keep their defaults.
  ExampleProblem(const templates::Template& kernel, Request request, const DeviceInfo& device,
                 const templates::Expression* when);

  Merit merit(const Dims& dims) const;
  const templates::Template& kernel() const { return kernel_; }
  const Request& request() const { return request_; }

 private:
  // Of the grid, were there processors for all of them.
  double blocks(const Dims& dims, const std::vector<std::int64_t>& params) const;
  // Whether the number of blocks depends on the dim.
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
  bool persistent_;       // the template asks for the number of processors, and there are few
  mutable std::map<std::string, bool> cut_;
};

}  // namespace tma_jit::plan
