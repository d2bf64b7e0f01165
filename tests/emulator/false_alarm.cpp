#include "emulator/false_alarm.h"

namespace tma_jit::testing {
namespace {

using emulator::Policy;

constexpr Policy kPolicies[] = {Policy::eager, Policy::lazy, Policy::random, Policy::split, Policy::starved};
constexpr std::size_t kBytes = 4096;

constexpr const char* kVariables =
    ".shared .align 1024 .b8 s[1024];\n.shared .align 8 .b64 m[4];\n.extern .shared .align 1024 .b8 dyn[];\n";

bool begins_with_one_of(const std::string& text, std::string_view choices) {
  while (!choices.empty()) {
    const std::string_view choice = choices.substr(0, choices.find('|'));
    if (text.starts_with(choice)) return true;
    choices.remove_prefix(std::min(choices.size(), choice.size() + 1));
  }
  return false;
}

struct Outcome {
  std::string fault;
  std::vector<std::string> warnings;
};

Outcome run(const KernelVariant& one, const char* arch, Policy policy, u64 seed) {
  auto& device = device_of(arch);
  Outcome outcome;
  TestMemory memory(device, kBytes);
  std::memset(memory.as<char>(), 0, kBytes);
  device.settings = {};
  device.settings.policy = policy;
  device.settings.seed = seed;
  device.settings.polls_before_livelock = 100'000;
  device.settings.warn = [&outcome](std::string_view text) { outcome.warnings.emplace_back(text); };
  outcome.fault = fault_of(kernel_text(one.body, arch, kVariables), memory, one.shape, arch);
  device.settings = {};
  return outcome;
}

}  // namespace

void check_variants(const std::vector<KernelVariant>& variants, const char* arch) {
  for (const KernelVariant& one : variants) {
    CAPTURE(std::string(one.name));
    const bool right = *one.report == '\0';
    for (const Policy policy : kPolicies) {
      CAPTURE(static_cast<int>(policy));
      bool reported = false;
      std::string last;
      for (u64 seed = 1; seed <= 5; ++seed) {
        const Outcome outcome = run(one, arch, policy, seed);
        last = outcome.fault;
        reported = reported || begins_with_one_of(last, one.report);
        if (!right) continue;
        CHECK(outcome.fault == "");
        CHECK(outcome.warnings == std::vector<std::string>{});
      }
      CAPTURE(last);
      CHECK(reported == !right);
    }
  }
}

}  // namespace tma_jit::testing
