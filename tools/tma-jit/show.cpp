// tma-jit show: the declarations in the files of one kernel.
#include <memory>

#include <tma_jit/json.h>

#include "kernel.h"
#include "verbs.h"

namespace tma_jit::cli {
namespace {

template <class Item> void print(const Console& console, const char* directive, const std::vector<Item>& items) {
  for (const KernelInfo::Declaration& item : items) {
    console.result("  {:<9}  {}{}\n", directive, item.declaration,
                   item.doc.empty() ? "" : fmt::format("    \"{}\"", item.doc));
  }
}

void print(const Console& console, const KernelInfo& info) {
  console.result("{}: {}\n", info.kernel, info.doc);
  console.result("  file       {}{}\n", info.file, info.embedded ? " (embedded)" : "");
  console.result("  arch       {}\n", fmt::join(info.archs, ", "));
  print(console, "type", info.types);
  print(console, "dim", info.dims);
  print(console, "param", info.params);
  print(console, "let", info.lets);
  print(console, "require", info.rules);
  print(console, "tensor", info.tensors);
  print(console, "scalar", info.scalars);
  print(console, "workspace", info.workspaces);
  print(console, "hook", info.hooks);
  print(console, "preset", info.presets);
  console.result("  reference  {}\n", info.reference ? "yes, so that run --check can prove it" : "none");
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
    files.push_back(parse_json(json_of(info)));
  }
  settings.console.object({{"kernel", kernel.name}, {"files", files}});
  return kDone;
}

}  // namespace

void add_show(Verb command, Settings& settings) {
  Verb verb = command.add_verb("show", "one kernel's types, dims, params, rules, tensors, hooks and presets");
  add_settings(verb, settings);
  auto words = std::make_shared<Words>();
  verb.option("kernel", words->kernel, "a kernel's name, or the path of a template (.cu)").required();
  verb.option("--template-file", words->template_file, "only the template file of this stem");
  verb.runs([&settings, words] { return show(settings, *words); });
}

}  // namespace tma_jit::cli
