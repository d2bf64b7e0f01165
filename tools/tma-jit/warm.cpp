// tma-jit warm: builds kernels ahead of time, for any targets, without a GPU or a driver.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <thread>

#include <tma_jit/cache.h>
#include <tma_jit/emulator.h>
#include <tma_jit/remote.h>

#include "describe.h"
#include "list_file.h"
#include "progress.h"
#include "text.h"
#include "verbs.h"

namespace tma_jit::cli {
namespace {

struct Words {
  std::vector<std::string> kernels;
  std::vector<std::string> lists;
  bool all = false;
  unsigned jobs = 0;
  std::string pack;
  std::string sign;
};

constexpr double kFlushMax = 600;  // for uploads to the server that the environment names, seconds

// One kernel to build: a request of one target's engine.
struct Task {
  Engine* engine;
  Request request;
};

struct Row {
  std::string fault;  // empty if built or found
  std::string words;  // description, once it is planned
  std::string arch;
  bool compiled = false;
  double compile_ms = 0;
};

// Engines by target, each created when the first line needs it.
class Targets {
 public:
  Targets(const Settings& settings, unsigned jobs) : settings_(settings), jobs_(jobs) {}

  Outcome<Engine*> engine(const std::string& arch) {
    Settings one = settings_;
    one.arch = arch;
    CLI_ASSIGN(Options options, engine_options(one));
    auto& engine = engines_[options.arch];
    if (engine == nullptr) {
      options.compiler.workers = static_cast<int>(jobs_);
      // With --remote everything is uploaded, and signed, at the end.
      if (!settings_.remote.empty()) options.cache.remote.role = RemoteRole::read_only;
      options.cache.remote.flush_s = kFlushMax;
      engine = std::make_unique<Engine>(std::move(options));
    }
    return engine.get();
  }

 private:
  const Settings& settings_;
  const unsigned jobs_;
  std::map<std::string, std::unique_ptr<Engine>> engines_;
};

class Work {
 public:
  Work(const Settings& settings, unsigned jobs) : settings_(settings), targets_(settings, jobs) {}

  Outcome<void> add(const ListEntry& entry) {
    std::vector<std::string> archs;
    if (!settings_.arch.empty()) archs = split_commas(settings_.arch);
    if (!entry.line.arch.empty()) {
      CLI_ASSIGN(const bool wanted, is_wanted(entry, archs));
      if (!wanted) return {};
      archs = {entry.line.arch};
    }
    if (archs.empty() && is_emulated(settings_)) {
      CLI_ASSIGN(const EmulatorSettings emulator, parse_emulator(settings_.device));
      if (!emulator.arch.empty()) archs = {emulator.arch};
    }
    if (archs.empty()) {
      return usage("{}: no target: name some with --arch, e.g. --arch sm_90a,sm_100a,sm_120a", entry.place);
    }
    for (const std::string& arch : archs) CLI_CHECK(add_for(entry, arch));
    return {};
  }

  std::vector<Task>& tasks() { return tasks_; }
  std::size_t skipped() const { return skipped_; }

 private:
  // Skips a line for a target that --arch does not list.
  Outcome<bool> is_wanted(const ListEntry& entry, const std::vector<std::string>& archs) {
    const auto target = normalise_arch(entry.line.arch);
    if (!target) return usage_of(target.error(), entry.place);
    const bool wanted = archs.empty() || std::any_of(archs.begin(), archs.end(), [&](const std::string& arch) {
                          const auto named = normalise_arch(arch);
                          return named && *named == *target;
                        });
    skipped_ += wanted ? 0 : 1;
    return wanted;
  }

  Outcome<void> add_for(const ListEntry& entry, const std::string& arch) {
    CLI_ASSIGN(Engine* const engine, targets_.engine(arch));
    CLI_ASSIGN(auto requests, warm_requests(*engine, entry.line));
    // A kernel need not have a file for every target.
    if (requests.empty()) {
      ++skipped_;
      settings_.console.note("{}: {} has no file for {}", entry.place, entry.line.request.kernel, arch);
    }
    for (Request& request : requests) tasks_.push_back({engine, std::move(request)});
    return {};
  }

