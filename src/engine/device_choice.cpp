#include "engine/device_choice.h"

#include "base/text.h"
#include "core/failure.h"
#include "device/device_facts.h"
#include "driver/emulator.h"
#include "plan/planner.h"

namespace tma_jit::engine {
namespace {

std::optional<int> ordinal_of(const Device& device) {
  if (device.kind() == Device::Kind::known) return std::nullopt;
  return device.ordinal();
}

bool is_emulated(const Device& device) {
  return device.kind() == Device::Kind::emulated;
}

constexpr std::string_view kEmulatedByDefault = "sm_90a";

// "emulator:sm_100" means the emulated device for sm_100a; without a target, Options::arch decides.
Result<EmulatorSettings> emulation_of(const Options& options, std::string_view defaults) {
  TMA_JIT_ASSIGN(EmulatorSettings settings, parse_emulator(options.device.text(), defaults));
  const std::string target = options.arch.empty() ? std::string(kEmulatedByDefault) : options.arch;
  TMA_JIT_ASSIGN(settings.arch, normalise_arch(settings.arch.empty() ? target : settings.arch));
  if (options.arch.empty()) return settings;
  TMA_JIT_ASSIGN(const std::string wanted, normalise_arch(target));
  if (plan::serves(wanted, settings.arch)) return settings;
  return failure(ErrorCode::invalid_argument,
                 "the emulated device is {} and the target wanted is {}, whose code it does not run: name one of them",
                 settings.arch, wanted);
}

driver::Provider emulator_of(const Options& options, std::string_view defaults, const Logger& log) {
  auto settings = emulation_of(options, defaults);
  if (!settings)
    return [error = settings.error()]() -> Result<driver::SharedApi> { return tl::make_unexpected(error); };
  return driver::emulator_provider(*std::move(settings),
                                   [log](std::string_view text) { log->warn("emulator: {}", text); });
}

}  // namespace

EngineDevice::EngineDevice(const Options& options, std::string_view emulator_defaults, driver::Provider provider,
                           const Logger& log)
    : device_(options.device),
      arch_(options.arch),
      limits_(options.limits),
      ordinal_(ordinal_of(device_)),
      provider_(is_emulated(device_) ? emulator_of(options, emulator_defaults, log) : std::move(provider)) {}

Result<int> EngineDevice::driver_version() const {
  TMA_JIT_ASSIGN(driver::SharedApi api, provider_());
  return api->version;
}

Result<driver::SharedContext> EngineDevice::context() {
  if (!ordinal_) {
    return failure(
        ErrorCode::unsupported,
        "this engine plans for the device \"{}\" by name and opens none: to launch, let the device be a CUDA "
        "ordinal such as 0, or the emulator",
        device_.text());
  }
  const std::lock_guard lock(mutex_);
  if (context_ == nullptr) {
    TMA_JIT_ASSIGN(driver::SharedApi api, provider_());
    TMA_JIT_ASSIGN(context_, driver::Context::open(std::move(api), *ordinal_));
  }
  return context_;
}

Artifact::Form EngineDevice::takes() {
  if (device_.kind() == Device::Kind::emulated) {
    const auto opened = context();
    return opened ? (*opened)->api().takes : Artifact::Form::ptx;
  }
  const std::lock_guard lock(mutex_);
  return context_ != nullptr ? context_->api().takes : Artifact::Form::cubin;
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
    TMA_JIT_ASSIGN(DeviceInfo other, device::device_for_arch(target));
    if (other.compute_capability != facts.compute_capability) facts = std::move(other);
    facts.arch = target;  // e.g. "sm_120f" for an sm_120a device
  }
  return limits_ ? device::tightened(std::move(facts), *limits_) : std::move(facts);
}

Result<DeviceInfo> EngineDevice::own_facts(const std::string& target) {
  if (!ordinal_) return device_named(device_.text());
  auto opened = context();
  if (opened) return (*opened)->device();
  Error error = std::move(opened).error();
  if (!target.empty() && !is_emulated(device_)) return device::device_for_arch(target);
  if (!error.detail.empty() && error.detail.back() != '\n') error.detail += '\n';
  error.detail += fmt::format("planning and building need no GPU where the device is a name ({}) or a target is named",
                              joined(known_devices()));
  return tl::make_unexpected(std::move(error));
}

}  // namespace tma_jit::engine
