// tma-jit run: one launch on files or random data, and with --check its outputs against the float64 reference.
#include <memory>

#include "describe.h"
#include "output_file.h"
#include "trace_summary.h"
#include "trial.h"
#include "verbs.h"

namespace tma_jit::cli {
namespace {

struct Words {
  RequestWords request;
  DataWords data;
  bool check = false;
};

Outcome<Trial> prepare(const Settings& settings, Engine& engine, const Words& words) {
  CLI_ASSIGN(KernelRequest asked, read_request(engine, words.request));
  CLI_ASSIGN(DataChoices choices, read_data_options(asked.kernel, words.data));
  choices.recipe.strays = words.check;
  choices.consistent = true;
  choices.bare = is_emulated(settings);
  CLI_CHECK(infer_from_inputs(asked.kernel, choices, asked.request));
  if (asked.request.dims.empty() && choices.inputs.empty()) {
    CLI_ASSIGN(asked.request, engine.example(asked.request));
  }
  return prepare_trial(engine, std::move(asked.request), std::move(choices));
}

Outcome<void> write_outputs(const Trial& trial) {
  for (const DeviceTensor& tensor : trial.tensors) {
    const auto file = trial.choices.outputs.find(tensor.name);
    if (file == trial.choices.outputs.end()) continue;
    CLI_ASSIGN(const std::vector<std::byte> buffer, download(tensor));
    const std::vector<std::byte> elements = packed(tensor, buffer);
    if (file->second.ends_with(".npy")) {
      CLI_CHECK(write_npy(file->second, tensor.dtype, tensor.layout.shape, elements));
    } else {
      CLI_CHECK(write_bytes(file->second, {}, elements));
    }
  }
  return {};
}

Json to_json(Engine& engine, const Trial& trial) {
  const Plan& plan = trial.launch.plan();
  const auto device = engine.device();
  Json object = {{"kernel", plan.kernel},
                 {"arch", plan.arch},
                 {"device", device ? device->name : ""},
                 {"file", plan.file},
                 {"config", cli::to_json(plan)["config"]},
                 {"dims", cli::to_json(plan)["dims"]},
                 {"reason", plan.reason}};
  merge(object, cli::to_json(trial.launch.artifact(), plan));
  object["launched"] = true;
  Json outputs = Json::object();
  for (const auto& [name, file] : trial.choices.outputs) outputs[name] = file;
  object["outputs"] = outputs;
  return object;
}

void report(const Console& console, Engine& engine, const Trial& trial) {
  const Plan& plan = trial.launch.plan();
  const auto device = engine.device();
  console.report("{} on {} ({}): {} {}\n  config    {}\n", plan.kernel, device ? device->name : "", plan.arch,
                 dim_words(plan), type_words(plan), config_words(plan));
  console.report("{}", because_line(plan));
  const bool ptx = trial.launch.artifact().form == Artifact::Form::ptx;
  console.report("  {:<8}  {}\n", ptx ? "PTX" : "cubin",
                 trial.launch.artifact().compiled
                     ? fmt::format("compiled in {:.0f} ms", trial.launch.artifact().compile_ms)
                     : std::string("from the cache"));
  for (const auto& [name, file] : trial.choices.outputs) console.report("  wrote     {} to {}\n", name, file);
}

Outcome<int> run(const Settings& asked, const Words& words) {
  const Settings settings = launching(asked);
  CLI_ASSIGN(Engine engine, make_engine(settings));
  CLI_ASSIGN(Trial trial, prepare(settings, engine, words));
  if (!settings.trace.empty()) CLI_CHECK(write_text(settings.trace, {}));  // before the work whose timeline it gets
  for (const std::string& note : trial.notes) settings.console.note("{}", note);
  CLI_CHECK(run_trial(engine, trial));
  CLI_CHECK(write_outputs(trial));
  report(settings.console, engine, trial);
  Json object = to_json(engine, trial);
  if (!settings.trace.empty()) {
    CLI_ASSIGN(const Json summary, trace_summary(settings.trace));
    settings.console.report("{}", describe_trace(settings.trace, summary));
    object["trace"] = {{"file", settings.trace}, {"summary", summary}};
  }
  bool passed = true;
  if (words.check) {
    CLI_ASSIGN(const TrialCheck check, check_trial(engine, trial));
    passed = check.passed();
    settings.console.report("{}  {}\n", describe(check), passed ? "passed" : "FAILED");
    object["check"] = cli::to_json(check);
  }
  settings.console.object(object);
  return passed ? kDone : kFailed;
}

}  // namespace

void add_run(Verb command, Settings& settings) {
  Verb verb = command.add_verb("run", "one launch on files or seeded random data; --check proves the result");
  add_settings(verb, settings);
  auto words = std::make_shared<Words>();
  add_request_options(verb, words->request);
  add_data_options(verb, words->data);
  add_file_options(verb, words->data);
  verb.option("--trace", settings.trace, "with the emulator: a timeline as JSON, which Perfetto opens");
  verb.flag("--check", words->check, "compare every output with the template's float64 reference");
  verb.runs([&settings, words] { return run(settings, *words); });
}

}  // namespace tma_jit::cli
