#include "device_features.h"

#include <doctest/doctest.h>

#include "advice.h"

namespace tma_jit::cli {
namespace {

// A probe of two presets, which one target has, as a file in a folder named "probes".
std::string probe(const std::string& arch) {
  return "//! kernel  shown  \"D = what the unit does\"\n"
         "//! arch    " +
         arch +
         "\n"
         "//! dim     N = 32\n"
         "//! param   WIDTH = 4 in {4, 8, 0x10}\n"
         "//! param   DEEP = 0 in 0..1\n"
         "//! type    T = f32 in {f32, bf16}\n"
         "//! require WIDTH * sizeof(T) <= 32  \"at most 32 bytes\"\n"
         "//! tensor  D : T[N] out\n"
         "//! launch  grid 1  block 32\n"
         "//! preset  WIDTH = 8  \"shown: eight wide\"\n"
         "//! preset  WIDTH = 0x10, DEEP = 1 when N > 8  \"shown: sixteen wide and deep\"\n"
         "extern \"C\" __global__ void shown(View<T, 1>, const Dims) {}\n";
}

std::vector<Feature> shown_on(const std::string& device, const std::string& arch) {
  Engine engine({.device = Device::known(device), .use_cache = false, .log_level = LogLevel::off});
  REQUIRE(engine.add_template("/probes/shown.cu", probe(arch)));
  std::vector<Feature> features = features_of(engine);
  std::erase_if(features, [](const Feature& feature) { return feature.kernel != "shown"; });
  return features;
}

}  // namespace

TEST_CASE("each preset of a probe is a feature, with the engine's request for it") {
  const std::vector<Feature> features = shown_on("h100", "sm_90a");
  REQUIRE(features.size() == 2);
  CHECK(features[0].name == "shown: eight wide");
  CHECK(features[0].params == std::map<std::string, std::int64_t>{{"WIDTH", 8}, {"DEEP", 0}});
  REQUIRE(features[0].request);
  CHECK(features[0].request->params == features[0].params);
  CHECK(features[1].name == "shown: sixteen wide and deep");
  CHECK(features[1].params == std::map<std::string, std::int64_t>{{"WIDTH", 16}, {"DEEP", 1}});
  REQUIRE(features[1].request);
  CHECK(features[1].request->types.at("T") == DType::bf16);  // the types that make it valid
  CHECK(features[1].status == Feature::Status::not_run);
}

TEST_CASE("a feature of another architecture is absent, with those that have it") {
  const std::vector<Feature> features = shown_on("h100", "sm_100a, sm_103a");
  REQUIRE(features.size() == 2);
  CHECK(!features[0].request);
  CHECK(features[0].status == Feature::Status::absent);
  CHECK(describe(features).find("shown: eight wide             absent   only on sm_100a sm_103a\n") !=
        std::string::npos);
  CHECK(to_json(features)[0]["status"] == "absent");
  CHECK(to_json(features)[0]["archs"] == Json{"sm_100a", "sm_103a"});
}

TEST_CASE("a preset whose condition excludes the device is absent, and says so") {
  Engine engine({.device = Device::known("h100"), .use_cache = false, .log_level = LogLevel::off});
  std::string text = probe("sm_90a");
  const std::string condition = "when N > 8";
  REQUIRE(engine.add_template("/probes/shown.cu",
                              text.replace(text.find(condition), condition.size(), "when device.sm_count > 1000")));
  std::vector<Feature> features = features_of(engine);
  std::erase_if(features, [](const Feature& feature) { return feature.kernel != "shown"; });
  REQUIRE(features.size() == 2);
  CHECK(features[0].status == Feature::Status::not_run);
  CHECK(features[1].status == Feature::Status::absent);
  CHECK(describe(features).find(
            "absent   not for this device: preset WIDTH = 0x10, DEEP = 1 when device.sm_count > 1000\n") !=
        std::string::npos);
}

TEST_CASE("the embedded probes are all found, each preset with a name of its own") {
  Engine engine({.device = Device::known("h100"), .use_cache = false, .log_level = LogLevel::off});
  const std::vector<Feature> features = features_of(engine);
  CHECK(features.size() >= 4);
  std::map<std::string, int> named;
  for (const Feature& feature : features) {
    ++named[feature.name];
    CHECK_MESSAGE(feature.status != Feature::Status::failed, feature.name);
    CHECK_MESSAGE(feature.request.has_value() == (feature.status == Feature::Status::not_run), feature.name);
    CHECK_MESSAGE(!feature.name.empty(), feature.kernel);
  }
  for (const auto& [name, count] : named) CHECK_MESSAGE(count == 1, name);
}

TEST_CASE("a failed feature is told with its error and what to do") {
  std::vector<Feature> features(2);
  features[0].name = "one";
  features[0].status = Feature::Status::failed;
  features[0].time_us = 3;
  features[0].fault = "  check     D: 3 of 4 agree\n";
  features[0].advice = advice_for_wrong_result("one WIDTH=4");
  features[1].name = "other";
  features[1].status = Feature::Status::passed;
  features[1].time_us = 100;
  features[1].share = 0.5;
  features[1].peak = "3352 GB/s";
  CHECK(describe(features) ==
        "  one    failed        3.00 us\n"
        "        check     D: 3 of 4 agree\n"
        "      do: the device computed it wrongly: please report it with the output of tma-jit doctor --json and of "
        "tma-jit run one WIDTH=4 --check --json\n"
        "  other  passed      100.00 us   50.0% of 3352 GB/s\n");
}

TEST_CASE("each failure has advice of its own") {
  const auto starts = [](const std::string& advice, const std::string& words) {
    CHECK_MESSAGE(advice.find(words) != std::string::npos, advice);
  };
  starts(advice_for_driver({ErrorCode::driver, "no CUDA driver", {}, ErrorReason::library_missing}), "--gpus all");
  starts(advice_for_driver({ErrorCode::driver, "cuInit(0): none", {}, ErrorReason::no_device}), "CUDA_VISIBLE_DEVICES");
  starts(advice_for_driver({ErrorCode::driver, "too old", {}, ErrorReason::library_outdated}), "update the NVIDIA");
  starts(advice_for_driver({ErrorCode::driver, "no emulator", {}, ErrorReason::emulator_missing}), "TMA_JIT_EMULATOR");
  starts(advice_for_device({ErrorCode::not_found, "no CUDA device 3", {}}), "--device");
  starts(advice_for_compiler(), "TMA_JIT_NVRTC");

  Environment found;
  const Error refused{ErrorCode::compile, "sm_103a is not known", {}};
  starts(advice_for_kernel(refused, found), "install NVRTC");
  found.compiler =
      Environment::Compiler{.path = "", .version = "12.4", .identity = "", .archs = {"sm_90a"}, .missing_features = {}};
  found.device = DeviceInfo{};
  found.device->arch = "sm_103a";
  starts(advice_for_kernel(refused, found), "NVRTC 12.4 does not compile for sm_103a");
  found.compiler->archs.emplace_back("sm_103a");
  starts(advice_for_kernel(refused, found), "please report");
  found.compiler->missing_features.emplace_back("something (since 13.1)");
  starts(advice_for_kernel(refused, found), "lacks features of newer releases");
  starts(advice_for_kernel({ErrorCode::driver, "cuLibraryLoadData: no", {}, ErrorReason::image_refused}, found),
         "older than NVRTC");
  starts(advice_for_kernel({ErrorCode::driver, "cuMemAlloc: no", {}, ErrorReason::out_of_memory}, found), "nvidia-smi");
}

}  // namespace tma_jit::cli
