// tma-jit plan: the decisions about one launch and what they mean; with --all, how they were made.
#include <algorithm>
#include <memory>

#include <tma_jit/json.h>

#include "describe.h"
#include "placement.h"
#include "request.h"
#include "verbs.h"

namespace tma_jit::cli {
namespace {

struct Words {
  RequestWords request;
  PlacementWords placement;
  bool all = false;
};

void print(const Console& console, const Enumeration& found) {
  console.result("{}: {} of {} configurations are valid\n", found.file, found.valid, found.configurations);
  for (const RuleCount& rule : found.rules) {
    console.result("  {}:{}: {} violate  {}\n", rule.file, rule.line, rule.ruled_out, rule.rule);
    if (!rule.message.empty()) console.result("    {}\n", rule.message);
    if (!rule.values.empty()) console.result("    {}\n", rule.values);
  }
  for (const auto& config : found.valid_configs) console.result("  {}\n", value_words(config));
}

// What the chosen file computes, and what its chosen params mean, in the words of its manifest.
std::string explained(const Plan& plan, const Kernel& kernel) {
  const auto file = std::find_if(kernel.files.begin(), kernel.files.end(),
                                 [&](const KernelInfo& info) { return info.file == plan.file; });
  if (file == kernel.files.end()) return "";
  std::string text = file->doc.empty() ? "" : fmt::format("  computes  {}\n", file->doc);
  for (const auto& [name, value] : plan.config) {
    const auto param =
        std::find_if(file->params.begin(), file->params.end(),
                     [&name = name](const KernelInfo::Param& declared) { return declared.name == name; });
    if (param != file->params.end() && !param->doc.empty())
      text += fmt::format("  param     {} = {}    \"{}\"\n", name, value, param->doc);
  }
  return text;
}

Outcome<int> plan(const Settings& settings, const Words& words) {
  CLI_ASSIGN(Engine engine, make_engine(settings));
  CLI_ASSIGN(const KernelRequest asked, read_request(engine, words.request));
  CLI_ASSIGN(const Placement placement, read_placement(asked.kernel, words.placement));
  CLI_ASSIGN(const Request request, placed(engine, asked.request, placement));
  Json object = Json::object();
  if (words.all) {
    CLI_ASSIGN(const Enumeration found, engine.enumerate(request));
    print(settings.console, found);
    object["enumeration"] = parse_json(json_of(found));
  }
  const Result<Plan> chosen = engine.plan(request);
  if (!chosen) {
    if (!words.all) return tl::make_unexpected(Failure(chosen.error()));
    settings.console.tell(chosen.error());
    object["error"] = cli::to_json(chosen.error());
    settings.console.object(object);
    return kFailed;
  }
  settings.console.result("{}{}", describe(*chosen), explained(*chosen, asked.kernel));
  merge(object, cli::to_json(*chosen));
  settings.console.object(object);
  return kDone;
}

}  // namespace

void add_plan(Verb command, Settings& settings) {
  Verb verb = command.add_verb("plan", "the decisions for one problem: configuration, geometry, tensor maps");
  add_settings(verb, settings);
  auto words = std::make_shared<Words>();
  add_request_options(verb, words->request);
  add_placement_options(verb, words->placement);
  verb.flag("--all", words->all, "every valid configuration, and what each rule ruled out");
  verb.runs([&settings, words] { return plan(settings, *words); });
}

}  // namespace tma_jit::cli
