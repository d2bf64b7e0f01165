#include <tma_jit/device_choice.h>
#include <tma_jit/engine.h>

#include <doctest/doctest.h>

namespace tma_jit {

TEST_CASE("a device is read from its text, and written as text that is read as the same") {
  CHECK(Device().text() == "0");
  CHECK(*Device::parse("0") == Device());
  CHECK(*Device::parse("3") == Device::cuda(3));
  CHECK(Device::parse("3")->ordinal() == 3);
  CHECK(*Device::parse("H100") == Device::known("h100"));
  CHECK(Device::parse("h100")->kind() == Device::Kind::known);
  CHECK(Device::parse("emulator")->kind() == Device::Kind::emulated);
  for (const Device& device :
       {Device::cuda(7), Device::known("gb10"), Device::emulated({.arch = "sm_121a", .seed = 9, .checks = false})}) {
    CHECK(*Device::parse(device.text()) == device);
  }
}

TEST_CASE("what names no device is refused") {
  const Error unknown = Device::parse("h1000").error();
  CHECK(unknown.code == ErrorCode::not_found);
  CHECK(unknown.reason == ErrorReason::unknown_name);
  CHECK(unknown.suggestion == "h100");
  CHECK(Device::parse("-1").error().code == ErrorCode::not_found);
  CHECK(Device::parse("99999999999").error().code == ErrorCode::not_found);
  CHECK(Device::parse("").error().code == ErrorCode::not_found);
  const Error setting = Device::parse("emulator:polcy=lazy").error();
  CHECK(setting.code == ErrorCode::invalid_argument);
  CHECK(setting.suggestion == "policy");
}

TEST_CASE("an emulated device is asked for no other target than it runs") {
  const auto refusal = [](const char* emulated, const char* target) -> Error {
    Engine engine({.device = Device::emulated({.arch = emulated, .library = "/tmp/no-such-folder/none.so"}),
                   .arch = target,
                   .use_cache = false,
                   .log_level = LogLevel::off});
    return engine.device().error();
  };
  const Error other = refusal("sm_90a", "sm_100a");
  CHECK(other.code == ErrorCode::invalid_argument);
  CHECK(other.message ==
        "the emulated device is sm_90a and the target wanted is sm_100a, whose code it does not run: name one of them");
  for (const auto& [emulated, target] : {std::pair("sm_90a", "sm_90"), {"", "sm_100a"}, {"sm_103a", "sm_100f"}}) {
    CHECK(refusal(emulated, target).reason == ErrorReason::emulator_missing);  // of the library, not of the target
  }
}

}  // namespace tma_jit
