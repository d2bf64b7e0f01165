// tma-jit warm: builds kernels ahead of time, for any targets, without a GPU or a driver.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
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
  bool prove = false;
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

// A device to plan for, and the target instead of its own; either may be empty.
struct Target {
  std::string device;
  std::string arch;
};

// Engines by target, each created when the first line needs it.
class Targets {
 public:
  Targets(const Settings& settings, unsigned jobs) : settings_(settings), jobs_(jobs) {}

  Outcome<Engine*> engine(const Target& target) {
    Settings one = settings_;
    one.device = target.device;
    one.arch = target.arch;
    CLI_ASSIGN(Options options, engine_options(one));
    auto& engine = engines_[{target.device, options.arch}];
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
  std::map<std::pair<std::string, std::string>, std::unique_ptr<Engine>> engines_;
};

// Splits what was given, one device a line; only the emulator's settings contain commas.
std::vector<std::string> devices_of(const std::string& given) {
  std::vector<std::string> devices;
  std::istringstream lines(given);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("emulator")) {
      devices.push_back(line);
    } else {
      for (std::string& device : split_commas(line)) devices.push_back(std::move(device));
    }
  }
  if (devices.empty()) devices.emplace_back();
  return devices;
}

class Work {
 public:
  Work(const Settings& settings, unsigned jobs) : settings_(settings), targets_(settings, jobs) {}

  // Each of the devices with each of the targets; a device alone has its own target.
  Outcome<void> choose_targets() {
    CLI_ASSIGN(const std::vector<std::string> archs, targets_in(settings_.arch));
    for (const std::string& device : devices_of(settings_.device)) {
      for (const std::string& arch : archs) chosen_.push_back({device, arch});
      if (!archs.empty()) continue;
      CLI_ASSIGN(const std::string arch, own_arch(device));
      if (!device.empty()) chosen_.push_back({device, arch});
    }
    return {};
  }

  Outcome<void> add(const ListEntry& entry) {
    std::vector<Target> targets = chosen_;
    if (!entry.line.arch.empty()) {
      const auto wanted = normalise_arch(entry.line.arch);
      if (!wanted) return usage_of(wanted.error(), entry.place);
      std::erase_if(targets, [&](const Target& target) {
        const auto named = normalise_arch(target.arch);
        return !target.arch.empty() && (!named || *named != *wanted);
      });
      if (targets.empty() && !chosen_.empty()) ++skipped_;
      if (chosen_.empty()) targets = {{"", entry.line.arch}};
      for (Target& target : targets) target.arch = entry.line.arch;
    }
    const bool named = std::all_of(targets.begin(), targets.end(), [](const Target& one) { return !one.arch.empty(); });
    if ((targets.empty() && chosen_.empty()) || !named) {
      return usage("{}: no target: name some with --arch, e.g. --arch sm_90a,sm_100a,sm_120a, or devices with --device",
                   entry.place);
    }
    for (const Target& target : targets) CLI_CHECK(add_for(entry, target));
    return {};
  }

  std::vector<Task>& tasks() { return tasks_; }
  std::size_t skipped() const { return skipped_; }

 private:
  // Returns the target of a device; empty if --device is not given, or names the emulator without one.
  Outcome<std::string> own_arch(const std::string& device) {
    if (device.empty()) return std::string();
    Settings one = settings_;
    one.device = device;
    if (is_emulated(one)) {
      CLI_ASSIGN(const EmulatorSettings emulator, parse_emulator(device));
      return emulator.arch;
    }
    one.no_cache = false;
    CLI_ASSIGN(Engine engine, make_engine(one));
    CLI_ASSIGN(const DeviceInfo facts, engine.device());
    return facts.arch;
  }

  Outcome<void> add_for(const ListEntry& entry, const Target& target) {
    CLI_ASSIGN(Engine* const engine, targets_.engine(target));
    auto given = warm_requests(*engine, entry.line);
    if (!given) {
      const bool unknown_word =
          given.error().reason == ErrorReason::unknown_name && entry.place == entry.line.request.kernel;
      return tl::make_unexpected(Failure(given.error(), unknown_word ? kUsage : kFailed));
    }
    std::vector<Request>& requests = *given;
    // A kernel need not have a file for every target.
    if (requests.empty()) {
      ++skipped_;
      settings_.console.note("{}: {} has no file for {}", entry.place, entry.line.request.kernel, target.arch);
    }
    for (Request& request : requests) tasks_.push_back({engine, std::move(request)});
    return {};
  }

  const Settings& settings_;
  Targets targets_;
  std::vector<Target> chosen_;
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
      progress.step(fmt::format("{} {}", rows[i].arch, rows[i].words));
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

// Proves each target's requests with its engine, and names what is missing.
Outcome<int> prove_all(const Settings& settings, const std::vector<Task>& tasks, std::size_t skipped) {
  std::map<Engine*, std::vector<Request>> by_engine;
  for (const Task& task : tasks) by_engine[task.engine].push_back(task.request);
  std::size_t there = 0;
  double ms = 0;
  Json missing = Json::array();
  for (const auto& [engine, requests] : by_engine) {
    CLI_ASSIGN(const DeviceInfo device, engine->device());
    const Proof proof = prove(*engine, requests);
    there += proof.there;
    ms += proof.ms;
    for (const Proof::Missing& one : proof.missing) {
      const Request& request = requests[one.request];
      fmt::print(stderr, "missing: {}\n  {}\n", request_line(request), one.error.line());
      missing.push_back({{"arch", device.arch},
                         {"kernel", request.kernel},
                         {"line", request_line(request)},
                         {"fault", one.error.line()}});
    }
  }
  settings.console.report("{} of {} kernels are there, proved in {:.1f} ms{}\n", there, tasks.size(), ms,
                          skipped == 0 ? "" : fmt::format(", {} lines left out", skipped));
  const int status = missing.empty() ? kDone : kFailed;
  settings.console.object({{"kernels", tasks.size()},
                           {"there", there},
                           {"skipped", skipped},
                           {"proof_ms", ms},
                           {"missing", std::move(missing)}});
  return status;
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
  if (words.prove) return prove_all(settings, work.tasks(), work.skipped());
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
