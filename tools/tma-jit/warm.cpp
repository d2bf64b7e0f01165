// tma-jit warm: builds kernels ahead of time, for any targets, without a GPU or a driver.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <thread>

#include <tma_jit/cache.h>
#include <tma_jit/remote.h>

#include "describe.h"
#include "list_file.h"
#include "progress.h"
#include "text.h"
#include "together.h"
#include "verbs.h"
#include "warm_work.h"

namespace tma_jit::cli {
namespace {

struct Words {
  std::vector<std::string> kernels;
  std::vector<std::string> lists;
  bool all = false;
  bool prove = false;
  unsigned jobs = 0;
  std::string pack;
  std::string sign;
};

struct Row {
  std::string fault;  // empty if built or found
  std::string words;  // what was planned, or the kernel
  bool compiled = false;
  double compile_ms = 0;
};

Row build(const Task& task) {
  Row row;
  row.words = task.request.kernel;
  const auto plan = task.engine->plan(task.request);
  if (!plan) {
    row.fault = plan.error().text();
    return row;
  }
  row.words = fmt::format("{} {} {}", plan->kernel, type_words(*plan), config_words(*plan));
  const auto cubin = task.engine->build(*plan);
  if (!cubin) {
    row.fault = cubin.error().text();
    return row;
  }
  row.compiled = cubin->compiled;
  row.compile_ms = cubin->compile_ms;
  return row;
}

std::vector<Row> build_all(const std::vector<Task>& tasks, unsigned jobs, Progress& progress) {
  std::vector<Row> rows(tasks.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < tasks.size(); i = next++) {
      rows[i] = build(tasks[i]);
      progress.step(fmt::format("{} {}", tasks[i].arch, rows[i].words));
    }
  };
  const std::size_t count = std::min<std::size_t>(jobs, tasks.size());
  run_together(count == 0 ? 0 : count - 1, work);
  return rows;
}

ListEntry all_presets_of(const std::string& kernel, const std::string& place) {
  ListEntry entry{{}, place};
  entry.line.request.kernel = kernel;
  entry.line.presets = true;
  return entry;
}

Outcome<std::vector<ListEntry>> read_entries(const Settings& settings, const Words& words) {
  std::vector<ListEntry> entries;
  for (const std::string& list : words.lists) CLI_CHECK(read_list(list, entries));
  for (const std::string& kernel : words.kernels) {
    if (kernel.ends_with(".jsonl")) return usage("warm: {0} names no kernel; a list is given with --list {0}", kernel);
    entries.push_back(all_presets_of(kernel, kernel));
  }
  if (words.all) {
    Settings any = settings;
    any.arch.clear();
    CLI_ASSIGN(Engine engine, make_engine(any));
    std::vector<std::string> names;
    for (const auto& kernel : engine.kernels()) {
      if (kernel && !kernel->probe) names.push_back(kernel->kernel);
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    for (const std::string& name : names) entries.push_back(all_presets_of(name, "--all"));
  }
  if (entries.empty() && words.lists.empty()) {
    return usage("warm: nothing to build: name kernels, a list with --list, or --all");
  }
  return entries;
}

// Writes the whole cache folder as one file, including entries that this command did not build.
Outcome<void> write_pack(const Settings& settings, const Words& words) {
  const std::filesystem::path root =
      settings.cache_dir.empty() ? default_cache_dir() : std::filesystem::path(settings.cache_dir);
  CLI_ASSIGN(const PackInfo info, cache_pack(root, words.pack, words.sign));
  settings.console.report("packed {} kernels into {}, {}\n", info.entries, words.pack, readable_bytes(info.bytes));
  return {};
}

// Uploads the whole cache folder, including entries that this command did not build.
Outcome<void> push(const Settings& settings, const Words& words) {
  RemoteOptions remote = remote_options(settings);
  remote.sign_key = words.sign;
  const std::filesystem::path root =
      settings.cache_dir.empty() ? default_cache_dir() : std::filesystem::path(settings.cache_dir);
  const auto transfer = cache_push(root, remote);
  if (!transfer) return tl::make_unexpected(server_failure(transfer.error()));
  if (transfer->failed != 0) {
    return failed(ErrorCode::io, "{} of {} entries were not uploaded, the first because of {}", transfer->failed,
                  transfer->entries, transfer->fault);
  }
  settings.console.report("{}: {} of {} entries uploaded\n", transfer->remote, transfer->moved, transfer->entries);
  return {};
}

std::string left_out(std::size_t skipped) {
  return skipped == 0 ? "" : fmt::format(", {} left out", skipped);
}

// Tells what was built and what failed, and returns the object of --json.
Json report(const Console& console, const Work& work, const std::vector<Row>& rows, double seconds) {
  std::size_t compiled = 0, faults = 0;
  double compile_ms = 0;
  Json failures = Json::array();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    const Task& task = work.tasks()[i];
    compiled += row.compiled ? 1 : 0;
    compile_ms += row.compiled ? row.compile_ms : 0;
    if (row.fault.empty()) continue;
    ++faults;
    fmt::print(stderr, "{}{}{} {}\n{}\n", task.place, task.place.empty() ? "" : ": ", task.arch, row.words, row.fault);
    failures.push_back({{"place", task.place}, {"arch", task.arch}, {"what", row.words}, {"fault", row.fault}});
  }
  const std::size_t there = rows.size() - compiled - faults;
  console.report("{} kernels in {:.1f} s: {} compiled ({:.1f} s of compiling), {} were there, {} failed{}\n",
                 rows.size(), seconds, compiled, compile_ms / 1000, there, faults, left_out(work.skipped()));
  return {{"kernels", rows.size()}, {"compiled", compiled},        {"there", there},
          {"failed", faults},       {"not_kept", work.not_kept()}, {"skipped", work.skipped()},
          {"seconds", seconds},     {"compile_ms", compile_ms},    {"failures", failures}};
}

// What was compiled and is not in the cache is lost: no failure for an application, and one for who fills the cache.
Outcome<void> check_kept(const Console& console, const Work& work) {
  if (work.not_kept() == 0) return {};
  return failed(ErrorCode::io, "{} kernels were compiled and could not be kept in the cache folder: {}",
                work.not_kept(), console.quiet ? "without --quiet a warning says why" : "the warning above says why");
}

// Proves each target's requests with its engine, and names what is missing.
Outcome<int> prove_all(const Settings& settings, const Work& work) {
  const std::size_t skipped = work.skipped();
  if (work.tasks().empty() && skipped != 0) {
    return failed(
        ErrorCode::not_found,
        "--prove: nothing is proved: all {} lines are for other targets, or of kernels without a file for these",
        skipped);
  }
  std::map<Engine*, std::vector<const Task*>> by_engine;
  for (const Task& task : work.tasks()) by_engine[task.engine].push_back(&task);
  std::size_t there = 0;
  double ms = 0;
  Json missing = Json::array();
  for (const auto& [engine, tasks] : by_engine) {
    std::vector<Request> requests;
    for (const Task* task : tasks) requests.push_back(task->request);
    const Proof proof = prove(*engine, requests);
    there += proof.there;
    ms += proof.ms;
    for (const Proof::Missing& one : proof.missing) {
      const Task& task = *tasks[one.request];
      const std::string line = request_line(task.request);
      fmt::print(stderr, "missing: {}{}{} {}\n  {}\n", task.place, task.place.empty() ? "" : ": ", task.arch, line,
                 one.error.line());
      missing.push_back({{"place", task.place},
                         {"arch", task.arch},
                         {"kernel", task.request.kernel},
                         {"line", line},
                         {"fault", one.error.line()}});
    }
  }
  settings.console.report("{} of {} kernels are there, proved in {:.1f} ms{}\n", there, work.tasks().size(), ms,
                          left_out(skipped));
  const int status = missing.empty() ? kDone : kFailed;
  settings.console.object({{"kernels", work.tasks().size()},
                           {"there", there},
                           {"skipped", skipped},
                           {"proof_ms", ms},
                           {"missing", std::move(missing)}});
  return status;
}

// Uploads and packs what was asked for.
Outcome<void> deliver(const Settings& settings, const Words& words) {
  if (!settings.remote.empty()) CLI_CHECK(push(settings, words));
  if (!words.pack.empty()) CLI_CHECK(write_pack(settings, words));
  return {};
}

Outcome<int> warm(const Settings& settings, const Words& words) {
  if (settings.no_cache && !words.pack.empty())
    return usage("--no-cache and --pack {} contradict each other: what is packed is the cache", words.pack);
  if (!words.sign.empty() && words.pack.empty() && settings.remote.empty())
    return usage("--sign {}: there is nothing to sign without --pack or --remote", words.sign);
  const auto start = std::chrono::steady_clock::now();
  CLI_ASSIGN(const std::vector<ListEntry> entries, read_entries(settings, words));
  const unsigned jobs = words.jobs != 0 ? words.jobs : std::max(1U, std::thread::hardware_concurrency());
  Work work(settings, jobs);
  CLI_CHECK(work.choose_targets());
  for (const ListEntry& entry : entries) CLI_CHECK(work.add(entry));
  if (words.prove) return prove_all(settings, work);
  Progress progress(settings.console, work.tasks().size());
  const std::vector<Row> rows = build_all(work.tasks(), jobs, progress);
  progress.finish();
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  Json object = report(settings.console, work, rows, wall.count());
  int status = object["failed"] == 0 ? kDone : kFailed;
  for (const Outcome<void>& step : {check_kept(settings.console, work), deliver(settings, words)}) {
    if (step) continue;
    settings.console.tell(step.error().error);
    if (!object.contains("error")) object["error"] = cli::to_json(step.error().error);
    status = step.error().exit;
  }
  settings.console.object(object);
  return status;
}

}  // namespace

