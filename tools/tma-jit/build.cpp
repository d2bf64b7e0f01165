// tma-jit build: the cubin of one problem, or its PTX, with ptxas's report.
#include <memory>

#include "describe.h"
#include "output_file.h"
#include "placement.h"
#include "request.h"
#include "verbs.h"

namespace tma_jit::cli {
namespace {

struct Words {
  RequestWords request;
  PlacementWords placement;
  bool ptx = false;
  std::string output;
};

Json facts_of(const Plan& plan) {
  return {{"kernel", plan.kernel},
          {"entry", plan.entry},
          {"arch", plan.arch},
          {"config", cli::to_json(plan)["config"]},
          {"reason", plan.reason}};
}

Outcome<int> build_ptx(const Settings& settings, Engine& engine, const Plan& plan, const std::string& output) {
  CLI_ASSIGN(const std::string text, engine.build_ptx(plan));
  Json object = facts_of(plan);
  if (output.empty()) {
    settings.console.result("{}", text);
    object["ptx"] = text;
  } else {
    CLI_CHECK(write_text(output, text));
    settings.console.report("{}wrote {}\n", because_line(plan), output);
    object["output"] = output;
  }
  settings.console.object(object);
  return kDone;
}

Outcome<int> build_cubin(const Settings& settings, Engine& engine, const Plan& plan, const std::string& output) {
  CLI_ASSIGN(const Artifact cubin, engine.build(plan));
  if (!output.empty()) CLI_CHECK(write_bytes(output, {}, cubin.bytes));
  settings.console.report("{} for {}: {} {} {}\n{}{}", plan.kernel, plan.arch, dim_words(plan), type_words(plan),
                          config_words(plan), because_line(plan), describe(cubin, plan));
  if (!output.empty()) settings.console.report("  wrote     {}\n", output);
  Json object = facts_of(plan);
  merge(object, cli::to_json(cubin, plan));
  if (!output.empty()) object["output"] = output;
  settings.console.object(object);
  return kDone;
}

Outcome<int> build(const Settings& settings, const Words& words) {
  CLI_ASSIGN(Engine engine, make_engine(settings));
  CLI_ASSIGN(const KernelRequest asked, read_request(engine, words.request));
  CLI_ASSIGN(const Placement placement, read_placement(asked.kernel, words.placement));
  CLI_ASSIGN(const Plan plan, plan_placed(engine, asked.request, placement));
  return (words.ptx ? build_ptx : build_cubin)(settings, engine, plan, words.output);
}

}  // namespace

void add_build(Verb command, Settings& settings) {
  Verb verb = command.add_verb("build", "the cubin for one problem: registers, spills, shared memory");
  add_settings(verb, settings);
  add_shared(verb, settings);
  auto words = std::make_shared<Words>();
  add_request_options(verb, words->request);
  add_placement_options(verb, words->placement);
  verb.flag("--ptx", words->ptx, "PTX instead; never cached");
  verb.option("-o,--output", words->output, "file to write the cubin or PTX to");
  verb.runs([&settings, words] { return build(settings, *words); });
}

}  // namespace tma_jit::cli
