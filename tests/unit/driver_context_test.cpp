#include "driver/context.h"

#include <doctest/doctest.h>

#include "support/fake_driver.h"

namespace tma_jit {

using testing::FakeDriver;

TEST_CASE("the driver's errors carry the call, the name, the number and the text") {
  FakeDriver fake;
  const auto result = driver::checked(fake.api(), CUDA_ERROR_OUT_OF_MEMORY, "cuMemAlloc({} bytes)", 4096);
  REQUIRE(!result);
  CHECK(result.error().code == ErrorCode::driver);
  CHECK(result.error().message == "cuMemAlloc(4096 bytes): CUDA_ERROR_OUT_OF_MEMORY (2): in the driver's words");
  CHECK(driver::error_of(fake.api(), CUDA_ERROR_UNKNOWN, "cuInit").message ==
        "cuInit: an error this driver does not name (999): in the driver's words");
  CHECK(driver::version_text(12040) == "CUDA 12.4");
}

TEST_CASE("without libcuda the error lists what was tried") {
  const auto api = driver::load();
  if (api) return;  // this machine has a driver
  CHECK(api.error().code == ErrorCode::driver);
  if (api.error().detail.find("libcuda.so.1: ") == std::string::npos) return;  // it has one that does not start
  CHECK(api.error().message == "no CUDA driver: libcuda.so.1 could not be opened; tried");
  CHECK(api.error().detail.find("/usr/lib/wsl/lib/libcuda.so.1: ") != std::string::npos);
}

TEST_CASE("a context is retained for its life and its device read") {
  FakeDriver fake;
  {
    const auto context = driver::Context::open(driver::borrowed(fake.api()), 0);
    REQUIRE(context);
    CHECK(fake.retained() == 1);
    const DeviceInfo& device = (*context)->device();
    CHECK(device.name == "NVIDIA H100 80GB HBM3");
    CHECK(device.arch == "sm_90a");
    CHECK(device.compute_capability == 90);
    CHECK(device.sm_count == 132);
    CHECK(device.smem_per_block == 232448);
    CHECK(device.cluster_max == 8);
    CHECK(device.multicast);
    CHECK(device.memory_bytes == std::int64_t{80} << 30);
    CHECK(device.clock_mhz == doctest::Approx(1980));
    CHECK(device.memory_gb_per_s == doctest::Approx(3352.3).epsilon(0.001));
    CHECK(device.bf16_tflops > 900);
  }
  CHECK(fake.retained() == 0);
}

TEST_CASE("a cut-down device has its share of the named device's rate") {
  FakeDriver fake;
  fake.device_attributes[CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT] = 66;
  const auto context = driver::Context::open(driver::borrowed(fake.api()), 0);
  REQUIRE(context);
  const auto facts = device_named("h100");
  REQUIRE(facts);
  CHECK((*context)->device().bf16_tflops == doctest::Approx(facts->bf16_tflops / 2));
}

TEST_CASE("an sm_121 device is planned for as it is: its exact target, no multicast") {
  FakeDriver fake;
  fake.device_name = "NVIDIA GB10";
  fake.device_attributes[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR] = 12;
  fake.device_attributes[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR] = 1;
  fake.device_attributes[CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE] = 0;
  const auto context = driver::Context::open(driver::borrowed(fake.api()), 0);
  REQUIRE(context);
  CHECK((*context)->device().arch == "sm_121a");
  CHECK(!(*context)->device().multicast);
  CHECK((*context)->device().memory_gb_per_s == doctest::Approx(273));
}

TEST_CASE("an ordinal that is not there is refused with the number that are") {
  FakeDriver fake;
  const auto context = driver::Context::open(driver::borrowed(fake.api()), 3);
  REQUIRE(!context);
  CHECK(context.error().text() == "not_found: no CUDA device 3: this process sees 1 device (0)");
  CHECK(fake.retained() == 0);
}

TEST_CASE("every failing call of opening a device is reported and leaves nothing retained") {
  for (const char* call : {"cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetName", "cuDeviceGetAttribute",
                           "cuDeviceTotalMem", "cuDevicePrimaryCtxRetain"}) {
    FakeDriver fake;
    fake.fail(call, CUDA_ERROR_INVALID_VALUE);
    const auto context = driver::Context::open(driver::borrowed(fake.api()), 0);
    REQUIRE(!context);
    CHECK(context.error().message.starts_with(call));
    CHECK(context.error().message.find("CUDA_ERROR_INVALID_VALUE (1)") != std::string::npos);
    CHECK(fake.retained() == 0);
  }
}

TEST_CASE("a scope pushes only where another context is current, and puts it back") {
  FakeDriver fake;
  const auto context = driver::Context::open(driver::borrowed(fake.api()), 0);
  REQUIRE(context);
  const auto other = reinterpret_cast<CUcontext>(std::uintptr_t{0x99});
  fake.contexts().push_back(other);
  {
    const auto scope = driver::Scope::enter(**context);
    REQUIRE(scope);
    CHECK(fake.contexts().back() == fake.primary());
    CHECK(fake.capture_mode() == CU_STREAM_CAPTURE_MODE_RELAXED);
    const auto inner = driver::Scope::enter(**context);
    CHECK(fake.count("cuCtxPushCurrent") == 1);
  }
  CHECK(fake.contexts().back() == other);
  CHECK(fake.contexts().size() == 1);
  CHECK(fake.capture_mode() == CU_STREAM_CAPTURE_MODE_GLOBAL);
}

TEST_CASE("a scope that cannot change the capture mode pops what it pushed") {
  FakeDriver fake;
  const auto context = driver::Context::open(driver::borrowed(fake.api()), 0);
  REQUIRE(context);
  fake.fail("cuThreadExchangeStreamCaptureMode", CUDA_ERROR_INVALID_VALUE);
  CHECK(!driver::Scope::enter(**context));
  CHECK(fake.contexts().empty());
}

}  // namespace tma_jit
