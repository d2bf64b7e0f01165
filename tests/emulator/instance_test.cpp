// One instance of the emulator per engine: settings apply to it, and instances share nothing.
#include <tma_jit/device.h>
#include <tma_jit/emulator.h>

#include <doctest/doctest.h>

#include "emulator/ptx_kernel.h"

using namespace tma_jit;
using namespace tma_jit::testing;

namespace {

// Uses the shared library, as applications do.
Engine opened(const EmulatorSettings& settings) {
  Options options;
  options.device = Device::emulated(settings);
  options.use_cache = false;
  return Engine(options);
}

}  // namespace

TEST_CASE("Engines have emulated devices of their own") {
  Engine hopper = opened({.arch = "sm_90a", .processors = 3}), twin = opened({.arch = "sm_90a"});
  Engine blackwell = opened({.arch = "sm_100a"});
  REQUIRE_MESSAGE(hopper.device(), hopper.device().error().text());
  CHECK(hopper.device()->sm_count == 3);
  CHECK(twin.device()->sm_count == device_named("h100")->sm_count);
  CHECK(twin.device()->name == "h100, emulated");
  CHECK(blackwell.device()->arch == "sm_100a");
  auto buffer = DeviceBuffer::allocate(hopper, 64);
  REQUIRE(buffer);
  const std::uint64_t address = buffer->address();
  auto other = DeviceBuffer::allocate(twin, 64);
  REQUIRE(other);
  CHECK(other->address() != address);
  CHECK(buffer->fill(1));
}

TEST_CASE("What an engine made outlives it on its own device") {
  std::optional<DeviceBuffer> buffer;
  {
    Engine engine = opened({.arch = "sm_120a"});
    buffer = DeviceBuffer::allocate(engine, 16).value();
  }
  std::uint8_t bytes[16] = {};
  REQUIRE(buffer->fill(7));
  REQUIRE(buffer->download(bytes, sizeof bytes));
  CHECK(bytes[15] == 7);
}

TEST_CASE("A device that is closed is known to nobody, and its ordinal is not given again") {
  DeviceInfo facts = device_named("h100").value();
  int gone = 0;
  {
    const emulator::driver::Device device(facts);
    gone = device.ordinal;
    CHECK(emulator::driver::device_at(gone) == &device);
  }
  CHECK(emulator::driver::device_at(gone) == nullptr);
  const emulator::driver::Device next(facts);
  CHECK(next.ordinal > gone);
}

TEST_CASE("A report names the policy and the seed it was found with") {
  auto& device = device_of("sm_90a");
  TestMemory memory(device, 64);
  device.settings.policy = EmulatorPolicy::starved;
  device.settings.seed = 41;
  const std::string fault = fault_of(kernel_text("trap;"), memory);
  device.settings = {};
  CHECK(fault.find("--device emulator:sm_90a:policy=starved,seed=41") != std::string::npos);
}
