// tma-jit show: what the files of one kernel declare.
#include <memory>

#include <tma_jit/json.h>

#include "kernel.h"
#include "verbs.h"

namespace tma_jit::cli {
namespace {

struct Section {
  const char* directive;
  Kernel::Items items;
};
constexpr Section kSections[] = {{"type", &KernelInfo::types},     {"dim", &KernelInfo::dims},
                                 {"param", &KernelInfo::params},   {"let", &KernelInfo::lets},
                                 {"require", &KernelInfo::rules},  {"tensor", &KernelInfo::tensors},
                                 {"scalar", &KernelInfo::scalars}, {"workspace", &KernelInfo::workspaces},
                                 {"hook", &KernelInfo::hooks},     {"preset", &KernelInfo::presets}};

void print(const Console& console, const KernelInfo& info) {
  console.result("{}: {}\n", info.kernel, info.doc);
  console.result("  file       {}{}\n", info.file, info.embedded ? " (embedded)" : "");
  console.result("  arch       {}\n", fmt::join(info.archs, ", "));
  for (const Section& section : kSections) {
    for (const KernelInfo::Item& item : info.*section.items) {
      console.result("  {:<9}  {}{}\n", section.directive, item.declaration,
                     item.doc.empty() ? "" : fmt::format("    \"{}\"", item.doc));
    }
  }
  console.result("  reference  {}\n", info.has_reference ? "yes, so that run --check can prove it" : "none");
}

struct Words {
  std::string kernel;
  std::string template_file;
};

Outcome<int> show(const Settings& settings, const Words& words) {
  CLI_ASSIGN(Engine engine, make_engine(settings));
  CLI_ASSIGN(const Kernel kernel, find_kernel(engine, words.kernel, words.template_file));
  Json files = Json::array();
  for (const KernelInfo& info : kernel.files) {
    print(settings.console, info);
    files.push_back(Json::parse(json_of(info)));
  }
  settings.console.object({{"kernel", kernel.name}, {"files", files}});
  return kDone;
}

}  // namespace

void add_show(CLI::App& app, Invocation& invocation) {
  CLI::App* verb = app.add_subcommand("show", "one kernel's types, dims, params, rules, tensors, hooks and presets");
  add_settings(*verb, invocation.settings);
  auto words = std::make_shared<Words>();
  verb->add_option("kernel", words->kernel, "a kernel's name, or the path of a template (.cu)")->required();
  verb->add_option("--template-file", words->template_file, "only the template file of this stem");
  verb->callback(
      [&invocation, words] { invocation.run = [&invocation, words] { return show(invocation.settings, *words); }; });
}

}  // namespace tma_jit::cli
