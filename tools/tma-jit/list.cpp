// tma-jit list: every kernel, its files and their architectures; with --probes the probes instead.
#include <algorithm>
#include <array>
#include <memory>

#include <tma_jit/json.h>

#include "kernel.h"
#include "verbs.h"

namespace tma_jit::cli {
namespace {

std::string archs_of(const KernelInfo& info) {
  return fmt::format("{}", fmt::join(info.archs, " "));
}

// Prints a line per file: kernel, file, architectures, what it computes. Embedded files by their stem, others by path.
void print(const Console& console, const std::vector<KernelInfo>& kernels) {
  std::vector<std::array<std::string, 3>> rows;
  std::array<std::size_t, 3> widths{};
  for (const KernelInfo& info : kernels) {
    rows.push_back({info.kernel, info.embedded ? stem_of(info.file) : info.file, archs_of(info)});
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], rows.back()[i].size());
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    console.result("{:<{}}  {:<{}}  {:<{}}  {}\n", rows[i][0], widths[0], rows[i][1], widths[1], rows[i][2], widths[2],
                   kernels[i].doc);
  }
}

bool serves(const KernelInfo& info, const std::string& arch) {
  const std::string base = arch.substr(0, arch.find_first_of("af", 3));
  return arch.empty() || std::any_of(info.archs.begin(), info.archs.end(),
                                     [&](const std::string& served) { return served == arch || served == base; });
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
  for (Result<KernelInfo>& info : engine.kernels()) {
    if (info && info->probe == probes && serves(*info, arch)) kernels.push_back(*info);
    if (!info) {
      fmt::print(stderr, "{}\n", info.error().text());
      faults.push_back(cli::to_json(info.error()));
    }
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
