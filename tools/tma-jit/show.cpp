// tma-jit show: what the files of one kernel declare.
#include <memory>

#include "kernel.h"
#include "verbs.h"

namespace tma_jit::cli {
namespace {

struct Section {
  const char* directive;
  const char* field;
  Kernel::Items items;
};
constexpr Section kSections[] = {
    {"type", "types", &KernelInfo::types},       {"dim", "dims", &KernelInfo::dims},
    {"param", "params", &KernelInfo::params},    {"let", "lets", &KernelInfo::lets},
    {"require", "rules", &KernelInfo::rules},    {"tensor", "tensors", &KernelInfo::tensors},
    {"scalar", "scalars", &KernelInfo::scalars}, {"workspace", "workspaces", &KernelInfo::workspaces},
    {"hook", "hooks", &KernelInfo::hooks},       {"preset", "presets", &KernelInfo::presets}};

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

Json to_json(const KernelInfo& info) {
  Json object = {{"kernel", info.kernel}, {"file", info.file},         {"doc", info.doc},
                 {"archs", info.archs},   {"embedded", info.embedded}, {"reference", info.has_reference}};
  for (const Section& section : kSections) {
    Json items = Json::array();
    for (const KernelInfo::Item& item : info.*section.items)
      items.push_back({{"name", item.name}, {"declaration", item.declaration}, {"doc", item.doc}});
    object[section.field] = items;
  }
  return object;
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
    files.push_back(to_json(info));
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
