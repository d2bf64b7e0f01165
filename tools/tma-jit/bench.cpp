// tma-jit bench: device time of one launch, with the method stated, its rate, and its share of the device's peak.
#include <algorithm>
#include <memory>

#include "bound.h"
#include "describe.h"
#include "progress.h"
#include "sweep.h"
#include "trial.h"
#include "verbs.h"

namespace tma_jit::cli {
namespace {

struct Words {
  RequestWords request;
  DataWords data;
  MeasureOptions measure;
  std::string sweep;
  bool warm = false;
};

constexpr const char* kMeaningless = "the emulator's time, which does not predict a device's";

// Launches once, because the emulator's times do not predict a device's.
MeasureOptions on_emulator() {
  return {.warmups = 0, .repeats = 1, .flush_l2 = false, .host_launches = 0};
}

std::string method_of(const MeasureOptions& options, const Measurement& time, const DataChoices& choices) {
  return fmt::format("events around each launch, {}; {} repeats after {} warm-ups; {} data, seed {}",
                     time.flushed_l2 ? "L2 written over before each" : "L2 left warm", time.repeats, options.warmups,
                     choices.recipe.kind == DataKind::normal ? "normal random" : "small integer", choices.recipe.seed);
}

double rate(double amount, double microseconds, double unit) {
  return microseconds > 0 ? amount / microseconds * unit : 0;
}

void report(const Console& console, const Trial& trial, const Measurement& time, const Bound& bound) {
  const Work& work = trial.launch.plan().work;
  console.report("  device    {:.2f} us median, {:.2f} to {:.2f}\n", time.median_us, time.min_us, time.max_us);
  if (work.flops > 0) console.report("  rate      {:.4g} TFLOP/s\n", rate(work.flops, time.median_us, 1e-6));
  if (work.bytes > 0)
    console.report("  traffic   {:.4g} GB/s of compulsory traffic\n", rate(work.bytes, time.median_us, 1e-3));
  if (bound.floor_us > 0) {
    console.report("  share     {:.1f}% of the device's {}, the bound of this problem\n",
                   100 * bound.share(time.median_us), peak_of(bound));
  }
  if (time.host_us > 0) console.report("  host      {:.2f} us a launch call\n", time.host_us);
}

Json measured_json(const Trial& trial, const Measurement& time, const Bound& bound) {
  const Work& work = trial.launch.plan().work;
  return {{"flops", work.flops},
          {"bytes", work.bytes},
          {"median_us", time.median_us},
          {"min_us", time.min_us},
          {"max_us", time.max_us},
          {"host_us", time.host_us},
          {"repeats", time.repeats},
          {"flushed_l2", time.flushed_l2},
          {"tflops", rate(work.flops, time.median_us, 1e-6)},
          {"gb_per_s", rate(work.bytes, time.median_us, 1e-3)},
          {"bound", bound.floor_us > 0 ? (bound.compute ? "compute" : "memory") : "unknown"},
          {"peak_tflops", bound.peak_tflops},
          {"peak_gb_per_s", bound.peak_gb_per_s},
          {"share", bound.share(time.median_us)}};
}

Outcome<Json> bench_one(const Settings& settings, Engine& engine, const Words& words, const RequestWords& request) {
  CLI_ASSIGN(KernelRequest asked, read_request(engine, request));
  CLI_ASSIGN(DataChoices choices, read_data_options(asked.kernel, words.data));
  CLI_ASSIGN(Trial trial, prepare_trial(engine, std::move(asked.request), std::move(choices)));
  CLI_ASSIGN(const DeviceInfo device, engine.device());
  MeasureOptions options = words.measure;
  options.flush_l2 = !words.warm;
  const bool emulated = is_emulated(settings);
  if (emulated) options = on_emulator();
  CLI_ASSIGN(const Measurement time, measure(engine, trial.launch, options));

  const Plan& plan = trial.launch.plan();
  const Bound bound = emulated ? Bound{} : bound_of(trial, device);
  const std::string method = emulated ? kMeaningless : method_of(options, time, trial.choices);
  settings.console.report("{} on {} ({}): {} {}\n  config    {}\n  method    {}\n", plan.kernel, device.name, plan.arch,
                          dim_words(plan), type_words(plan), config_words(plan), method);
  settings.console.report("{}", because_line(plan));
  if (emulated) {
    settings.console.report("  emulated  {:.1f} ms for one launch\n", time.median_us / 1000);
  } else {
    report(settings.console, trial, time, bound);
  }
  Json object = {{"kernel", plan.kernel},         {"arch", plan.arch},
                 {"device", device.name},         {"emulated", emulated},
                 {"dims", to_json(plan)["dims"]}, {"config", to_json(plan)["config"]},
                 {"reason", plan.reason},         {"method", method}};
  merge(object, emulated ? Json{{"median_us", time.median_us}} : measured_json(trial, time, bound));
  return object;
}

// Measures each step of a sweep, in turn. A step without a configuration has its error.
Outcome<int> bench_steps(const Settings& settings, Engine& engine, const Words& words) {
  CLI_ASSIGN(const Sweep sweep, read_sweep(words.sweep));
  Json results = Json::array();
  int status = kDone;
  Progress progress(settings.console, sweep.values.size());
  for (const std::int64_t value : sweep.values) {
    RequestWords request = words.request;
    for (const std::string& name : sweep.names) request.words.push_back(fmt::format("{}={}", name, value));
    Outcome<Json> result = bench_one(settings, engine, words, request);
    if (!result && result.error().exit == kUsage) return tl::make_unexpected(std::move(result).error());
    if (result) {
      results.push_back(*std::move(result));
      progress.step(words.sweep);
      continue;
    }
    status = kFailed;
    const Json error = to_json(result.error().error);
    settings.console.tell(result.error().error);
    results.push_back({{"value", value}, {"error", error}});
    progress.step(words.sweep);
  }
  progress.finish();
  settings.console.object({{"sweep", fmt::format("{}", fmt::join(sweep.names, ","))}, {"results", results}});
  return status;
}

Outcome<int> bench(const Settings& settings, const Words& words) {
  CLI_ASSIGN(Engine engine, make_engine(settings));
  if (!words.sweep.empty()) return bench_steps(settings, engine, words);
  CLI_ASSIGN(const Json object, bench_one(settings, engine, words, words.request));
  settings.console.object(object);
  return kDone;
}

}  // namespace

void add_bench(Verb command, Settings& settings) {
  Verb verb = command.add_verb("bench", "device time of one launch, its rate and its share of the device's peak");
  add_settings(verb, settings);
  auto words = std::make_shared<Words>();
  add_request_options(verb, words->request);
  add_data_options(verb, words->data);
  verb.option("--repeat", words->measure.repeats, "timed launches (30)").range(1, 1000000);
  verb.option("--warm-up", words->measure.warmups, "launches before them (3)").range(0, 1000000);
  verb.option("--host-launches", words->measure.host_launches, "launches timed on the host (2000); 0 for none")
      .range(0, 10000000);
  verb.option("--sweep", words->sweep,
              "NAME=FIRST..LAST: once for each value, doubling; FIRST..LAST:STEP adds; names by commas go together");
  verb.flag("--warm", words->warm, "leave the L2 cache warm between launches");
  verb.runs([&settings, words] { return bench(settings, *words); });
}

}  // namespace tma_jit::cli
