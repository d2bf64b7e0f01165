#include "emulator/ptx/scope.h"

#include <charconv>

namespace tma_jit::emulator::ptx {

void Scopes::open() {
  scopes_.push_back({current_, {}, {}, {}, {}});
  current_ = static_cast<u32>(scopes_.size() - 1);
}

bool Scopes::close() {
  const u32 parent = scopes_[current_].parent;
  if (parent == kNone) return false;
  current_ = parent;
  return true;
}

void Scopes::declare_register(std::string_view name, Type type) {
  scopes_[current_].registers[name] = static_cast<u32>(function_.registers.size());
  function_.registers.push_back(type);
}

void Scopes::declare_range(std::string_view stem, u32 count, Type type) {
  scopes_[current_].ranges[stem] = {static_cast<u32>(function_.registers.size()), count};
  function_.registers.insert(function_.registers.end(), count, type);
}

std::optional<u32> Scopes::find_register(std::string_view name) const {
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  const std::string_view stem = name.substr(0, digits);
  u32 number = 0;
  const bool numbered = digits < name.size() &&
                        std::from_chars(name.data() + digits, name.data() + name.size(), number).ec == std::errc{};
  for (u32 scope = current_; scope != kNone; scope = scopes_[scope].parent) {
    const auto exact = scopes_[scope].registers.find(name);
    if (exact != scopes_[scope].registers.end()) return exact->second;
    if (!numbered) continue;
    const auto range = scopes_[scope].ranges.find(stem);
    if (range != scopes_[scope].ranges.end() && number < range->second.count) return range->second.first + number;
  }
  return std::nullopt;
}

void Scopes::declare_variable(std::string_view name, u32 number) {
  scopes_[current_].variables[name] = number;
}

std::optional<u32> Scopes::find_variable(std::string_view name) const {
  for (u32 scope = current_; scope != kNone; scope = scopes_[scope].parent) {
    const auto found = scopes_[scope].variables.find(name);
    if (found != scopes_[scope].variables.end()) return found->second;
  }
  return std::nullopt;
}

bool Scopes::declare_label(std::string_view name, u32 instruction) {
  return scopes_[current_].labels.emplace(name, instruction).second;
}

std::optional<u32> Scopes::find_label(std::string_view name, u32 scope) const {
  for (; scope != kNone; scope = scopes_[scope].parent) {
    const auto found = scopes_[scope].labels.find(name);
    if (found != scopes_[scope].labels.end()) return found->second;
  }
  return std::nullopt;
}

}  // namespace tma_jit::emulator::ptx
