// tma-jit estimate: a launch's time on a device that one may not own, what bounds it, and what TMA gains; beside it the
// measured time where there is a GPU.
#include <memory>

#include "describe.h"
#include "estimated.h"
#include "list_file.h"
#include "output_file.h"
#include "placement.h"
#include "request.h"
#include "trial.h"
#include "verbs.h"

namespace tma_jit::cli {
namespace {

struct Words {
  RequestWords request;
  PlacementWords placement;
  std::vector<std::string> lists;
  std::string constants, plot;
  unsigned candidates = 0;
  bool no_measure = false;
};

constexpr unsigned kPlotted = 16;  // candidates, unless --candidates says otherwise

// An ordinal, or none: the device is here, if there is one.
bool may_be_measured(const Settings& settings) {
  return !is_emulated(settings) && settings.device.find_first_not_of("0123456789") == std::string::npos;
}

// `word` is what names the kernel.
void add_comparison(const Settings& settings, const Estimator& estimator, const std::string& word,
                    const Request& request, const Estimated& chosen, Json& object) {
  const auto without = estimator.without_tma(settings, word, request, chosen.plan);
  if (!without) {
    settings.console.report("  no TMA    no file without it does this\n");
    object["without_tma"] = nullptr;
    return;
  }
  const double benefit = without->estimate.time_us / chosen.estimate.time_us;
  settings.console.report("  no TMA    {:.2f} us with {}: this is {:.2f} times as fast\n", without->estimate.time_us,
                          without->configuration(), benefit);
  object["without_tma"] = to_json(*without, estimator.device());
  object["benefit"] = benefit;
}

// Failing to measure, for want of memory or data, is a note.
void add_measurement(const Settings& settings, Engine& engine, const Request& request, const Estimated& chosen,
                     Json& object) {
  auto trial = prepare_trial(engine, request, {});
  if (!trial) return settings.console.note("not measured: {}", trial.error().error.line());
  const auto time = measure(engine, trial->launch, {.host_launches = 0});
  if (!time) return settings.console.note("not measured: {}", time.error().line());
  const double error = chosen.estimate.time_us / time->median_us - 1;
  settings.console.report("  measured  {:.2f} us median, {:.2f} to {:.2f}; the estimate is {:+.1f}% off\n",
                          time->median_us, time->min_us, time->max_us, 100 * error);
  object["measured_us"] = time->median_us;
  object["error"] = error;
}

void add_candidates(const Settings& settings, const std::vector<Estimated>& candidates, const DeviceInfo& device,
                    Json& object) {
  settings.console.report("  candidates, as tuning would measure them\n");
  Json list = Json::array();
  for (const Estimated& one : candidates) {
    settings.console.report("    {:>10.2f} us  {:<13}  {}\n", one.estimate.time_us, name_of(one.estimate.bound),
                            one.configuration());
    list.push_back(to_json(one, device));
  }
  object["candidates"] = std::move(list);
}

Outcome<void> write_plot(const Settings& settings, const std::string& path, const std::string& svg) {
  CLI_CHECK(write_text(path, svg));
  settings.console.report("wrote {}\n", path);
  return {};
}

Outcome<int> estimate_one(const Settings& settings, const Words& words) {
  CLI_ASSIGN(Engine engine, make_engine(settings));
  CLI_ASSIGN(const KernelRequest asked, read_request(engine, words.request));
  CLI_ASSIGN(const Placement placement, read_placement(asked.kernel, words.placement));
  CLI_ASSIGN(const Request request, placed(engine, asked.request, placement));
  CLI_ASSIGN(const Estimator estimator, Estimator::open(engine, words.constants));
  CLI_ASSIGN(const Estimated chosen, estimator.of(request));
  settings.console.result("{}", describe(chosen, estimator.device()));
  Json object = to_json(chosen, estimator.device());
  add_comparison(settings, estimator, words.request.kernel, request, chosen, object);
  if (may_be_measured(settings) && !words.no_measure) {
    add_measurement(settings, engine, asked.request, chosen, object);
  }
  const unsigned count = words.candidates > 0 ? words.candidates : words.plot.empty() ? 0 : kPlotted;
  if (count > 0) {
    CLI_ASSIGN(const std::vector<Estimated> candidates, estimator.candidates(request, count));
    if (words.candidates > 0) add_candidates(settings, candidates, estimator.device(), object);
    if (!words.plot.empty()) CLI_CHECK(write_plot(settings, words.plot, roofline_of(candidates, estimator.device())));
  }
  settings.console.object(object);
  return kDone;
}

// One line, or one object, for each request of the lists; a request without a plan has its error.
Outcome<int> estimate_lists(const Settings& settings, const Words& words) {
  if (!words.request.kernel.empty()) return usage("estimate: name a kernel or a list, not both");
  CLI_ASSIGN(Engine engine, make_engine(settings));
  CLI_ASSIGN(const Estimator estimator, Estimator::open(engine, words.constants));
  std::vector<ListEntry> entries;
  for (const std::string& list : words.lists) CLI_CHECK(read_list(list, entries));
  Json list = Json::array();
  int status = kDone;
  for (const ListEntry& entry : entries) {
    const auto requests = warm_requests(engine, entry.line);
    if (!requests) return tl::make_unexpected(Failure(placed_at(entry.place, requests.error())));
    for (const Request& request : *requests) {
      const auto one = estimator.of(request);
      if (!one) {
        settings.console.tell(placed_at(entry.place, one.error().error));
        list.push_back({{"place", entry.place}, {"error", cli::to_json(one.error().error)}});
        status = kFailed;
        continue;
      }
      settings.console.result("{:>12.2f} us  {:<13}  {:5.1f}%  {} {} {}\n", one->estimate.time_us,
                              name_of(one->estimate.bound), 100 * one->estimate.share, one->plan.kernel,
                              dim_words(one->plan), config_words(one->plan));
      Json object = to_json(*one, estimator.device());
      if (may_be_measured(settings) && !words.no_measure) add_measurement(settings, engine, request, *one, object);
      list.push_back(std::move(object));
    }
  }
  settings.console.object({{"estimates", list}});
  return status;
}

Outcome<int> run(const Settings& settings, const Words& words) {
  if (!words.lists.empty()) return estimate_lists(settings, words);
  if (words.request.kernel.empty()) return usage("estimate: name a kernel and its dims, or a list with --list");
  return estimate_one(settings, words);
}

}  // namespace

void add_estimate(Verb command, Settings& settings) {
  Verb verb = command.add_verb("estimate", "time and bound of one launch on any known device, without a GPU");
  add_settings(verb, settings);
  auto words = std::make_shared<Words>();
  add_request_options(verb, words->request);
  verb.find("kernel")->required(false);
  add_placement_options(verb, words->placement);
  verb.option("--candidates", words->candidates, "also estimate this many configurations that tuning would measure");
  verb.option("--plot", words->plot, "draw the roofline with the candidates into this file (SVG)");
  verb.flag("--no-measure", words->no_measure, "do not measure beside the estimate where there is a GPU");
  verb.repeated("--list", words->lists,
                "file of what to estimate, a JSON object a line, as warm takes it; may be repeated");
  verb.option("--constants", words->constants, "file of the model's constants, instead of those that are shipped");
  verb.runs([&settings, words] { return run(settings, *words); });
}

}  // namespace tma_jit::cli
