#include "driver/emulator.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "base/companion.h"
#include "base/text.h"
#include "driver/emulator_interface.h"

namespace tma_jit::driver {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kName = "libtma_jit_emulator.so";

EmulatorConfiguration configuration_of(const EmulatorSettings& settings, const DeviceInfo& device) {
  EmulatorConfiguration configuration{};
  configuration.device.name = device.name.c_str();
  configuration.device.arch = device.arch.c_str();
  copy_numbers(device, configuration.device);
  configuration.policy = static_cast<std::uint32_t>(settings.policy);
  configuration.checks = settings.checks ? 1 : 0;
  configuration.references = settings.references ? 1 : 0;
  configuration.seed = settings.seed;
  configuration.instructions = settings.instructions;
  configuration.trace = settings.trace.c_str();
  return configuration;
}

void warn_receiver(void* receiver, const char* text, std::size_t bytes) {
  (*static_cast<const WarningSink*>(receiver))(std::string_view(text, bytes));
}

Result<Library> open_library(const fs::path& wanted) {
  Error error{
      ErrorCode::driver,
      fmt::format("the emulator's library {} could not be opened: install it (component "
                  "\"emulator\" of the package, or a build with TMA_JIT_BUILD_EMULATOR=ON), or name its file in "
                  "TMA_JIT_EMULATOR; tried",
                  kName),
      {},
      ErrorReason::emulator_missing};
  return open_companion(kName, wanted, std::move(error));
}

// An instance, together with the library that contains its code. Not copyable or movable, because the library keeps the
// address of `warn_`.
class Emulator {
 public:
  explicit Emulator(WarningSink warn) : warn_(std::move(warn)) {}
  ~Emulator() {
    if (instance_ != nullptr) close_(instance_);
  }
  Emulator(const Emulator&) = delete;
  Emulator& operator=(const Emulator&) = delete;

  Result<void> open(const EmulatorSettings& settings) {
    TMA_JIT_ASSIGN(const DeviceInfo device, emulated_device(settings));
    TMA_JIT_ASSIGN(library_, open_library(settings.library));
    TMA_JIT_CHECK(check_interface());
    EmulatorOpen make = nullptr;
    if (!library_->find(make, kEmulatorOpenName) || !library_->find(close_, kEmulatorCloseName)) return foreign();
    EmulatorConfiguration configuration = configuration_of(settings, device);
    configuration.warn = warn_receiver;
    configuration.receiver = &warn_;
    instance_ = make(&configuration, &api_);
    if (instance_ == nullptr) {
      return failure(
          ErrorCode::driver,
          "the host has no memory for an emulated device, or this process was forked while another thread of "
          "its parent was in the emulator: fork at another time, or start a program in the child");
    }
    return {};
  }
  const Api& api() const { return api_; }

 private:
  Result<void> foreign() const {
    return failure(ErrorCode::driver, "{} is not the emulator: it does not export {}, {} and {}",
                   library_->path().string(), kEmulatorInterfaceName, kEmulatorOpenName, kEmulatorCloseName);
  }
  Result<void> check_interface() const {
    EmulatorInterface interface = nullptr;
    if (!library_->find(interface, kEmulatorInterfaceName)) return foreign();
    if (interface() == kEmulatorInterface) return {};
    return failure(ErrorCode::driver,
                   "{} has interface {:x} of the emulator, and this library has {:x}: install both from one release",
                   library_->path().string(), interface(), kEmulatorInterface);
  }

  WarningSink warn_;
  std::optional<Library> library_;
  EmulatorClose close_ = nullptr;
  void* instance_ = nullptr;
  Api api_;
};

Result<SharedApi> open_emulator(const EmulatorSettings& settings, const WarningSink& warn) {
  auto emulator = std::make_shared<Emulator>(warn);
  TMA_JIT_CHECK(emulator->open(settings));
  const Api& api = emulator->api();
  return SharedApi(std::move(emulator), &api);
}

}  // namespace

Result<DeviceInfo> emulated_device(const EmulatorSettings& settings) {
  std::vector<std::string> targets;
  for (const std::string& name : known_devices()) {
    TMA_JIT_ASSIGN(DeviceInfo device, device_named(name));
    targets.push_back(device.arch);
    if (device.arch != settings.arch) continue;
    if (settings.processors != 0) device.sm_count = settings.processors;
    return device;
  }
  std::ranges::sort(targets, {}, [](const std::string& target) { return std::pair(target.size(), target); });
  targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
  return unknown_name(
      failure(ErrorCode::not_found, "the emulator has no device for {}; it has {}", settings.arch, joined(targets)),
      settings.arch, targets);
}

Provider emulator_provider(EmulatorSettings settings, WarningSink warn) {
  struct Opened {
    std::mutex mutex;
    SharedApi api;
  };
  return [settings = std::move(settings), warn = std::move(warn),
          opened = std::make_shared<Opened>()]() -> Result<SharedApi> {
    const std::lock_guard lock(opened->mutex);
    if (opened->api == nullptr) {
      TMA_JIT_ASSIGN(opened->api, open_emulator(settings, warn));
    }
    return opened->api;
  };
}

std::vector<fs::path> emulator_libraries(const fs::path& wanted) {
  return companion_files(kName, wanted);
}

}  // namespace tma_jit::driver
