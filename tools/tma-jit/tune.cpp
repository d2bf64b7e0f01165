// tma-jit tune: measures the configurations of requests, and records the best one of each.
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>

#include <tma_jit/json.h>
#include <tma_jit/tuning.h>

#include "describe.h"
#include "list_file.h"
#include "placement.h"
#include "progress.h"
#include "request.h"
#include "verbs.h"

namespace tma_jit::cli {
namespace {

struct Words {
  RequestWords request;
  PlacementWords placement;
  std::vector<std::string> lists, merged;
  std::string records;
  TuneOptions options;
  bool warm = false;
};

// Returns e.g. "12 measured, 3 spills".
std::string count_words(const std::vector<TuneTrial>& trials) {
  std::map<std::string, int> counts;
  for (const TuneTrial& trial : trials) ++counts[name_of(trial.outcome)];
  std::string words;
  for (const auto& [name, count] : counts) words += fmt::format("{}{} {}", words.empty() ? "" : ", ", count, name);
  return words;
}

constexpr std::size_t kRuledOutShown = 8;
constexpr double kDriftTold = 0.03;  // of the planned configuration's time

void report_ruled_out(const Console& console, const std::vector<TuneTrial>& trials) {
  std::size_t count = 0;
  for (const TuneTrial& trial : trials) {
    const std::string words = trial.candidate.file + " " + value_words(trial.candidate.params);
    if (trial.outcome == TuneTrial::Outcome::disagrees) {
      console.note("{} computes something else, which is a bug of the kernel: {}; see\n  {}", words, trial.reason,
                   trial.reproducer);
    } else if (!trial.reason.empty() && ++count <= kRuledOutShown) {
      console.report("  left out  {}: {}\n", words, trial.reason);
    }
  }
  if (count > kRuledOutShown) console.report("  left out  {} more, which --json lists\n", count - kRuledOutShown);
}

// Returns why no record is made of the request; null if one is.
const char* unrecorded(const Request& request) {
  if (!request.file.empty()) return "names a file";
  return request.reference || request.inputs ? "is for a reference" : nullptr;
}

void report(const Console& console, const TuneResult& result, const std::string& place) {
  if (result.error) {
    console.tell(placed_at(place, *result.error));
    return report_ruled_out(console, result.trials);
  }
  const TuningRecord& record = result.record;
  console.report("{} {} on {}\n", record.kernel, value_words(record.dims), record.device);
  console.report("  best      {:.2f} us, {:.2f} as planned without a record: {:+.1f}%\n", record.us, record.preset_us,
                 100 * result.gain);
  console.report("  config    {} {}\n", record.file, value_words(record.params));
  if (result.known) return console.report("  known     from an earlier tuning; --again measures anew\n");
  console.report("  tried     {} in {:.1f} s\n", count_words(result.trials), result.seconds);
  console.report("  timed     {}\n", result.method);
  if (const char* const why = unrecorded(result.request); why != nullptr)
    console.report("  record    none: the request {}, and such requests are planned without records\n", why);
  report_ruled_out(console, result.trials);
  if (result.drift > kDriftTold) {
    console.note(
        "the planned configuration took {:.0f}% longer at the end than at the beginning: the GPU has lowered its "
        "clock, which changes times, and not the choice",
        100 * result.drift);
  }
}

struct Asked {
  std::vector<Request> requests;
  std::vector<std::string> places;  // "shapes.jsonl:12" of each; empty for the command line's
};

// Returns the requests that the command line and its lists give.
Outcome<Asked> read_requests(Engine& engine, const Words& words) {
  Asked all;
  if (words.request.kernel.empty() && words.lists.empty())
    return usage("tune: nothing to tune: name a kernel and its dims, or a list with --list");
  if (!words.request.kernel.empty()) {
    CLI_ASSIGN(KernelRequest asked, read_request(engine, words.request));
    CLI_ASSIGN(const Placement placement, read_placement(asked.kernel, words.placement));
    CLI_ASSIGN(Request request, placed(engine, std::move(asked.request), placement));
    all.requests.push_back(std::move(request));
    all.places.emplace_back();
  } else if (!words.placement.pitches.empty() || !words.placement.offsets.empty()) {
    return usage("tune: --pitch and --offset are for the kernel of the command line, and it names none");
  }
  std::vector<ListEntry> entries;
  for (const std::string& list : words.lists) CLI_CHECK(read_list(list, entries));
  for (const ListEntry& entry : entries) {
    auto listed = warm_requests(engine, entry.line);
    if (!listed) return tl::make_unexpected(Failure(placed_at(entry.place, listed.error())));
    for (Request& request : *listed) {
      const bool planned = entry.line.presets || !entry.line.arch.empty();  // the line names a configuration
      if (planned) request.params = entry.line.pins;
      request.file.clear();
      all.requests.push_back(std::move(request));
      all.places.push_back(entry.place);
    }
  }
  return all;
}

Outcome<void> make_folder_of(const std::filesystem::path& file) {
  if (!file.has_parent_path()) return {};
  std::error_code fault;
  std::filesystem::create_directories(file.parent_path(), fault);
  if (fault)
    return failed(ErrorCode::io, "--records {}: its folder cannot be made: {}", file.string(), fault.message());
  return {};
}

// Works without a device.
Outcome<int> merge_records(const Settings& settings, const Words& words) {
  if (words.records.empty()) return usage("tune --merge: name the file that gets the records with --records");
  CLI_CHECK(make_folder_of(words.records));
  std::size_t count = 0;
  for (const std::string& path : words.merged) {
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) return failed(ErrorCode::io, "--merge {}: no such file", path);
    CLI_ASSIGN(const TuningFile file, read_tuning_file(path));
    for (const std::string& fault : file.faults) settings.console.note("left out: {}", fault);
    CLI_CHECK(merge_tuning_file(words.records, file.records));
    count += file.records.size();
  }
  settings.console.report("merged {} records into {}\n", count, words.records);
  settings.console.object({{"merged", count}, {"records", words.records}});
  return kDone;
}

std::function<bool(const TuneProgress&)> teller(const Console& console) {
  if (!Progress::is_shown(console)) return {};
  return [](const TuneProgress& at) {
    Progress::draw(at.request, at.requests, at.seconds,
                   fmt::format("configuration {} of {}, {:.0f} s left at most", at.trial, at.trials,
                               std::max(0.0, at.budget_s - at.seconds)));
    return true;
  };
}

Outcome<int> tune_all(const Settings& settings, const Words& words) {
  CLI_ASSIGN(Engine engine, make_engine(settings));
  CLI_ASSIGN(const Asked asked, read_requests(engine, words));
  TuneOptions options = words.options;
  options.records = words.records;
  options.flush_l2 = !words.warm;
  options.progress = teller(settings.console);
  CLI_CHECK(make_folder_of(words.records));
  CLI_ASSIGN(const std::vector<TuneResult> results, tune(engine, asked.requests, options));
  Progress::erase();
  if (is_emulated(settings)) settings.console.note("times of the emulator say nothing of a GPU");
  Json list = Json::array();
  std::size_t faults = 0, recorded = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    report(settings.console, results[i], asked.places[i]);
    Json& object = list.emplace_back(parse_json(json_of(results[i])));
    if (!asked.places[i].empty()) object["place"] = asked.places[i];
    faults += results[i].error ? 1 : 0;
    recorded += !results[i].error && unrecorded(results[i].request) == nullptr ? 1 : 0;
  }
  const std::filesystem::path file = options.records.empty() ? tuning_file(engine) : options.records;
  if (!file.empty() && recorded > 0) settings.console.report("records are in {}\n", file.string());
  settings.console.object({{"records", file.string()}, {"results", list}});
  return faults == 0 ? kDone : kFailed;
}

}  // namespace

void add_tune(Verb command, Settings& settings) {
  Verb verb = command.add_verb("tune", "measure configurations, and record the best for the plans to come");
  add_settings(verb, settings);
  auto words = std::make_shared<Words>();
  add_request_options(verb, words->request);
  add_placement_options(verb, words->placement);
  verb.find("kernel")->required(false);
  verb.repeated("--list", words->lists,
                "file of what to tune, a JSON object a line, as warm takes it; may be repeated");
  verb.option("--budget", words->options.budget_s, "seconds for all together (60)");
  verb.option("--candidates", words->options.candidates, "configurations tried for each, beside the planned one (24)");
  verb.option("--records", words->records, "file that gets the records; default: tuned.jsonl in the cache folder");
  verb.option("--merge", words->merged, "put the records of these files into --records, and do nothing else");
  verb.flag("--again", words->options.again, "also measure requests that have a record");
  verb.flag("--warm", words->warm, "leave the L2 cache warm between launches");
  verb.flag("--graph", words->options.replay, "replay launches from CUDA graphs");
  verb.runs([&settings, words] {
    return words->merged.empty() ? tune_all(settings, *words) : merge_records(settings, *words);
  });
}

}  // namespace tma_jit::cli
