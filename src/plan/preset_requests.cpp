// The requests that pre-warming builds: every preset and the defaults, for every choice of types.
#include <algorithm>
#include <string_view>
#include <vector>

#include "core/failure.h"
#include "plan/preset_configs.h"

namespace tma_jit::plan {
namespace {

constexpr std::int64_t kUsualExtent = 1024, kLargestExtent = std::int64_t{1} << 20;
constexpr std::int64_t kRaggedExtent = 12;  // whose products are whole units of 4 elements, and of few bytes more

// Extents with which a preset is tried: `usual` for all dims that are not given, except for `its` of `dim`.
struct Trial {
  std::int64_t usual = kUsualExtent;
  std::string_view dim = {};
  std::int64_t its = 0;
};

// The usual extent, its halves, and then for one dim larger ones, sixteen from each to its double; and last extents
// that are no power of two, for presets of rows that begin anywhere.
std::vector<Trial> trials_of(const templates::Template& kernel) {
  std::vector<Trial> trials;
  for (std::int64_t extent = kUsualExtent; extent > 0; extent /= 2) trials.push_back({extent});
  for (std::int64_t extent = 2 * kUsualExtent; extent <= kLargestExtent; extent *= 2) {
    for (const templates::Dim& dim : kernel.dims) {
      for (int i = 0; i < 16; ++i) trials.push_back({kUsualExtent, dim.name, extent + i * extent / 16});
    }
  }
  trials.push_back({kRaggedExtent});
  return trials;
}

// Returns the dims given, and the others of the request's configuration as near to the trial's as they may be.
std::map<std::string, std::int64_t> dims_of(const templates::Template& kernel, const Request& request,
                                            const DeviceInfo& device, const std::map<std::string, std::int64_t>& given,
                                            const Trial& trial) {
  std::map<std::string, std::int64_t> dims;
  for (const templates::Dim& dim : kernel.dims) {
    if (!open_dim(kernel, dim, request, device)) continue;
    const auto own = given.find(dim.name);
    const std::int64_t extent = dim.name == trial.dim ? trial.its : trial.usual;
    dims[dim.name] = own != given.end() ? own->second : std::clamp(extent, dim.min, dim.max);
  }
  return dims;
}

// Adds the presets that are valid for these dims; where one needs other extents than the usual, in the first trial in
// which it is valid for some types. A preset that is valid for none is added as it is, so that planning it reports the
// reason, unless it may be for other kernels or requests.
void add_requests(const templates::Template& kernel, const std::map<std::string, std::int64_t>& dims,
                  const DeviceInfo& device, std::vector<Request>& requests) {
  Request bare;
  bare.kernel = kernel.kernel;
  bare.file = kernel.stem();
  const std::vector<Request> typed = with_types(kernel, completed(kernel, std::move(bare)));
  const std::vector<Trial> trials = trials_of(kernel);
  for (const PresetConfig& config : preset_configs(kernel, device)) {
    std::vector<Request> possible = typed;
    for (Request& request : possible) request.params = config.params;
    std::erase_if(possible, [&](const Request& one) { return never_valid(kernel, one, device, config.when); });
    const std::size_t before = requests.size();
    for (const Trial& trial : trials) {
      if (requests.size() > before) break;
      for (Request& request : possible) {
        request.dims = dims_of(kernel, request, device, dims, trial);
        if (plan_with(kernel, request, device, Reasons::unsaid).has_value()) requests.push_back(request);
      }
    }
    if (requests.size() > before) continue;
    Request refused = typed.front();
    refused.params = config.params;
    refused.dims = dims_of(kernel, refused, device, dims, {});
    if (!config.elsewhere || plan_with(kernel, refused, device, Reasons::unsaid))
      requests.push_back(std::move(refused));
  }
}

}  // namespace

Result<std::vector<Request>> preset_requests(const DeviceInfo& device, TemplatePointers templates,
                                             const std::map<std::string, std::int64_t>& dims) {
  TMA_JIT_ASSIGN(const std::vector<const templates::Template*> kernels, candidates({}, device, templates));
  TMA_JIT_CHECK(check_dims(kernels, dims));
  std::vector<Request> requests;
  for (const templates::Template* kernel : kernels) {
    add_requests(*kernel, dims, device, requests);
  }
  return requests;
}

}  // namespace tma_jit::plan
