#include "settings.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "text.h"

namespace tma_jit::cli {
namespace {

constexpr std::array<const char*, 6> kLevels = {"trace", "debug", "info", "warning", "error", "off"};

bool is_ordinal(const std::string& device) {
  return !device.empty() && std::all_of(device.begin(), device.end(), [](char c) { return c >= '0' && c <= '9'; });
}

Outcome<DeviceInfo> facts_named(const std::string& name, const char* option) {
  auto facts = device_named(name);
  if (facts) return *facts;
  const std::vector<std::string> known = known_devices();
  return unknown_name(
      usage("{} \"{}\": no device of that name is known; known are {}", option, name, fmt::join(known, ", ")), name,
      known);
}

Outcome<LogLevel> log_level(const Settings& settings) {
  const auto* const level = std::find(kLevels.begin(), kLevels.end(), settings.log_level);
  if (level == kLevels.end())
    return usage("--log-level \"{}\": expected one of {}", settings.log_level, fmt::join(kLevels, ", "));
  const auto chosen = static_cast<LogLevel>(level - kLevels.begin());
  return settings.console.quiet ? std::max(chosen, LogLevel::error) : chosen;
}

Outcome<std::vector<std::filesystem::path>> template_folders(const Settings& settings) {
  std::vector<std::filesystem::path> folders;
  for (const std::string& folder : settings.templates) {
    std::error_code fault;
    const bool is_folder = std::filesystem::is_directory(folder, fault);
    const bool absent = !fault || fault == std::errc::no_such_file_or_directory;
    if (!is_folder)
      return failed(ErrorCode::io, "--templates {}: {}", folder, absent ? "no such folder" : fault.message());
    folders.emplace_back(folder);
  }
  return folders;
}

// Accepts "emulator", or "emulator:" with a target and settings, which the library parses when the device is opened,
// here.
Outcome<Device> emulated_device(const Settings& settings) {
  auto wanted = Device::parse(settings.trace.empty() ? settings.device : settings.device + ":trace=" + settings.trace);
  if (!wanted) return usage_of(std::move(wanted).error(), "--device " + settings.device);
  Options options;
  options.device = *std::move(wanted);
  options.arch = settings.arch;
  options.use_cache = false;
  options.log_level = LogLevel::off;
  Engine engine(options);
  const auto device = engine.device();
  if (!device && device.error().code == ErrorCode::invalid_argument)
    return usage_of(device.error(), "--device " + settings.device);
  return options.device;
}

Outcome<Device> choose_device(const Settings& settings) {
  if (is_emulated(settings)) return emulated_device(settings);
  if (!settings.trace.empty())
    return usage("--trace {}: only the emulator writes one; give --device emulator", settings.trace);
  if (settings.device.empty()) return Device();
  if (is_ordinal(settings.device)) {
    CLI_ASSIGN(Device gpu, Device::parse(settings.device));
    return gpu;
  }
  CLI_ASSIGN(const DeviceInfo facts, facts_named(settings.device, "--device"));
  return Device::known(facts.name);
}

bool has_device() {
  Options options;
  options.use_cache = false;
  options.log_level = LogLevel::off;
  Engine engine(options);
  return engine.device().has_value();
}

}  // namespace

bool is_emulated(const Settings& settings) {
  return settings.device == "emulator" || settings.device.starts_with("emulator:");
}

void add_console_options(Verb verb, Settings& settings) {
  verb.flag("--json", settings.console.json, "print one JSON object instead of text");
  verb.flag("-q,--quiet", settings.console.quiet, "print nothing but results and errors");
}

void add_settings(Verb verb, Settings& settings) {
  add_console_options(verb, settings);
  verb.option(
      "--device", settings.device,
      "CUDA ordinal; emulator[:TARGET][:policy=P,seed=N] to run on the CPU; a known device to plan and build for");
  verb.option("--arch", settings.arch, "target instead of the device's own, e.g. sm_90a");
  verb.option("--limits", settings.limits, "known device whose limits planning obeys where they are tighter");
  verb.option("--cache-dir", settings.cache_dir, "cache folder instead of TMA_JIT_CACHE_DIR or the user's");
  add_remote(verb, settings);
  verb.flag("--no-cache", settings.no_cache, "neither read nor write the cache");
  verb.repeated("--templates", settings.templates, "folder of templates, searched first; may be repeated");
  verb.option("--nvrtc", settings.nvrtc, "libnvrtc to load instead of searching for one");
  verb.flag("--disable-tma", settings.disable_tma, "plan only with files that do not use TMA");
  verb.flag("--line-info", settings.line_info, "compile with line information for profilers");
  verb.option("--log-level", settings.log_level, "trace, debug, info, warning, error or off");
}

Outcome<std::vector<std::string>> targets_in(const std::string& archs) {
  std::vector<std::string> targets = archs.empty() ? std::vector<std::string>() : split_commas(archs);
  for (const std::string& target : targets) {
    const auto normal = normalise_arch(target);
    if (!normal) return usage_of(normal.error(), "--arch " + archs);
  }
  return targets;
}

void add_remote(Verb verb, Settings& settings) {
  verb.option("--remote", settings.remote, "URL of a server of cache entries instead of TMA_JIT_REMOTE");
}

RemoteOptions remote_options(const Settings& settings) {
  RemoteOptions remote;
  remote.url = settings.remote;
  return remote;
}

Failure server_failure(Error error) {
  const int exit = error.code == ErrorCode::invalid_argument ? kUsage : kFailed;
  return {std::move(error), exit};
}

void add_shared(Verb verb, Settings& settings) {
  Option shared =
      verb.flag("--shared", settings.shared, "make the cache folder, and what is put there, readable by every user");
  if (const auto no_cache = verb.find("--no-cache")) shared.excludes(*no_cache);
}

Outcome<Options> engine_options(const Settings& settings) {
  if (settings.no_cache && !settings.cache_dir.empty())
    return usage("--no-cache and --cache-dir {} contradict each other: give one of them", settings.cache_dir);
  if (settings.no_cache && !settings.remote.empty())
    return usage("--no-cache and --remote contradict each other: a server is a level of the cache");
  Options options;
  if (!settings.arch.empty()) {
    auto arch = normalise_arch(settings.arch);
    if (!arch) return usage_of(arch.error(), "--arch");
    options.arch = *arch;
  }
  CLI_ASSIGN(options.device, choose_device(settings));
  if (!settings.limits.empty()) {
    CLI_ASSIGN(options.limits, facts_named(settings.limits, "--limits"));
  }
  CLI_ASSIGN(options.log_level, log_level(settings));
  CLI_ASSIGN(options.template_dirs, template_folders(settings));
  options.cache_dir = settings.cache_dir;
  options.use_cache = !settings.no_cache;
  options.cache.shared = settings.shared;
  options.cache.remote = remote_options(settings);
  options.nvrtc = settings.nvrtc;
  if (settings.disable_tma) options.disable_tma = settings.disable_tma;
  options.line_info = settings.line_info;
  return options;
}

Settings launching(Settings settings) {
  if (settings.device.empty() && !has_device()) {
    settings.device = "emulator";
    settings.console.note(
        "there is no GPU here, so this runs on the emulator, as {}; --device emulator:TARGET chooses another",
        settings.arch.empty() ? "sm_90a" : settings.arch);
  }
  return settings;
}

Outcome<Engine> make_engine(const Settings& settings) {
  CLI_ASSIGN(Options options, engine_options(settings));
  return Engine(std::move(options));
}

}  // namespace tma_jit::cli
