// What a device's name says, and that reports say how to have them again.
#include "emulator/choice.h"
#include "emulator/ptx_kernel.h"

using namespace tma_jit;
using namespace tma_jit::testing;
using emulator::Policy;
using emulator::read_choice;

TEST_CASE("A device's name chooses target, policy and seed; the environment what it leaves open") {
  const auto whole = read_choice("emulator:sm_100a:policy=lazy,seed=7,checks=0", "policy=eager");
  REQUIRE(whole);
  CHECK(whole->target == "sm_100a");
  CHECK(whole->settings.policy == Policy::lazy);
  CHECK(whole->settings.seed == 7);
  CHECK_FALSE(whole->settings.checks);
  const auto bare = read_choice("emulator", "policy=starved,seed=12");
  REQUIRE(bare);
  CHECK(bare->target.empty());
  CHECK(bare->settings.policy == Policy::starved);
  CHECK(bare->settings.seed == 12);
  CHECK(bare->settings.checks);
  const auto traced = read_choice("emulator:seed=3:sm_90a:trace=/tmp/a,b:c=d.json", "");
  REQUIRE(traced);
  CHECK(traced->target == "sm_90a");
  CHECK(traced->settings.trace == "/tmp/a,b:c=d.json");
}

TEST_CASE("Names that cannot be read are refused with what is known") {
  for (const char* name : {"emulator:seed=", "emulator:seed=-1", "emulator:policy=fast", "emulator:sm_90a:sm_100a",
                           "emulator:colour=red", "emulator:checks=yes", "emulator:checks=2"}) {
    CAPTURE(name);
    const auto choice = read_choice(name, "");
    REQUIRE_FALSE(choice);
    CHECK(choice.error().code == ErrorCode::invalid_argument);
  }
  CHECK(read_choice("emulator", "seed=7x").error().message == "emulator: seed=7x: expected a number");
  CHECK_FALSE(emulator::is_emulator("emulators"));
  CHECK(emulator::is_emulator("emulator:x"));
}

TEST_CASE("Every policy has a name") {
  for (const std::string& name : emulator::policy_names())
    CHECK(emulator::name_of(*emulator::policy_named(name)) == name);
}

TEST_CASE("A report names the policy and the seed it was found with") {
  auto& device = device_of("sm_90a");
  TestMemory memory(device, 64);
  device.settings.policy = Policy::starved;
  device.settings.seed = 41;
  const std::string fault = fault_of(kernel_text("trap;"), memory);
  device.settings = {};
  CHECK(fault.find("--device emulator:sm_90a:policy=starved,seed=41") != std::string::npos);
}