void add_warm(Verb command, Settings& settings) {
  Verb verb = command.add_verb("warm", "build kernels ahead of time, for any targets, without a GPU");
  add_settings(verb, settings);
  add_shared(verb, settings);
  auto words = std::make_shared<Words>();
  verb.option("kernels", words->kernels, "kernels, all presets of each");
  verb.repeated("--list,--manifest", words->lists, "file of what to build, a JSON object a line; may be repeated");
  verb.flag("--all", words->all, "all presets of every kernel");
  verb.option("-j,--jobs", words->jobs, "compiles at a time; default: processors").range(1, 1024);
  verb.option("--pack", words->pack, "then write the whole cache into this file");
  verb.option("--sign", words->sign, "private key to sign the pack, and what is uploaded, with");
  Option prove =
      verb.flag("--prove", words->prove, "build nothing: prove that the cache has all of it, or list what it lacks");
  for (const char* other : {"--pack", "--sign", "--no-cache", "--remote"}) prove.excludes(*verb.find(other));
  verb.find("--device")->joined().help("devices to plan and build for, separated by commas; may be repeated");
  verb.find("--remote")->help("server of cache entries that is asked first, and gets the whole cache at the end");
  verb.find("--arch")->help("targets, separated by commas; of a list, only its lines for these");
  verb.runs([&settings, words] { return warm(settings, *words); });
}

}  // namespace tma_jit::cli
