// The problem: find small extents that satisfy rules of any form and exercise every part of a kernel. The idea: start
// from usual extents, then from small ones, and change one dim at a time to the best of about fifty values, until no
// change helps; while a rule is violated or nothing is launched, also change two at a time. Evaluating one candidate
// takes tens of microseconds, and a search evaluates some thousands.
#include "plan/example.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>

#include "plan/example_problem.h"
#include "plan/extents.h"
#include "plan/fault.h"

namespace tma_jit::plan {
namespace {

constexpr int kRounds = 6;
constexpr std::size_t kPairedDims = 4;  // limits the number of pairs
constexpr std::int64_t kSmall = 4;
constexpr double kCheap = 1 << 24;          // takes seconds in the emulator
constexpr std::int64_t kLeastElements = 2;  // smaller extents satisfy rules of strides but exercise nothing of a kernel
constexpr std::array kAllExtents = {Extents::ragged, Extents::whole, Extents::odd};

struct Solution {
  Dims dims;
  Merit merit;
};

class ExtentSearch {
 public:
  ExtentSearch(const ExampleProblem& problem, ExampleSize size) : problem_(problem) {
    best_.dims = problem.request().dims;
    for (const templates::Dim& dim : problem.kernel().dims) {
      if (best_.dims.contains(dim.name) || !problem.open(dim)) continue;
      open_.push_back({dim.name, extents_of(dim, size), counts_elements(dim)});
      best_.dims[dim.name] = open_.back().extents.front().value;
    }
    best_.merit = judged(best_.dims);
  }

  Solution run() {
    if (problem_.hopeless()) return best_;
    descend();
    if (!valid() && take_if_better(all_small())) descend();
    if (best_.merit.violations > 0) {
      degenerate_ = true;
      descend();
    }
    if (!valid() && change_two()) descend();
    return best_;
  }

 private:
  struct Open {
    std::string name;
    std::vector<Extent> extents;  // at least one
    bool counts_elements;
  };

  // Rules that limit a product of dims hold for these.
  Dims all_small() const {
    Dims dims = best_.dims;
    for (const Open& open : open_) {
      if (std::ranges::find(open.extents, kSmall, &Extent::value) != open.extents.end()) dims[open.name] = kSmall;
    }
    return dims;
  }

  // Remembers what it judged: every round but the first meets most of the dims of the one before.
  Merit judged(const Dims& dims) {
    const auto [known, is_new] = judged_.try_emplace(dims);
    if (is_new) known->second = judge(dims);
    return known->second;
  }

  Merit judge(const Dims& dims) const {
    Merit merit = problem_.merit(dims);
    for (const Open& open : open_) {
      const std::int64_t value = dims.at(open.name);
      const auto extent =
          std::ranges::find_if(open.extents, [&](const Extent& candidate) { return candidate.value == value; });
      merit.unusual += extent != open.extents.end() && extent->usual ? 0 : 1;
    }
    return merit;
  }

  // Returns whether only the cost could still improve, which grows with every dim.
  bool content() const {
    const Merit& best = best_.merit;
    return valid() && best.dear == 0 && best.missing == 0 && best.unusual == 0;
  }

  // Returns whether no rule is violated and a block runs.
  bool valid() const { return best_.merit.violations == 0 && !best_.merit.empty; }

  bool take_if_better(Dims dims) {
    const Merit merit = judged(dims);
    if (merit >= best_.merit) return false;
    best_ = {std::move(dims), merit};
    return true;
  }

  bool change_one(const Open& open) {
    bool better = false;
    for (const Extent& extent : open.extents) {
      if (!degenerate_ && open.counts_elements && extent.value < kLeastElements) continue;
      if (content() && (!extent.usual || extent.value > best_.dims.at(open.name))) continue;
      Dims dims = best_.dims;
      dims[open.name] = extent.value;
      if (take_if_better(std::move(dims))) better = true;
    }
    return better;
  }

  void descend() {
    for (int round = 0; round < kRounds; ++round) {
      bool better = false;
      for (const Open& open : open_) better |= change_one(open);
      if (!better) return;
    }
  }

