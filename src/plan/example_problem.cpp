// The problem: a good example has at least two tiles along every dim that is split into tiles, and wraps every ring of
// stages around, but neither tiles nor rings are declared. Tiles: if another extent of a dim changes the number of
// blocks of the grid, the dim is split. Rings: a dim that is not split is processed by a loop, usually through a ring
// of stages in shared memory; the ring wraps around if the loop reads more bytes than shared memory holds. Both are
// found by evaluating the grid for different extents.
#include "plan/example_problem.h"

#include <algorithm>
#include <cmath>

#include "plan/condition.h"
#include "plan/extents.h"
#include "plan/search.h"

namespace tma_jit::plan {
namespace {

// Costs of operations and threads relative to a byte, in the emulator's time.
constexpr double kOperationsPerByte = 8;
constexpr double kBytesPerThread = 64;
constexpr double kAffordable = 1 << 27;  // a cost; more counts as worse than to leave a part of a kernel out
constexpr int kManyProcessors = 1 << 20;
constexpr int kFewProcessors = 16;  // with more processors, several tiles for each would need too large a problem
constexpr std::int64_t kManyElements = 1 << 17;

// The request must outlive the result, which refers to it.
std::optional<Binding> bound(const templates::Template& kernel, const Request& request, const DeviceInfo& device) {
  auto binding = bind(kernel, request, device);
  if (!binding) return std::nullopt;
  return std::move(*binding);
}

std::optional<double> product_of(const std::vector<templates::Expression>& extents, const Values& values) {
  double product = 1;
  for (const templates::Expression& extent : extents) {
    const auto value = extent.evaluate(values);
    if (!value) return std::nullopt;
    product *= static_cast<double>(*value);
  }
  return product;
}

std::optional<double> blocks_of(const templates::Template& kernel, const Values& values) {
  return product_of(kernel.launch.grid, values);
}

double value_of(const std::optional<templates::Expression>& expression, const Values& values) {
  return expression ? static_cast<double>(expression->evaluate(values).value_or(0)) : 0;
}

// Returns the extent of a tensor's box along a dimension; 0 if it has none.
std::int64_t box_extent(const templates::Tensor& tensor, std::size_t dimension, const Values& values) {
  if (!tensor.box || tensor.mode != MapMode::tile) return 0;
  return (*tensor.box)[dimension].evaluate(values).value_or(0);
}

}  // namespace

ExampleProblem::ExampleProblem(const templates::Template& kernel, Request request, const DeviceInfo& device,
                               const templates::Expression* when)
    : kernel_(kernel), request_(std::move(request)), device_(device), when_(when), unlimited_(device) {
  unlimited_.sm_count = kManyProcessors;
  persistent_ = device.sm_count <= kFewProcessors &&
                std::ranges::any_of(kernel.references, [](const templates::Reference& reference) {
                  return reference.kind == templates::Reference::Kind::device && reference.name == "sm_count";
                });
  hopeless_ = never_valid(kernel, request_, device, when);
}

double ExampleProblem::blocks(const Dims& dims, const std::vector<std::int64_t>& params) const {
  Request request = request_;
  request.dims = dims;
  const auto binding = bound(kernel_, request, unlimited_);
  if (!binding) return 0;
  Values values(*binding);
  values.set_params(params);
  return blocks_of(kernel_, values).value_or(0);
}

bool ExampleProblem::cut(const templates::Dim& dim, Dims dims, const std::vector<std::int64_t>& params) const {
  const auto known = cut_.find(dim.name);
  if (known != cut_.end()) return known->second;
  dims[dim.name] = std::max<std::int64_t>(dim.min, 1);
  const double few = blocks(dims, params);
  dims[dim.name] = std::min(dim.max, kManyElements);
  return cut_[dim.name] = blocks(dims, params) > few;
}

int ExampleProblem::violations(const Values& values) const {
  const auto conditions = conditions_of(values.binding());
  auto count = std::ranges::count_if(
      conditions, [&](const Condition& condition) { return condition.violated(values).has_value(); });
  if (when_ != nullptr && when_->evaluate(values).value_or(0) == 0) ++count;
  return static_cast<int>(count);
}

// Returns the number of tensor dimensions that a single box covers.
int ExampleProblem::lone_boxes(const Values& values) const {
  int count = 0;
  for (std::size_t i = 0; i < kernel_.tensors.size(); ++i) {
    const auto layout = values.present(i).value_or(false) ? values.layout(i) : Result<Layout>(Layout{});
    if (!layout) continue;
    for (std::size_t d = 0; d < layout->shape.size(); ++d) {
      const std::int64_t box = box_extent(kernel_.tensors[i], d, values);
      if (box > 1 && layout->shape[d] <= box) ++count;
    }
  }
  return count;
}

// Returns the bytes that one step along a dim loads into shared memory: a tile of each input that has the dim.
double ExampleProblem::ring_bytes(const Values& values, const std::string& dim, const Dims& tiles) const {
  double bytes = 0;
  for (std::size_t i = 0; i < kernel_.tensors.size(); ++i) {
    const templates::Tensor& tensor = kernel_.tensors[i];
    const bool walks = std::ranges::any_of(tensor.shape, [&](const auto& entry) { return entry.single_name() == dim; });
    const auto layout = values.present(i).value_or(false) ? values.layout(i) : Result<Layout>(Layout{});
    if (tensor.output || !walks || !layout) continue;
    auto tile = static_cast<double>(size_of(values.binding().type_of(tensor.type)));
    for (std::size_t d = 0; d < layout->shape.size(); ++d) {
      const auto name = tensor.shape[d].single_name();
      if (name == dim) continue;
      const auto found = name ? tiles.find(std::string(*name)) : tiles.end();
      const std::int64_t by_grid = found != tiles.end() ? found->second : layout->shape[d];
      tile *= static_cast<double>(std::max(box_extent(tensor, d, values), by_grid));
    }
    bytes += tile;
  }
  return bytes;
}

int ExampleProblem::lone_tiles(const Values& values, const Dims& dims) const {
  const double all = blocks(dims, values.params());
  int count = persistent_ && all <= blocks_of(kernel_, values).value_or(0) ? 1 : 0;
  Dims tiles;
  std::vector<std::string> walked;
  for (const templates::Dim& dim : kernel_.dims) {
    const auto own = dims.find(dim.name);
    if (own == dims.end() || !counts_elements(dim)) continue;
    if (!cut(dim, dims, values.params())) {
      walked.push_back(dim.name);
      continue;
    }
    Dims without = dims;
    without[dim.name] = std::max<std::int64_t>(dim.min, 1);
    const double rest = blocks(without, values.params());
    count += all > rest ? 0 : 1;
    if (all > 0) tiles[dim.name] = static_cast<std::int64_t>(std::ceil(static_cast<double>(own->second) * rest / all));
  }
  const double shared = value_of(kernel_.launch.smem, values);
  for (const std::string& dim : walked) {
    const double bytes = ring_bytes(values, dim, tiles);
    if (bytes == 0 || static_cast<double>(dims.at(dim)) * bytes <= shared) ++count;
  }
  return count;
}

double ExampleProblem::cost(const Values& values) const {
  double bytes = 0;
  for (std::size_t i = 0; i < kernel_.tensors.size(); ++i) {
    const auto layout = values.present(i).value_or(false) ? values.layout(i) : Result<Layout>(Layout{});
    if (!layout) continue;
    auto size = static_cast<double>(size_of(values.binding().type_of(kernel_.tensors[i].type)));
    for (const std::int64_t extent : layout->shape) size *= static_cast<double>(extent);
    bytes += layout->shape.empty() ? 0 : size;
  }
  const double threads = blocks_of(kernel_, values).value_or(0) * product_of(kernel_.launch.block, values).value_or(0);
  return bytes + value_of(kernel_.work.flops, values) / kOperationsPerByte + threads * kBytesPerThread;
}

Merit ExampleProblem::merit(const Dims& dims) const {
  constexpr int kUnbound = 1000;
  Request request = request_;
  request.dims = dims;
  const auto binding = bound(kernel_, request, device_);
  if (!binding) return {kUnbound};
  Search search(*binding);
  const Values& values = search.values();
  Merit merit{violations(values), blocks_of(kernel_, values) == 0};
  merit.cost = cost(values);
  merit.dear = merit.cost > kAffordable ? 1 + std::ilogb(merit.cost / kAffordable) : 0;
  if (merit.violations == 0) merit.missing = lone_boxes(values) + lone_tiles(values, dims);
  return merit;
}

}  // namespace tma_jit::plan
