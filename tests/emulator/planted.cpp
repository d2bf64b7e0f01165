#include "emulator/planted.h"

namespace tma_jit::testing {
namespace {

using emulator::Policy;

constexpr std::size_t kBytes = 65536;
constexpr std::uint64_t kSeeds = 5;
constexpr const char* kVariables =
    ".file 1 \"planted.cu\"\n.extern .shared .align 1024 .b8 dyn[];\n.shared .align 128 .b8 s[1024];\n"
    ".shared .align 8 .b64 m[4];\n.const .align 8 .b8 constants[16];\n";

emulator::Settings settings_of(Policy policy, std::uint64_t seed) {
  emulator::Settings settings;
  settings.policy = policy;
  settings.seed = seed;
  settings.polls_before_livelock = 50'000;
  return settings;
}

std::string location(int line) {
  return "planted.cu:" + std::to_string(line) + ":";
}

// Returns whether the text begins with one of the words, which are separated by '|'.
bool begins(std::string_view text, std::string_view words) {
  while (!words.empty()) {
    const std::size_t end = words.find('|');
    if (text.starts_with(words.substr(0, end))) return true;
    words.remove_prefix(end == std::string_view::npos ? words.size() : end + 1);
  }
  return false;
}

// Returns what is missing from the report; empty if nothing is.
std::string missing_from(const emulator::Fault& fault, const Planted& bug) {
  const std::string text = fault.text();
  if (!begins(text, bug.report)) return "its class";
  if (fault.kind == emulator::FaultKind::unsupported || fault.kind == emulator::FaultKind::trap) return "";
  if (text.find(bug.line == 0 ? "planted.cu:" : "at " + location(bug.line)) == std::string::npos) return "its line";
  if (bug.other != 0 && text.find("at " + location(bug.other)) == std::string::npos) return "the other side's line";
  if (text.find("again with --device emulator:") == std::string::npos) return "how to have it again";
  const std::string_view advice = fault.advice.empty() ? emulator::advice_of(fault.kind) : fault.advice;
  return advice.empty() || !text.ends_with(advice) ? "what to do" : "";
}

// Returns an empty string if the report of some seed is complete.
std::string problem_with(std::string_view arch, const Planted& bug, Policy policy) {
  emulator::driver::Device& device = device_of(arch);
  TestMemory memory(device, kBytes);
  const std::string text = planted_text(bug.body, arch);
  std::string problem = "no report";
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    std::memset(memory.as<char>(), 0, kBytes);
    device.settings = settings_of(policy, seed);
    try {
      run_ptx(text, memory, bug.shape, arch);
    } catch (const emulator::Fault& fault) {
      problem = missing_from(fault, bug);
      if (problem.empty()) break;
      problem.insert(0, "the report lacks ").append(":\n").append(fault.text());
    }
  }
  device.settings = {};
  return problem;
}

}  // namespace

std::string planted_text(std::string_view body, std::string_view arch) {
  std::string lines = ".local .align 16 .b8 l[16];\n";
  for (int line = 1; !body.empty(); ++line) {
    const std::size_t end = body.find('\n');
    lines += "\n.loc 1 " + std::to_string(line) + " 1\n" + std::string(body.substr(0, end));
    body.remove_prefix(end == std::string_view::npos ? body.size() : end + 1);
  }
  return kernel_text(lines, arch, kVariables);
}

std::vector<std::string> warnings_of(std::string_view body, TestMemory& memory, Policy policy, RunShape shape) {
  emulator::driver::Device& device = device_of("sm_90a");
  std::vector<std::string> warnings;
  device.settings.policy = policy;
  device.settings.warn = [&warnings](std::string_view text) { warnings.emplace_back(text); };
  CHECK(fault_of(planted_text(body, "sm_90a"), memory, shape) == "");
  device.settings = {};
  return warnings;
}

void check_planted(std::string_view arch, std::span<const Planted> bugs) {
  for (const Planted& bug : bugs) {
    for (const Policy policy : {Policy::eager, Policy::lazy, Policy::random, Policy::split, Policy::starved}) {
      const std::string problem = problem_with(arch, bug, policy);
      CHECK_MESSAGE(problem.empty(), std::string(bug.name) << ", policy " << name_of(policy) << ": " << problem);
    }
  }
}

}  // namespace tma_jit::testing
