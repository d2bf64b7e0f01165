#include "driver/reachable.h"

#include <chrono>

#include <doctest/doctest.h>

#include "driver/argument_buffer.h"
#include "support/fake_driver.h"
#include "support/plans.h"

namespace tma_jit::driver {
namespace {

using namespace testing;

constexpr std::uint64_t kAddress = 0x10000;

struct Machine {
  FakeDriver fake;
  SharedContext context = Context::open(borrowed(fake.api()), 0).value();

  std::string fault_of(const FakeDriver::Pointer& pointer) {
    fake.pointers = {{kAddress, pointer}};
    const auto checked = check_reachable(*context, "A", kAddress);
    return checked ? "" : checked.error().message;
  }
};

}  // namespace

TEST_CASE("an address at which CUDA knows no memory is an error that says what may be given") {
  Machine machine;
  const std::string fault = machine.fault_of({});
  CHECK(fault.find("A: NVIDIA H100 80GB HBM3 cannot reach the address 0x10000") == 0);
  CHECK(fault.find("ordinary host memory or was freed") != std::string::npos);
  machine.fake.device_attributes[CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS] = 1;
  CHECK(machine.fault_of({}).empty());
}

TEST_CASE("another device's memory needs peer access") {
  Machine machine;
  FakeDriver::Pointer other{CU_MEMORYTYPE_DEVICE, 3, false, false, true};
  const std::string fault = machine.fault_of(other);
  CHECK(fault.find("A: device 0 cannot reach the address 0x10000, which is memory of device 3") == 0);
  CHECK(fault.find("cuCtxEnablePeerAccess") != std::string::npos);
  other.reachable = true;
  CHECK(machine.fault_of(other).empty());
}

TEST_CASE("pinned, registered and managed memory is fine, and what the driver has no answer for") {
  Machine machine;
  CHECK(machine.fault_of({CU_MEMORYTYPE_HOST, 0, true, false, true}).empty());
  CHECK(machine.fault_of({CU_MEMORYTYPE_HOST, 0, false, false, false}).empty());
  CHECK(machine.fault_of({CU_MEMORYTYPE_DEVICE, 1, false, true, true}).empty());   // managed
  CHECK(machine.fault_of({0, -2, false, false, true}).empty());                    // mapped, by whatever made it
  CHECK(machine.fault_of({CU_MEMORYTYPE_DEVICE, 0, false, false, true}).empty());  // its own, if it says so oddly
  machine.fake.api().pointer_get_attributes = [](unsigned, CUpointer_attribute*, void**, CUdeviceptr) {
    return CUDA_ERROR_INVALID_CONTEXT;
  };
  CHECK(machine.fault_of({}).empty());
  machine.fake.api().pointer_get_attributes = nullptr;
  CHECK(machine.fault_of({}).empty());
}

TEST_CASE("addresses are asked about once each, when they are bound; a launch asks nothing") {
  Machine machine;
  const Plan plan = plan_of({boxed("A", kAddress, 512, 256), viewed("bias", 0x20000, 256)});
  auto arguments = Arguments::encode(*machine.context, plan.arguments);
  REQUIRE(arguments);
  CHECK(machine.fake.pointer_queries == 2);
  machine.fake.pointers[0x30000] = {};
  const auto refused = arguments->set_address(*machine.context, 0, 0x30000);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::invalid_argument);
  CHECK(refused.error().message.find("A: ") == 0);
  CHECK(machine.fake.pointer_queries == 3);
  CHECK_FALSE(Arguments::encode(*machine.context, plan_of({viewed("bias", 0x30000, 256)}).arguments));
  CHECK(FakeDriver::contexts().empty());  // the caller's context is as it was
}

}  // namespace tma_jit::driver