  const Settings& settings_;
  Targets targets_;
  std::vector<Task> tasks_;
  std::size_t skipped_ = 0;
};

Row build(const Task& task) {
  Row row;
  row.words = task.request.kernel;
  const auto plan = task.engine->plan(task.request);
  if (!plan) {
    row.fault = plan.error().text();
    return row;
  }
  row.arch = plan->arch;
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
      const Row& row = rows[i];
      const std::string how = !row.fault.empty() ? "failed"
                              : row.compiled     ? fmt::format("{:.0f} ms", row.compile_ms)
                                                 : "there";
      progress.step(fmt::format("{} {}", row.arch, row.words), how);
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < jobs; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  return rows;
}

ListEntry all_presets_of(const std::string& kernel) {
  ListEntry entry{{}, kernel};
  entry.line.request.kernel = kernel;
  entry.line.presets = true;
  return entry;
}

Outcome<std::vector<ListEntry>> read_entries(const Settings& settings, const Words& words) {
  std::vector<ListEntry> entries;
  for (const std::string& list : words.lists) CLI_CHECK(read_list(list, entries));
  for (const std::string& kernel : words.kernels) entries.push_back(all_presets_of(kernel));
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
    for (const std::string& name : names) entries.push_back(all_presets_of(name));
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
  CLI_ASSIGN(const RemoteTransfer transfer, cache_push(root, remote));
  if (transfer.failed != 0) return failed(ErrorCode::io, "{}", transfer.fault);
  settings.console.report("{}: {} of {} entries uploaded\n", transfer.remote, transfer.moved, transfer.entries);
  return {};
}

Outcome<int> report(const Settings& settings, const std::vector<Row>& rows, std::size_t skipped, double seconds) {
  std::size_t compiled = 0, faults = 0;
  double compile_ms = 0;
  Json failures = Json::array();
  for (const Row& row : rows) {
    compiled += row.compiled ? 1 : 0;
    compile_ms += row.compiled ? row.compile_ms : 0;
    if (row.fault.empty()) continue;
    ++faults;
    fmt::print(stderr, "{} {}\n{}\n", row.arch, row.words, row.fault);
    failures.push_back({{"arch", row.arch}, {"what", row.words}, {"fault", row.fault}});
  }
  const std::size_t there = rows.size() - compiled - faults;
  settings.console.report("{} kernels in {:.1f} s: {} compiled ({:.1f} s of compiling), {} were there, {} failed{}\n",
                          rows.size(), seconds, compiled, compile_ms / 1000, there, faults,
                          skipped == 0 ? "" : fmt::format(", {} lines left out", skipped));
  settings.console.object({{"kernels", rows.size()},
                           {"compiled", compiled},
                           {"there", there},
                           {"failed", faults},
                           {"skipped", skipped},
                           {"seconds", seconds},
                           {"compile_ms", compile_ms},
                           {"failures", failures}});
  return faults == 0 ? kDone : kFailed;
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
  for (const ListEntry& entry : entries) CLI_CHECK(work.add(entry));
  Progress progress(settings.console, work.tasks().size());
  const std::vector<Row> rows = build_all(work.tasks(), jobs, progress);
  progress.finish();
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  CLI_ASSIGN(const int status, report(settings, rows, work.skipped(), wall.count()));
  if (!settings.remote.empty()) CLI_CHECK(push(settings, words));
  if (!words.pack.empty()) CLI_CHECK(write_pack(settings, words));
  return status;
}

}  // namespace

void add_warm(Verb command, Settings& settings) {
  Verb verb = command.add_verb("warm", "build kernels ahead of time, for any targets, without a GPU");
  add_settings(verb, settings);
  add_shared(verb, settings);
  auto words = std::make_shared<Words>();
  verb.option("kernels", words->kernels, "kernels, all presets of each");
  verb.repeated("--list", words->lists, "file of what to build, a JSON object a line; may be repeated");
  verb.flag("--all", words->all, "all presets of every kernel");
  verb.option("-j,--jobs", words->jobs, "compiles at a time; default: processors");
  verb.option("--pack", words->pack, "then write the whole cache into this file");
  verb.option("--sign", words->sign, "private key to sign the pack, and what is uploaded, with");
  verb.find("--remote")->help("server of cache entries that is asked first, and gets the whole cache at the end");
  verb.find("--arch")->help("targets, separated by commas; of a list, only its lines for these");
  verb.runs([&settings, words] { return warm(settings, *words); });
}

}  // namespace tma_jit::cli
