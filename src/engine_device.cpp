#include "engine_device.h"

#include <charconv>
#include <cstdlib>

#include "base/failure.h"
#include "base/text.h"
#include "emulator/choice.h"
#include "emulator/driver/table.h"
#include "plan/device_facts.h"

namespace tma_jit {
namespace {

std::optional<int> ordinal_in(std::string_view device) {
  int ordinal = 0;
  const auto [end, error] = std::from_chars(device.data(), device.data() + device.size(), ordinal);
  if (error != std::errc{} || end != device.data() + device.size()) return std::nullopt;
  return ordinal;
}

constexpr std::string_view kEmulatedByDefault = "sm_90a";

Result<emulator::Choice> choice_of(const std::string& device) {
  const char* environment = std::getenv("TMA_JIT_EMULATOR");
  return emulator::read_choice(device, environment != nullptr ? environment : "");
}

// "emulator:sm_100" is the emulated device that stands for sm_100a; without a target, Options::arch chooses.
Result<int> emulated_ordinal(const Options& options) {
  TMA_JIT_ASSIGN(const emulator::Choice choice, choice_of(options.device));
  std::string target = choice.target;
  if (target.empty()) target = options.arch.empty() ? kEmulatedByDefault : std::string_view(options.arch);
  TMA_JIT_ASSIGN(const std::string arch, normalise_arch(target));
  if (const auto ordinal = emulator::ordinal_of(arch)) return *ordinal;
  return failure(ErrorCode::not_found, "the emulator has no device for {}", arch);
}

// A target that is no device's is the ordinal of none: opening it says so.
std::optional<int> ordinal_of(const Options& options) {
  if (!emulator::is_emulator(options.device)) return ordinal_in(options.device);
  return emulated_ordinal(options).value_or(-1);
}

driver::Provider provider_of(const Options& options, driver::Provider given) {
  if (!emulator::is_emulator(options.device)) return given;
  return [options]() -> Result<const driver::Api*> {
    TMA_JIT_CHECK(emulated_ordinal(options));
    return emulator::load();
  };
}

}  // namespace

EngineDevice::EngineDevice(const Options& options, driver::Provider provider)
    : device_(options.device),
      arch_(options.arch),
      limits_(options.limits),
      ordinal_(ordinal_of(options)),
      provider_(provider_of(options, std::move(provider))) {}

void EngineDevice::report_emulation(const Logger& log) const {
  if (!emulator::is_emulator(device_) || !ordinal_ || *ordinal_ < 0) return;
  const auto choice = choice_of(device_);
  if (!choice) return;  // opening the device says so
  emulator::Settings settings = choice->settings;
  settings.warn = [log](std::string_view text) { log->warn("emulator: {}", text); };
  emulator::configure(*ordinal_, settings);
}

Result<int> EngineDevice::driver_version() const {
  TMA_JIT_ASSIGN(const driver::Api* api, provider_());
  return api->version;
}

Result<driver::SharedContext> EngineDevice::context() {
  if (!ordinal_) {
    return failure(
        ErrorCode::unsupported,
        "this engine plans for the device \"{}\" by name and opens none: make one with Options::device set to "
        "a CUDA ordinal to launch",
        device_);
  }
  const std::lock_guard lock(mutex_);
  if (context_ == nullptr) {
    TMA_JIT_ASSIGN(const driver::Api* api, provider_());
    TMA_JIT_ASSIGN(context_, driver::Context::open(*api, *ordinal_));
  }
  return context_;
}

Result<DeviceInfo> EngineDevice::facts() {
  {
    const std::lock_guard lock(mutex_);
    if (facts_) return *facts_;
  }
  TMA_JIT_ASSIGN(DeviceInfo facts, read_facts());
  const std::lock_guard lock(mutex_);
  facts_ = facts;
  return facts;
}

Result<DeviceInfo> EngineDevice::read_facts() {
  std::string target;
  if (!arch_.empty()) {
    TMA_JIT_ASSIGN(target, normalise_arch(arch_));
  }
  TMA_JIT_ASSIGN(DeviceInfo facts, own_facts(target));
  if (!target.empty() && target != facts.arch) {
    TMA_JIT_ASSIGN(DeviceInfo other, planning::device_for_arch(target));
    if (other.compute_capability != facts.compute_capability) facts = std::move(other);
    facts.arch = target;  // "sm_120f" of an sm_120a device
  }
  return limits_ ? planning::tightened(std::move(facts), *limits_) : std::move(facts);
}

Result<DeviceInfo> EngineDevice::own_facts(const std::string& target) {
  if (!ordinal_) return device_named(device_);
  auto opened = context();
  if (opened) return (*opened)->device();
  if (!target.empty()) return planning::device_for_arch(target);
  Error error = std::move(opened).error();
  if (!error.detail.empty() && error.detail.back() != '\n') error.detail += '\n';
  error.detail += fmt::format("planning and building need no GPU where the device is a name ({}) or a target is named",
                              joined(known_devices()));
  return tl::make_unexpected(std::move(error));
}

}  // namespace tma_jit
