#include <algorithm>
#include <charconv>
#include <limits>
#include <vector>

#include <tma_jit/emulator.h>

#include "base/text.h"
#include "core/failure.h"
#include "driver/emulator_interface.h"

namespace tma_jit {
namespace {

using driver::kEmulatorPolicies;

constexpr std::string_view kName = "emulator";
constexpr std::string_view kTrace = "trace=";
constexpr std::uint64_t kMostProcessors = 65536;

Result<std::uint64_t> number(std::string_view name, std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{} && end == text.data() + text.size() && !text.empty()) return value;
  return failure(ErrorCode::invalid_argument, "emulator: {}={}: expected a number", name, text);
}

Result<bool> flag(std::string_view name, std::string_view text) {
  if (text == "0" || text == "1") return text == "1";
  return failure(ErrorCode::invalid_argument, "emulator: {}={}: expected 0 or 1", name, text);
}

Result<EmulatorPolicy> policy_named(std::string_view name) {
  const auto* const found = std::ranges::find(kEmulatorPolicies, name);
  if (found != kEmulatorPolicies.end()) return static_cast<EmulatorPolicy>(found - kEmulatorPolicies.begin());
  const std::vector<std::string> known(kEmulatorPolicies.begin(), kEmulatorPolicies.end());
  return unknown_name(
      failure(ErrorCode::invalid_argument, "emulator: policy={}: expected one of {}", name, joined(known)), name,
      known);
}

Result<int> processors_in(std::string_view text) {
  TMA_JIT_ASSIGN(const std::uint64_t count, number("processors", text));
  if (count >= 1 && count <= kMostProcessors) return static_cast<int>(count);
  return failure(ErrorCode::invalid_argument, "emulator: processors={}: expected 1 to {}", text, kMostProcessors);
}

Result<void> set(EmulatorSettings& settings, std::string_view name, std::string_view value) {
  const std::vector<std::string> names = {"policy",       "seed",       "checks", "references",
                                          "instructions", "processors", "trace"};
  if (name == "policy") {
    TMA_JIT_ASSIGN(settings.policy, policy_named(value));
  } else if (name == "seed") {
    TMA_JIT_ASSIGN(settings.seed, number(name, value));
  } else if (name == "checks") {
    TMA_JIT_ASSIGN(settings.checks, flag(name, value));
  } else if (name == "references") {
    TMA_JIT_ASSIGN(settings.references, flag(name, value));
  } else if (name == "instructions") {
    TMA_JIT_ASSIGN(settings.instructions, number(name, value));
  } else if (name == "processors") {
    TMA_JIT_ASSIGN(settings.processors, processors_in(value));
  } else if (name == "trace") {
    settings.trace = value;
  } else {
    return unknown_name(
        failure(ErrorCode::invalid_argument, "emulator: there is no setting \"{}\"; it has {}", name, joined(names)),
        name, names);
  }
  return {};
}

// Removes and returns the text before the first character of `ends`, and removes that character.
std::string_view take(std::string_view& rest, std::string_view ends) {
  const std::size_t end = std::min(rest.find_first_of(ends), rest.size());
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return word;
}

Result<void> read_words(EmulatorSettings& settings, std::string_view rest, bool target_allowed) {
  std::vector<std::string_view> given;
  while (!rest.empty()) {
    const std::string_view word = rest.starts_with(kTrace) ? std::exchange(rest, {}) : take(rest, ":,");
    const std::size_t equals = word.find('=');
    if (equals != std::string_view::npos) {
      const std::string_view name = word.substr(0, equals);
      if (std::ranges::find(given, name) != given.end())
        return failure(ErrorCode::invalid_argument, "emulator: {} is given twice", name);
      given.push_back(name);
      TMA_JIT_CHECK(set(settings, name, word.substr(equals + 1)));
    } else if (word.find('/') != std::string_view::npos) {
      settings.library = word;
    } else if (target_allowed && settings.arch.empty()) {
      settings.arch = word;
    } else if (!word.empty()) {
      return failure(ErrorCode::invalid_argument,
                     "emulator: \"{}\" is not a setting; expected NAME=VALUE, or the path of its library", word);
    }
  }
  return {};
}

}  // namespace

std::string_view name_of(EmulatorPolicy policy) {
  return kEmulatorPolicies.at(static_cast<std::size_t>(policy));
}

bool is_emulator(std::string_view device) {
  return device == kName || (device.starts_with(kName) && device[kName.size()] == ':');
}

Result<EmulatorSettings> parse_emulator(std::string_view device, std::string_view defaults) {
  if (!is_emulator(device)) {
    return failure(ErrorCode::invalid_argument, "the device \"{}\" is not the emulator: its name begins with \"{}\"",
                   device, kName);
  }
  EmulatorSettings settings;
  TMA_JIT_CHECK(read_words(settings, defaults, false));
  device.remove_prefix(std::min(device.size(), kName.size() + 1));
  TMA_JIT_CHECK(read_words(settings, device, true));
  return settings;
}

std::string device_text(const EmulatorSettings& settings) {
  std::string text(kName);
  if (!settings.arch.empty()) text += ":" + settings.arch;
  text += fmt::format(":policy={},seed={},checks={:d}", name_of(settings.policy), settings.seed, settings.checks);
  if (settings.references) text += ",references=1";
  if (settings.instructions != kEmulatorInstructions) text += fmt::format(",instructions={}", settings.instructions);
  if (settings.processors != 0) text += fmt::format(",processors={}", settings.processors);
  if (!settings.library.empty())
    text += "," + (settings.library.has_parent_path() ? settings.library : "." / settings.library).string();
  if (!settings.trace.empty()) text += ",trace=" + settings.trace.string();
  return text;
}

}  // namespace tma_jit
