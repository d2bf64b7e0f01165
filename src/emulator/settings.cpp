#include "emulator/settings.h"

#include <array>

namespace tma_jit::emulator {
namespace {

constexpr std::array<std::string_view, 5> kPolicies = {"eager", "lazy", "random", "split", "starved"};  // as in Policy

}  // namespace

std::string_view name_of(Policy policy) {
  return kPolicies[static_cast<std::size_t>(policy)];
}

std::optional<Policy> policy_named(std::string_view name) {
  for (std::size_t i = 0; i < kPolicies.size(); ++i) {
    if (kPolicies[i] == name) return static_cast<Policy>(i);
  }
  return std::nullopt;
}

const std::vector<std::string>& policy_names() {
  static const std::vector<std::string> names(kPolicies.begin(), kPolicies.end());
  return names;
}

}  // namespace tma_jit::emulator
