#include "device/device_facts.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "base/embedded_file.h"
#include "device/fact_names.h"

namespace tma_jit {

namespace {

// Bytes a block can have, by the technical specifications per compute capability.
int smem_of(int compute_capability) {
  if (compute_capability == 80) return 163 * 1024;
  return (compute_capability >= 90 && compute_capability < 120 ? 227 : 99) * 1024;
}

}  // namespace

TEST_CASE("every known device has every fact") {
  CHECK(known_devices() ==
        std::vector<std::string>{"a10", "a100", "b200", "b300", "gb10", "h100", "h200", "l4", "rtx4090", "rtx5090"});
  for (const std::string& name : known_devices()) {
    CAPTURE(name);
    const Result<DeviceInfo> info = device_named(name);
    REQUIRE(info.has_value());
    CHECK(info->name == name);
    CHECK(info->arch == normalise_arch("sm_" + std::to_string(info->compute_capability)).value());
    CHECK(info->smem_per_block == smem_of(info->compute_capability));
    CHECK(info->smem_per_sm == info->smem_per_block + 1024);
    CHECK(info->threads_per_block == 1024);
    const bool clusters = info->compute_capability >= 90;
    CHECK(info->cluster_max == (clusters ? 8 : 1));
    CHECK(info->multicast == (clusters && info->compute_capability < 120));
    CHECK(info->sm_count >= 48);
    CHECK(
        info->f32_tflops * 1e6 ==
        doctest::Approx(info->sm_count * (info->compute_capability == 80 ? 128 : 256) * info->clock_mhz).epsilon(0.02));
  }
}

TEST_CASE("every number carries its origin") {
  for (unsigned long i = 0; i < kDeviceFactsCount; ++i) {
    const auto facts = nlohmann::json::parse(kDeviceFacts[i].text());
    CHECK(facts.size() == 16);
    for (const auto& [fact, entry] : facts.items()) {
      CAPTURE(fact);
      CHECK(entry.size() == 2);
      CHECK(entry.at("origin").get<std::string>().size() > 10);
    }
  }
}

TEST_CASE("a device is found by its name in any case, and an unknown one suggests") {
  CHECK(device_named("H200").value().memory_gb_per_s == 4800);
  const Error error = device_named("h2000").error();
  CHECK(error.code == ErrorCode::not_found);
  CHECK(
      error.line() ==
      "no device is known as \"h2000\" (known: a10, a100, b200, b300, gb10, h100, h200, l4, rtx4090, rtx5090); did you "
      "mean \"h200\"?");
}

TEST_CASE("targets become exact") {
  CHECK(normalise_arch("sm_121").value() == "sm_121a");
  CHECK(normalise_arch("sm_90").value() == "sm_90a");
  CHECK(normalise_arch("sm_90a").value() == "sm_90a");
  CHECK(normalise_arch("sm_120f").value() == "sm_120f");
  CHECK(normalise_arch("sm_80").value() == "sm_80");
  for (const char* wrong : {"", "sm", "sm_", "sm_9", "sm_9000", "sm_90b", "sm_a", "compute_90", "90", "sm_90aa"}) {
    CAPTURE(wrong);
    CHECK(normalise_arch(wrong).error().message ==
          "\"" + std::string(wrong) + "\" is not a target; write sm_ and a number, e.g. sm_90a");
  }
  CHECK(normalise_arch("sm_80a").error().message == "there is no target sm_80a; write sm_80");
  CHECK(normalise_arch("sm_90f").error().message == "there is no target sm_90f; write sm_90");
}

TEST_CASE("a target alone is planned with its representative device") {
  CHECK(device::device_for_arch("sm_100").value().name == "b200");
  CHECK(device::device_for_arch("sm_120f").value().arch == "sm_120f");
  CHECK(device::device_for_arch("sm_121a").value().smem_per_block == 101376);
  CHECK(device::device_for_arch("sm_80").value().smem_per_block == 166912);
  CHECK(device::device_for_arch("sm_86").value().name == "a10");
  CHECK(device::device_for_arch("sm_75").error().message ==
        "no device facts for sm_75; known targets are sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_103a, sm_120a and "
        "sm_121a");
}

TEST_CASE("limits only tighten") {
  DeviceInfo limits;
  limits.smem_per_block = 101376;
  limits.sm_count = 1000;
  const DeviceInfo device = device::tightened(device_named("h100").value(), limits);
  CHECK(device.smem_per_block == 101376);
  CHECK(device.sm_count == 132);
  CHECK(device.threads_per_block == 1024);
  CHECK_FALSE(device.multicast);
}

TEST_CASE("device facts by name") {
  DeviceInfo device;
  device.sm_count = 132;
  device.multicast = true;
  device.compute_capability = 90;
  CHECK(device::device_fact(device, "sm_count") == 132);
  CHECK(device::device_fact(device, "multicast") == 1);
  CHECK(device::device_fact(device, "compute_capability") == 90);
  CHECK_FALSE(device::device_fact(device, "sm_cout"));
  CHECK(device::device_fact_names().size() == 11);
}

}  // namespace tma_jit
