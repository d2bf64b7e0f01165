#include "warm_work.h"

#include <algorithm>
#include <sstream>

#include <tma_jit/emulator.h>

#include "text.h"

namespace tma_jit::cli {
namespace {

constexpr double kFlushMax = 600;  // for uploads to the server that the environment names, seconds

// Splits what was given, one device a line; only the emulator's settings contain commas.
Outcome<std::vector<std::string>> devices_of(const std::string& given) {
  std::vector<std::string> devices;
  std::istringstream lines(given);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("emulator")) {
      devices.push_back(line);
      continue;
    }
    for (std::string& device : split_commas(line)) {
      if (device.empty()) return usage("--device {}: a device is missing beside a comma", line);
      devices.push_back(std::move(device));
    }
  }
  if (devices.empty()) devices.emplace_back();
  return devices;
}

bool is_word(const ListEntry& entry) {
  return entry.place == entry.line.request.kernel;
}

}  // namespace

Outcome<Engine*> Targets::engine(const Target& target) {
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

std::uint64_t Targets::not_kept() const {
  std::uint64_t count = 0;
  for (const auto& [target, engine] : engines_) count += engine->stats().disk_write_failures;
  return count;
}

Outcome<void> Work::choose_targets() {
  CLI_ASSIGN(const std::vector<std::string> archs, targets_in(settings_.arch));
  CLI_ASSIGN(const std::vector<std::string> devices, devices_of(settings_.device));
  for (const std::string& device : devices) {
    for (const std::string& arch : archs) chosen_.push_back({device, arch});
    if (!archs.empty()) continue;
    CLI_ASSIGN(const std::string arch, own_arch(device));
    if (!device.empty()) chosen_.push_back({device, arch});
  }
  return {};
}

Outcome<void> Work::add(const ListEntry& entry) {
  std::vector<Target> targets = chosen_;
  if (!entry.line.arch.empty()) {
    const auto wanted = normalise_arch(entry.line.arch);
    if (!wanted) return tl::make_unexpected(Failure(placed_at(entry.place, wanted.error())));
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
  const std::size_t before = tasks_.size();
  for (const Target& target : targets) CLI_CHECK(add_for(entry, target));
  if (is_word(entry) && tasks_.size() == before) {
    return failed(ErrorCode::unsupported, "{}: it has no file for {}; tma-jit list says what each file serves",
                  entry.place, targets.size() == 1 ? targets.front().arch : "any of the targets");
  }
  return {};
}

Outcome<std::string> Work::own_arch(const std::string& device) {
  if (device.empty()) return std::string();
  Settings one = settings_;
  one.device = device;
  if (is_emulated(one)) {
    const auto emulator = parse_emulator(device);
    if (!emulator) return usage_of(emulator.error(), "--device " + device);
    return emulator->arch;
  }
  one.no_cache = false;
  CLI_ASSIGN(Engine engine, make_engine(one));
  CLI_ASSIGN(const DeviceInfo facts, engine.device());
  return facts.arch;
}

Outcome<void> Work::add_for(const ListEntry& entry, const Target& target) {
  CLI_ASSIGN(Engine* const engine, targets_.engine(target));
  auto given = warm_requests(*engine, entry.line);
  if (!given) {
    const bool unknown_word = is_word(entry) && given.error().reason == ErrorReason::unknown_name;
    const std::string place = is_word(entry) ? std::string() : entry.place;
    return tl::make_unexpected(Failure(placed_at(place, given.error()), unknown_word ? kUsage : kFailed));
  }
  // A kernel need not have a file for every target.
  if (given->empty()) {
    ++skipped_;
    settings_.console.note("{}{} has no file for {}", is_word(entry) ? "" : entry.place + ": ",
                           entry.line.request.kernel, target.arch);
  }
  const std::string place = is_word(entry) ? std::string() : entry.place;
  for (Request& request : *given) tasks_.push_back({engine, std::move(request), target.arch, place});
  return {};
}

}  // namespace tma_jit::cli
