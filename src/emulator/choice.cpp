#include "emulator/choice.h"

#include <algorithm>
#include <charconv>

#include "base/failure.h"
#include "base/text.h"

namespace tma_jit::emulator {
namespace {

constexpr std::string_view kName = "emulator";
constexpr std::string_view kTrace = "trace=";

Result<u64> number(std::string_view name, std::string_view text) {
  u64 value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{} && end == text.data() + text.size() && !text.empty()) return value;
  return failure(ErrorCode::invalid_argument, "emulator: {}={}: expected a number", name, text);
}

Result<void> set(Settings& settings, std::string_view name, std::string_view value) {
  static const std::vector<std::string> names = {"policy", "seed", "checks", "trace"};
  if (name == "policy") {
    const auto policy = policy_named(value);
    if (!policy) {
      return failure(ErrorCode::invalid_argument, "emulator: policy={}: expected one of {}{}", value,
                     joined(policy_names()), suggestion(value, policy_names()));
    }
    settings.policy = *policy;
    return {};
  }
  if (name == "seed") {
    TMA_JIT_ASSIGN(settings.seed, number(name, value));
    return {};
  }
  if (name == "checks") {
    if (value != "0" && value != "1")
      return failure(ErrorCode::invalid_argument, "emulator: checks={}: expected 0 or 1", value);
    settings.checks = value == "1";
    return {};
  }
  if (name == "trace") {
    settings.trace = value;
    return {};
  }
  return failure(ErrorCode::invalid_argument, "emulator: there is no setting \"{}\"; it has {}{}", name, joined(names),
                 suggestion(name, names));
}

// The text before the first of `ends`, which goes too.
std::string_view take(std::string_view& rest, std::string_view ends) {
  const std::size_t end = std::min(rest.find_first_of(ends), rest.size());
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return word;
}

Result<void> read_words(Choice& choice, std::string_view rest, bool target_allowed) {
  while (!rest.empty()) {
    const std::string_view word = rest.starts_with(kTrace) ? std::exchange(rest, {}) : take(rest, ":,");
    const std::size_t equals = word.find('=');
    if (equals != std::string_view::npos) {
      TMA_JIT_CHECK(set(choice.settings, word.substr(0, equals), word.substr(equals + 1)));
    } else if (target_allowed && choice.target.empty()) {
      choice.target = word;
    } else if (!word.empty()) {
      return failure(ErrorCode::invalid_argument, "emulator: \"{}\" is not a setting; expected NAME=VALUE", word);
    }
  }
  return {};
}

}  // namespace

bool is_emulator(std::string_view device) {
  return device == kName || (device.starts_with(kName) && device[kName.size()] == ':');
}

Result<Choice> read_choice(std::string_view device, std::string_view environment) {
  Choice choice;
  TMA_JIT_CHECK(read_words(choice, environment, false));
  device.remove_prefix(std::min(device.size(), kName.size() + 1));
  TMA_JIT_CHECK(read_words(choice, device, true));
  return choice;
}

}  // namespace tma_jit::emulator