  // Returns true as soon as every rule holds and a block runs. Of many dims, only pairs of counts, such as heads, are
  // changed.
  bool change_two() {
    const auto paired = [&](const Open& open) { return open_.size() <= kPairedDims || !open.counts_elements; };
    for (const Open& first : open_) {
      if (!paired(first)) continue;
      const Dims before = best_.dims;
      for (const Extent& extent : first.extents) {
        for (const Open& second : open_) {
          if (&second == &first || !paired(second)) continue;
          for (const Extent& other : second.extents) {
            Dims dims = before;
            dims[first.name] = extent.value;
            dims[second.name] = other.value;
            if (take_if_better(std::move(dims)) && valid()) return true;
          }
        }
      }
    }
    return false;
  }

  const ExampleProblem& problem_;
  std::vector<Open> open_;
  std::map<Dims, Merit> judged_;
  Solution best_;
  bool degenerate_ = false;  // whether extents of 0 and 1 are tried too
};

// Returns a request with only dims if the planner accepts it; otherwise with the params of a preset. The preset is the
// first whose problem is cheap, or the one with the cheapest: rules of some presets ask for large problems.
std::optional<Request> example_of(const templates::Template& kernel, const Request& request, const DeviceInfo& device,
                                  ExampleSize size) {
  std::optional<Request> cheapest;
  double least = std::numeric_limits<double>::infinity();
  for (const PresetConfig& config : preset_configs(kernel, device)) {
    Request pinned = request;
    for (const auto& [name, value] : config.named) pinned.params.try_emplace(name, value);
    const ExampleProblem problem(kernel, pinned, device, config.when);
    const Solution found = ExtentSearch(problem, size).run();
    if (found.merit.violations > 0 || found.merit.cost >= least) continue;
    Request open = request;
    open.dims = pinned.dims = found.dims;
    if (plan_with(kernel, open, device, Reasons::unsaid)) {
      cheapest = std::move(open);
    } else if (plan_with(kernel, pinned, device, Reasons::unsaid)) {
      cheapest = std::move(pinned);
    } else {
      continue;
    }
    least = found.merit.cost;
    if (least <= kCheap || size.least > 0) break;
  }
  return cheapest;
}

// For a request whose pinned params match no preset: finds dims for the configuration that the planner chooses for
// usual extents.
std::optional<Request> searched_example(const templates::Template& kernel, const Request& request,
                                        const DeviceInfo& device, ExampleSize size) {
  Request pinned = request;
  for (const templates::Dim& dim : kernel.dims) {
    if (open_dim(kernel, dim, request, device)) pinned.dims.try_emplace(dim.name, extents_of(dim, size).front().value);
  }
  const auto plan = plan_with(kernel, pinned, device, Reasons::unsaid);
  if (!plan) return std::nullopt;
  pinned.dims = request.dims;
  for (const auto& [name, value] : plan->config) pinned.params[name] = value;
  const Solution found = ExtentSearch({kernel, pinned, device, nullptr}, size).run();
  pinned.dims = found.dims;
  if (found.merit.violations > 0) return std::nullopt;
  return pinned;
}

// Finds a problem of the types that the request gives, and of the default types of others.
std::optional<Request> example_of_types(const templates::Template& kernel, const Request& request,
                                        const DeviceInfo& device, ExampleSize size) {
  if (auto found = example_of(kernel, request, device, size)) return found;
  return searched_example(kernel, request, device, size);
}

// Selects from the dims given for all files those that the kernel has.
Dims own_dims(const templates::Template& kernel, const Dims& dims) {
  Dims own;
  for (const templates::Dim& dim : kernel.dims) {
    if (const auto given = dims.find(dim.name); given != dims.end()) own.insert(*given);
  }
  return own;
}

// Finds the problem of a preset for one choice of types. Tries the dims found for another choice first.
std::optional<Request> preset_example(const templates::Template& kernel, const Request& typed, const DeviceInfo& device,
                                      const PresetConfig& config, std::pair<Extents, Solution*> hint) {
  Request request = typed;
  request.params = config.params;
  const ExampleProblem problem(kernel, request, device, config.when);
  Solution& known = *hint.second;
  if (!known.dims.empty()) {
    const Merit merit = problem.merit(known.dims);
    request.dims = known.dims;
    if (merit.violations == 0 && merit.empty <= known.merit.empty && merit.missing <= known.merit.missing)
      return request;
  }
  const Solution found = ExtentSearch(problem, {hint.first, 0}).run();
  if (found.merit.violations > 0) return std::nullopt;
  known = found;
  request.dims = found.dims;
  return request;
}

// The file whose presets get problems, and with which types and of which kinds.
struct PresetSearch {
  const templates::Template& kernel;
  const std::vector<Request>& typed;
  const DeviceInfo& device;
  const ExampleChoice& choice;
};

// Returns the problems of one preset, the first of them with extents of this kind if there are such. Different kinds of
// extents may lead to the same problem, which is returned once.
std::vector<Request> examples_of(const PresetSearch& search, const PresetConfig& config, std::size_t kind) {
  std::vector<Request> requests;
  for (std::size_t i = 0; i < kAllExtents.size(); ++i) {
    if (!search.choice.every_kind && !requests.empty()) break;
    const Extents extents = kAllExtents[(kind + i) % kAllExtents.size()];
    Solution known;
    for (const Request& one : search.typed) {
      const auto request = preset_example(search.kernel, one, search.device, config, {extents, &known});
      const bool there = request && std::ranges::any_of(requests, [&](const Request& other) {
                           return other.types == request->types && other.dims == request->dims;
                         });
      if (!request || there || !plan_with(search.kernel, *request, search.device, Reasons::unsaid)) continue;
      requests.push_back(*request);
      if (!search.choice.every_type) break;
    }
  }
  return requests;
}

void add_examples(const PresetSearch& search, std::vector<Request>& requests) {
  const std::vector<PresetConfig> configs = preset_configs(search.kernel, search.device);
  const std::size_t each = search.choice.each;
  for (std::size_t i = 0; i < configs.size(); i += each) {
    const PresetConfig& config = configs[i];
    std::vector<Request> found = examples_of(search, config, search.choice.every_kind ? 0 : i / each);
    if (!found.empty()) {
      std::ranges::move(found, std::back_inserter(requests));
      continue;
    }
    Request refused = search.typed.front();
    refused.params = config.params;
    refused.dims = ExtentSearch({search.kernel, refused, search.device, config.when}, {}).run().dims;
    if (!config.elsewhere || plan_with(search.kernel, refused, search.device, Reasons::unsaid))
      requests.push_back(std::move(refused));
  }
}

}  // namespace

Result<Request> example(const Request& request, const DeviceInfo& device, TemplatePointers templates,
                        ExampleSize size) {
  TMA_JIT_ASSIGN(const std::vector<const templates::Template*> tried, candidates(request.file, device, templates));
  for (const templates::Template* kernel : tried) {
    if (!check_names(*kernel, request)) continue;
    if (auto found = example_of_types(*kernel, completed(*kernel, request), device, size)) return std::move(*found);
  }
  TMA_JIT_CHECK(check_names(*tried.front(), request));
  for (const templates::Template* kernel : tried) {
    if (!check_names(*kernel, request)) continue;
    for (const Request& typed : with_types(*kernel, completed(*kernel, request))) {
      if (auto found = example_of_types(*kernel, typed, device, size)) return std::move(*found);
    }
  }
  return fault(*tried.front(), ErrorCode::no_config, "no problem was found that it takes; give dims");
}

Result<std::vector<Request>> preset_examples(const DeviceInfo& device, TemplatePointers templates,
                                             const std::map<std::string, std::int64_t>& dims,
                                             const ExampleChoice& choice) {
  TMA_JIT_ASSIGN(const std::vector<const templates::Template*> kernels, candidates({}, device, templates));
  TMA_JIT_CHECK(check_dims(kernels, dims));
  std::vector<Request> requests;
  for (const templates::Template* kernel : kernels) {
    Request bare;
    bare.kernel = kernel->kernel;
    bare.file = kernel->stem();
    bare.dims = own_dims(*kernel, dims);
    add_examples({*kernel, with_types(*kernel, completed(*kernel, std::move(bare))), device, choice}, requests);
  }
  return requests;
}

}  // namespace tma_jit::plan
