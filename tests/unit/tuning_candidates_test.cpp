// The configurations that tuning tries for a request.
#include <map>
#include <set>

#include <doctest/doctest.h>

#include <tma_jit/tma_jit.h>

namespace tma_jit {
namespace {

Engine planning_engine() {
  Options options;
  options.device = Device::known("h200");
  options.use_cache = false;
  return Engine(std::move(options));
}

std::map<std::string, std::int64_t> params_of(const Candidate& candidate) {
  return {candidate.params.begin(), candidate.params.end()};
}

// Returns the number of params in which two configurations differ.
std::size_t differences(const Candidate& a, const Candidate& b) {
  std::size_t count = 0;
  for (const auto& [name, value] : params_of(a)) count += params_of(b).at(name) != value ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE(
    "candidates of a file without estimates differ in up to two params, and serve the problem of the planned one") {
  Engine engine = planning_engine();
  Request request{.kernel = "rms_norm_backward"};
  request.dims = {{"M", 8192}, {"N", 4096}};
  const auto candidates = engine.candidates(request, 1000);
  REQUIRE(candidates);
  std::map<std::size_t, int> by_differences;
  for (const Candidate& candidate : *candidates) {
    const auto params = params_of(candidate);
    CHECK(params.at("WEIGHT") == 1);
    if (candidate.file != candidates->front().file) continue;  // which has other params
    ++by_differences[differences(candidates->front(), candidate)];
  }
  CHECK(by_differences[1] > 0);
  CHECK(by_differences[2] > 0);
}

// The best of the other configurations of this product take fewer cycles than its presets but the planned one.
TEST_CASE("presets and other configurations take turns among the candidates, each once") {
  Engine engine = planning_engine();
  Request request{.kernel = "gemm"};
  request.dims = {{"M", 128}, {"N", 24576}, {"K", 1536}};
  const auto candidates = engine.candidates(request, 8);
  REQUIRE(candidates);
  REQUIRE(candidates->size() == 8);
  std::set<std::pair<std::string, std::map<std::string, std::int64_t>>> distinct;
  for (const Candidate& candidate : *candidates) distinct.emplace(candidate.file, params_of(candidate));
  CHECK(distinct.size() == 8);
  int presets = 0;  // each of which one that takes fewer cycles follows
  for (std::size_t i = 2; i < candidates->size(); ++i)
    presets += (*candidates)[i].cycles < (*candidates)[i - 1].cycles ? 1 : 0;
  CHECK(presets >= 2);
}

// A record is found by the types of the file that is planned without it.
TEST_CASE("the files of gemm have the same types, so that a record of one is found where another is planned") {
  Engine engine = planning_engine();
  std::set<std::vector<std::string>> found;
  for (const auto& info : engine.kernels()) {
    if (!info || info->kernel != "gemm") continue;
    std::vector<std::string> names;
    for (const auto& type : info->types) names.push_back(type.name);
    found.insert(std::move(names));
  }
  CHECK(found.size() == 1);
}

TEST_CASE("candidates of other problems are those of their own") {
  Engine engine = planning_engine();
  Request request{.kernel = "rms_norm_backward"};
  request.dims = {{"M", 8192}, {"N", 4096}};
  request.params = {{"WEIGHT", 0}};
  const auto candidates = engine.candidates(request, 100);
  REQUIRE(candidates);
  CHECK(candidates->size() > 1);
  for (const Candidate& candidate : *candidates) CHECK(params_of(candidate).at("WEIGHT") == 0);
}

}  // namespace tma_jit
