// tma-jit list: every kernel, its files and their architectures; with --probes the probes instead.
#include <algorithm>
#include <memory>
#include <span>
#include <string_view>

#include <tma_jit/json.h>

#include "kernel.h"
#include "verbs.h"

namespace tma_jit::cli {
namespace {

std::string archs_of(const KernelInfo& info) {
  return fmt::format("{}", fmt::join(info.archs, " "));
}

// The shortest description of the files of a kernel, to which others add.
std::string_view formula_of(std::span<const KernelInfo> files) {
  return std::min_element(files.begin(), files.end(),
                          [](const KernelInfo& a, const KernelInfo& b) { return a.doc.size() < b.doc.size(); })
      ->doc;
}

// What the description of a file adds to the formula, after a colon; empty if it adds nothing.
std::string addition_of(std::string_view doc, std::string_view formula) {
  if (doc == formula) return "";
  const bool longer = doc.starts_with(formula) && doc.substr(formula.size()).starts_with("; ");
  return fmt::format(": {}", longer ? doc.substr(formula.size() + 2) : doc);
}

// Prints a line per kernel, with what it computes, and below it a line per file: its architectures and what it adds.
// Embedded files by their stem, others by path.
void print(const Console& console, const std::vector<KernelInfo>& kernels) {
  for (auto first = kernels.begin(); first != kernels.end();) {
    const auto last =
        std::find_if(first, kernels.end(), [&](const KernelInfo& info) { return info.kernel != first->kernel; });
    const std::string_view formula = formula_of({first, last});
    console.result("{}  {}\n", first->kernel, formula);
    for (; first != last; ++first) {
      console.result("    {}  {}{}\n", first->embedded ? stem_of(first->file) : first->file, archs_of(*first),
                     addition_of(first->doc, formula));
    }
  }
}

bool serves(const KernelInfo& info, const std::string& arch) {
  const std::string base = arch.substr(0, arch.find_first_of("af", 3));
  return arch.empty() || std::any_of(info.archs.begin(), info.archs.end(),
                                     [&](const std::string& served) { return served == arch || served == base; });
}

// Every target that some file serves, in the order of their numbers.
std::vector<std::string> targets_of(const std::vector<Result<KernelInfo>>& all) {
  std::vector<std::string> targets;
  for (const Result<KernelInfo>& info : all) {
    if (info) targets.insert(targets.end(), info->archs.begin(), info->archs.end());
  }
  std::ranges::sort(targets, {}, [](const std::string& target) { return std::pair(target.size(), target); });
  targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
  return targets;
}

Outcome<int> list(const Settings& settings, bool probes) {
  Settings without_device = settings;
  without_device.arch.clear();
  std::string arch;
  if (!settings.arch.empty()) {
    auto exact = normalise_arch(settings.arch);
    if (!exact) return usage_of(exact.error(), "--arch");
    arch = *exact;
  }
  CLI_ASSIGN(Engine engine, make_engine(without_device));
  std::vector<KernelInfo> kernels;
  Json faults = Json::array();
  const std::vector<Result<KernelInfo>> all = engine.kernels();
  for (const Result<KernelInfo>& info : all) {
    if (info && info->probe == probes && serves(*info, arch)) kernels.push_back(*info);
    if (!info) {
      fmt::print(stderr, "{}\n", info.error().text());
      faults.push_back(cli::to_json(info.error()));
    }
  }
  if (kernels.empty() && !arch.empty()) {
    return failed(ErrorCode::unsupported, "--arch {}: no {} serves it; there are some for {}", arch,
                  probes ? "probe" : "kernel", fmt::join(targets_of(all), ", "));
  }
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const KernelInfo& a, const KernelInfo& b) { return a.kernel < b.kernel; });
  print(settings.console, kernels);
  Json objects = Json::array();
  for (const KernelInfo& info : kernels) objects.push_back(parse_json(json_of(info)));
  settings.console.object({{"kernels", objects}, {"faults", faults}});
  return faults.empty() ? kDone : kFailed;
}

}  // namespace

void add_list(Verb command, Settings& settings) {
  Verb verb = command.add_verb("list", "kernels and the architectures they serve");
  add_settings(verb, settings);
  auto probes = std::make_shared<bool>(false);
  verb.flag("--probes", *probes, "list the probes, which show and prove one device primitive each");
  verb.runs([&settings, probes] { return list(settings, *probes); });
}

}  // namespace tma_jit::cli
