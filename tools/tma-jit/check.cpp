// tma-jit check: parses a template file, then builds every preset for every architecture it lists. Warnings are
// failures.
#include <algorithm>
#include <memory>

#include "check_emulated.h"
#include "describe.h"
#include "input_text.h"
#include "progress.h"
#include "request.h"
#include "text.h"
#include "unused_names.h"
#include "verbs.h"

namespace tma_jit::cli {
namespace {

struct Words {
  std::string file;
  std::vector<std::string> words;  // dims
  std::vector<std::string> hooks;
  bool builds_only = false;
  int processors = 0;  // 0: as few as the presets allow
};

struct Row {
  std::string arch;
  std::string types;
  std::string config;
  Json object = Json::object();
  std::string fault;  // empty if built without a warning
  bool built = false;
  Resources resources;
  std::int64_t dynamic_shared_bytes = 0;
  double compile_ms = 0;
};

Row build_row(Engine& engine, const std::string& arch, const Request& request) {
  Row row;
  row.arch = arch;
  const auto plan = engine.plan(request);
  if (!plan) {
    row.fault = plan.error().text();
  } else {
    row.types = type_words(*plan);
    row.config = config_words(*plan);
    row.object = {{"types", row.types}, {"config", cli::to_json(*plan)["config"]}};
    const auto cubin = engine.build(*plan);
    if (cubin) {
      row.built = true;
      row.resources = cubin->resources;
      row.dynamic_shared_bytes = plan->geometry.smem_bytes;
      row.compile_ms = cubin->compile_ms;
      row.fault = fmt::format("{}", fmt::join(cubin->resources.warnings, "\n"));
      merge(row.object, cli::to_json(*cubin, *plan));
    } else {
      row.fault = cubin.error().text();
    }
  }
  return row;
}

std::string spaced(const std::string& words) {
  return words.empty() ? words : " " + words;
}

void print(const Console& console, const Row& row) {
  if (row.built) {
    console.report("{:<8} {:>4} {:>6} {:>7} {:>8.0f}  {} {}\n", row.arch, row.resources.registers,
                   row.resources.spill_store_bytes + row.resources.spill_load_bytes,
                   row.resources.static_shared_bytes + row.dynamic_shared_bytes, row.compile_ms, row.types, row.config);
  } else {
    console.report("{:<8} failed{}{}\n", row.arch, spaced(row.types), spaced(row.config));
  }
  if (row.fault.empty()) return;
  std::fflush(stdout);
  fmt::print(stderr, "{}\n", row.fault);
}

// Returns an engine that plans for one architecture: for the device given, or for the known device of that
// architecture.
Outcome<Engine> engine_for(const Settings& settings, const std::string& arch, const std::string& file) {
  Settings one = settings;
  if (is_emulated(settings)) one.device.clear();  // the kernel is built for the target's GPUs
  one.arch = arch;
  CLI_ASSIGN(Engine engine, make_engine(one));
  CLI_CHECK(engine.add_template_file(file));
  return engine;
}

Outcome<std::map<std::string, std::int64_t>> read_dims(const Kernel& kernel, const std::vector<std::string>& words) {
  std::map<std::string, std::int64_t> dims;
  const std::vector<std::string> names = kernel.names(&KernelInfo::dims);
  for (const std::string& word : words) {
    CLI_ASSIGN(const Pair pair, split_pair(word, "word"));
    if (!kernel.declares(&KernelInfo::dims, pair.name)) {
      return unknown_name(
          usage("{}: {} has no dim \"{}\"; it has {}", word, kernel.name, pair.name, fmt::join(names, ", ")), pair.name,
          names);
    }
    const auto value = integer_in(pair.value);
    if (!value) return usage("{}: \"{}\" is not an integer", word, pair.value);
    dims[pair.name] = *value;
  }
  return dims;
}

Outcome<std::vector<Row>> check_arch(const Settings& settings, const CheckedFile& file, const std::string& arch) {
  CLI_ASSIGN(Engine engine, engine_for(settings, arch, file.path));
  CLI_ASSIGN(std::vector<Request> presets, engine.presets(file.kernel->name, file.dims));
  const std::vector<Request> requests = of_file(std::move(presets), file);
  std::vector<Row> rows;
  Progress progress(settings.console, requests.size());
  for (const Request& request : requests) {
    rows.push_back(build_row(engine, arch, request));
    print(settings.console, rows.back());
    progress.step(arch + ", built");
  }
  progress.finish();
  if (rows.empty()) return failed(ErrorCode::no_config, "{}: nothing to build for {}", file.path, arch);
  return rows;
}

// Returns a message for each name that the file declares for nothing; none where the file has no plan, whose builds say
// why.
Outcome<std::vector<std::string>> find_unused(const Settings& settings, const CheckedFile& file,
                                              const std::string& arch) {
  CLI_ASSIGN(Engine engine, engine_for(settings, arch, file.path));
  CLI_ASSIGN(std::vector<Request> presets, engine.presets(file.kernel->name, file.dims));
  CLI_ASSIGN(const std::string text, read_text(file.path));
  for (const Request& request : of_file(std::move(presets), file)) {
    const auto plan = engine.plan(request);
    const auto source = plan ? engine.emit(*plan) : tl::make_unexpected(plan.error());
    if (source) return unused_names(file.kernel->files.front(), text, source->headers);
  }
  return std::vector<std::string>();
}

// Returns the architectures in --arch, separated by commas; without it, those of the file.
Outcome<std::vector<std::string>> archs_of(const Settings& settings, const Kernel& kernel) {
  return settings.arch.empty() ? kernel.files.front().archs : targets_in(settings.arch);
}

Outcome<int> check(const Settings& settings, const Words& words) {
  Settings any = settings;
  any.arch.clear();
  CLI_ASSIGN(Engine reader, make_engine(any));
  if (!words.file.ends_with(".cu")) return usage("check {}: expected a template file, which ends in .cu", words.file);
  CLI_ASSIGN(const Kernel kernel, find_kernel(reader, words.file, ""));
  CLI_ASSIGN(auto dims, read_dims(kernel, words.words));
  CLI_ASSIGN(auto hooks, read_hooks(kernel, words.hooks));
  const CheckedFile file{words.file, &kernel, std::move(dims), std::move(hooks), words.processors};
  settings.console.report("{:<8} {:>4} {:>6} {:>7} {:>8}\n", "arch", "regs", "spills", "shared", "ms");
  Json archs = Json::object(), emulated = Json::object();
  std::size_t built = 0, faults = 0, runs = 0, wrong = 0;
  CLI_ASSIGN(const std::vector<std::string> targets, archs_of(settings, kernel));
  CLI_ASSIGN(const std::vector<std::string> unused, find_unused(settings, file, targets.front()));
  for (const std::string& message : unused) fmt::print(stderr, "{}\n", message);
  for (const std::string& arch : targets) {
    CLI_ASSIGN(const std::vector<Row> rows, check_arch(settings, file, arch));
    Json objects = Json::array();
    std::size_t here = 0;
    for (const Row& row : rows) {
      here += row.fault.empty() ? 0 : 1;
      objects.push_back(row.object);
      objects.back()["fault"] = row.fault;
    }
    built += rows.size();
    faults += here;
    archs[arch] = objects;
    if (here > 0 || words.builds_only) continue;
    CLI_ASSIGN(const Emulated ran, check_emulated(settings, file, arch));
    emulated[arch] = ran.object;
    runs += ran.object.size();
    wrong += ran.faults;
  }
  const std::size_t failures = unused.size() + faults + wrong;
  settings.console.report("{}: {} failures: {} of {} builds are clean, {} of {} runs are right\n", words.file, failures,
                          built - faults, built, runs - wrong, runs);
  settings.console.object({{"file", words.file},
                           {"kernel", kernel.name},
                           {"builds", built},
                           {"runs", runs},
                           {"faults", failures},
                           {"unused", unused},
                           {"archs", archs},
                           {"emulated", emulated}});
  return failures == 0 ? kDone : kFailed;
}

}  // namespace

void add_check(Verb command, Settings& settings) {
  Verb verb = command.add_verb(
      "check", "read a template file; build its presets for every architecture it names, and emulate them");
  add_settings(verb, settings);
  auto words = std::make_shared<Words>();
  verb.option("file", words->file, "the template (.cu)").required();
  verb.option("words", words->words, "NAME=VALUE of dims; the others are 1024, and of several sizes in the emulator");
  verb.repeated("--hook", words->hooks, "NAME=TEXT of a hook; may be repeated");
  verb.option("--processors", words->processors, "of the emulated device (4, or 8 where clusters need them)")
      .range(1, 1024);
  verb.flag("--no-emulator", words->builds_only, "build only");
  verb.runs([&settings, words] { return check(settings, *words); });
}

}  // namespace tma_jit::cli
