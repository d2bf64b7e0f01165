#include "plan/layout_reason.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include <tma_jit/estimate.h>

#include "base/text.h"
#include "plan/values.h"
#include "template/template.h"

namespace tma_jit::plan {
namespace {

constexpr std::int64_t kRow = 16;  // bytes; TMA and vector accesses need addresses and rows that are multiples of it
constexpr std::int64_t kAligned = 256;  // bytes; no kernel benefits from more alignment
constexpr double kSameSpeed = 0.95;

// One property of a tensor's layout that may exclude kernels.
struct Trait {
  std::size_t tensor;                    // index in the request
  std::string text;                      // "A begins at 1 byte"
  std::function<void(Tensor&)> restore;  // gives a tensor with the ideal layout this property
};

bool strided(const Tensor& tensor, int dimension) {
  return tensor.shape[static_cast<std::size_t>(dimension)] > 1;
}

// Returns the tensor at an aligned address, with packed rows padded to 16 bytes.
Tensor ideal(const Tensor& given) {
  Tensor tensor = given;
  if (tensor.address != 0) tensor.address = std::max<std::uint64_t>(tensor.address / kAligned * kAligned, kAligned);
  const std::int64_t row = std::max<std::int64_t>(kRow / static_cast<std::int64_t>(size_of(tensor.dtype)), 1);
  std::int64_t stride = 1;
  for (int i = tensor.rank; i-- > 0;) {
    const auto d = static_cast<std::size_t>(i);
    tensor.strides[d] = stride;
    stride *= std::max<std::int64_t>(tensor.shape[d], 1);
    if (i == tensor.rank - 1) stride = (stride + row - 1) / row * row;
  }
  return tensor;
}

std::optional<Trait> address_trait(std::size_t index, const NamedTensor& named) {
  const std::int64_t alignment = alignment_of_address(named.tensor.address);
  if (alignment >= kRow) return std::nullopt;
  return Trait{index, fmt::format("{} begins at {} byte{}", named.name, alignment, alignment == 1 ? "" : "s"),
               [address = named.tensor.address](Tensor& tensor) { tensor.address = address; }};
}

std::optional<Trait> stride_trait(std::size_t index, const NamedTensor& named) {
  const Tensor& tensor = named.tensor;
  std::string text;
  for (int i = 0; i < tensor.rank && text.empty(); ++i) {
    const std::int64_t stride = tensor.strides[static_cast<std::size_t>(i)];
    const std::int64_t bytes = stride * static_cast<std::int64_t>(size_of(tensor.dtype));
    const bool last = i == tensor.rank - 1;
    if (!strided(tensor, i) || (last ? stride == 1 : bytes > 0 && bytes % kRow == 0)) continue;
    text = last ? fmt::format("elements of {} are {} bytes apart", named.name, bytes)
                : fmt::format("rows of {} are {} bytes apart", named.name, bytes);
  }
  if (text.empty()) return std::nullopt;
  return Trait{index, std::move(text), [strides = tensor.strides](Tensor& other) { other.strides = strides; }};
}

std::vector<Trait> traits_of(const Request& request) {
  std::vector<Trait> traits;
  for (std::size_t i = 0; i < request.tensors.size(); ++i) {
    const NamedTensor& named = request.tensors[i];
    if (named.tensor.rank < 1 || named.tensor.rank > kMaxRank || named.tensor.elements() == 0) continue;
    if (auto trait = address_trait(i, named)) traits.push_back(std::move(*trait));
    if (auto trait = stride_trait(i, named)) traits.push_back(std::move(*trait));
  }
  return traits;
}

bool alike(const Plan& a, const Plan& b) {
  return a.file == b.file && a.config == b.config;
}

// Returns the traits that exclude the ideal tensors' plan by themselves; all of them if only several together exclude
// it.
std::vector<std::string> causes(const std::vector<Trait>& traits, const Request& request, const Plan& wanted,
                                const Planner& planner) {
  if (traits.size() == 1) return {traits.front().text};
  std::vector<std::string> alone, all;
  for (const Trait& trait : traits) {
    Request one = request;
    trait.restore(one.tensors[trait.tensor].tensor);
    const auto plan = planner(one);
    if (!plan || !alike(*plan, wanted)) alone.push_back(trait.text);
    all.push_back(trait.text);
  }
  return alone.empty() ? all : alone;
}

bool uses_maps(const Plan& plan) {
  return std::ranges::any_of(plan.arguments,
                             [](const Argument& argument) { return argument.kind == Argument::Kind::tensor_map; });
}

std::string difference(const Plan& wanted, const Plan& plan) {
  if (wanted.file != plan.file) {
    return fmt::format("{}{} instead of {}", uses_maps(wanted) && !uses_maps(plan) ? "without TMA, by " : "",
                       templates::stem_of(plan.file), templates::stem_of(wanted.file));
  }
  std::vector<std::string> params;
  for (std::size_t i = 0; i < std::min(plan.config.size(), wanted.config.size()); ++i) {
    const auto& [name, value] = plan.config[i];
    if (value != wanted.config[i].second)
      params.push_back(fmt::format("{}={} instead of {}", name, value, wanted.config[i].second));
  }
  return joined(params);
}

// Returns the wanted plan's time over the other's, by the templates' cycles or, where one states none, by the estimate;
// 1 where that does not cover both.
double share_of_speed(const Plan& wanted, const Plan& plan, const DeviceInfo& device) {
  if (wanted.work.cycles > 0 && plan.work.cycles > 0) return wanted.work.cycles / plan.work.cycles;
  const auto ideal = estimate(wanted, device), given = estimate(plan, device);
  const bool covered = ideal && given && ideal->described && given->described;
  return covered ? ideal->time_us / given->time_us : 1;
}

std::string speed(const Plan& wanted, const Plan& plan, const DeviceInfo& device) {
  const double share = share_of_speed(wanted, plan, device);
  return share >= kSameSpeed ? std::string()
                             : fmt::format(", about {:.0f} % of the speed by the estimate", 100 * share);
}

}  // namespace

std::string layout_reason(const Request& request, const Plan& plan, const DeviceInfo& device, const Planner& planner) {
  const std::vector<Trait> traits = traits_of(request);
  if (traits.empty()) return {};
  Request better = request;
  for (const Trait& trait : traits) {
    better.tensors[trait.tensor].tensor = ideal(request.tensors[trait.tensor].tensor);
  }
  const auto wanted = planner(better);
  if (!wanted || alike(*wanted, plan)) return {};
  return fmt::format("{}: {}{}", joined(causes(traits, better, *wanted, planner)), difference(*wanted, plan),
                     speed(*wanted, plan, device));
}

}  // namespace tma_jit::plan
