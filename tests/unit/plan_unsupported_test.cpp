// A kernel or a probe that a device's architecture lacks is refused in words that name the architectures that have it:
// every kernel and probe of the library on every device known by name.
#include <algorithm>
#include <map>
#include <set>

#include <doctest/doctest.h>
#include <fmt/ranges.h>

#include <tma_jit/engine.h>

#include "plan/planner.h"
#include "support/combinations.h"

namespace tma_jit::plan {
namespace {

struct Kernel {
  std::string name;
  std::set<std::string> archs;  // of all its files
  std::set<std::string> files;
};

std::vector<Kernel> library() {
  std::map<std::string, Kernel> kernels;
  for (const auto& info : Engine({.device = Device::known("h100"), .use_cache = false}).kernels()) {
    REQUIRE_MESSAGE(info, (info ? "" : info.error().text()));
    Kernel& kernel = kernels[info->kernel];
    kernel.name = info->kernel;
    kernel.archs.insert(info->archs.begin(), info->archs.end());
    kernel.files.insert(info->file);
  }
  std::vector<Kernel> all;
  all.reserve(kernels.size());
  for (auto& [name, kernel] : kernels) all.push_back(std::move(kernel));
  return all;
}

bool has(const Kernel& kernel, const std::string& arch) {
  return std::ranges::any_of(kernel.archs, [&](const std::string& listed) { return serves(listed, arch); });
}

// The whole refusal of a configuration, or "planned".
std::string said(const std::string& device, const Request& request) {
  const auto plan = Engine({.device = Device::known(device), .use_cache = false}).plan(request);
  return plan ? "planned" : plan.error().text();
}

}  // namespace

TEST_CASE("what a device's architecture lacks is refused with the architectures that have it") {
  struct Pair {
    std::string device;
    Kernel kernel;
  };
  const std::vector<Kernel> all = library();
  CHECK(all.size() > 50);
  std::vector<Pair> lacking, served;
  for (const std::string& device : known_devices()) {
    const std::string arch = Engine({.device = Device::known(device), .use_cache = false}).device().value().arch;
    for (const Kernel& kernel : all) (has(kernel, arch) ? served : lacking).push_back({device, kernel});
  }
  CHECK(lacking.size() > 100);
  CHECK(served.size() > 200);

  for (const auto& [device, kernel] : testing::sampled(lacking, 48)) {
    CAPTURE(kernel.name);
    CAPTURE(device);
    Engine engine({.device = Device::known(device), .use_cache = false});
    const auto plan = engine.plan({.kernel = kernel.name});
    REQUIRE_FALSE(plan);
    CHECK(plan.error().code == ErrorCode::unsupported);
    const std::string& message = plan.error().message;
    CHECK(message.starts_with(fmt::format("{}: no template serves {}; ", kernel.name, engine.device().value().arch)));
    for (const std::string& one : kernel.archs) CHECK_MESSAGE(message.find(one) != std::string::npos, message);
    for (const std::string& file : kernel.files) CHECK_MESSAGE(message.find(file) != std::string::npos, message);
  }
  for (const auto& [device, kernel] : testing::sampled(served, 48)) {
    CAPTURE(kernel.name);
    CAPTURE(device);
    const auto presets = Engine({.device = Device::known(device), .use_cache = false}).presets(kernel.name);
    if (!presets) FAIL_CHECK(presets.error().text());
  }
}

TEST_CASE("a rule about the device's architecture names the architectures that have what it asks for") {
  int rules = 0;
  for (const auto& info : Engine({.device = Device::known("h100"), .use_cache = false}).kernels()) {
    for (const KernelInfo::Rule& rule : info->rules) {
      if (rule.declaration.find("device.compute_capability") == std::string::npos) continue;
      CHECK_MESSAGE(rule.doc.find("sm_") != std::string::npos, info->file << ": " << rule.declaration);
      ++rules;
    }
  }
  CHECK(rules >= 5);
}

TEST_CASE("a variant that one architecture of several lacks is refused by such a rule") {
  struct Case {
    std::string device, kernel;
    std::map<std::string, std::int64_t> params;
    std::string words;
  };
  const std::vector<Case> cases = {
      {"b300", "tcgen05_mma", {{"FORM", 12}}, "only sm_100a multiplies integers"},
      {"b300", "tcgen05_pair", {{"FORM", 12}}, "only sm_100a multiplies integers"},
      {"a100", "mma_f64", {{"ROWS", 16}}, "from sm_90 on"},
      {"rtx5090", "tma_im2col_w", {{"WAY", 2}}, "only sm_100a and sm_103a"},
  };
  for (const Case& c : cases) {
    const std::string text = said(c.device, {.kernel = c.kernel, .params = c.params});
    CHECK_MESSAGE(text.starts_with(fmt::format("no_config: {}: ", c.kernel)), text);
    CHECK_MESSAGE(text.find(c.words) != std::string::npos, text);
  }
  CHECK(said("b200", {.kernel = "tcgen05_mma", .params = {{"FORM", 12}}}) == "planned");
}

}  // namespace tma_jit::plan
