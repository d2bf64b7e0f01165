#include "emulator/driver/host_memory.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

namespace tma_jit::emulator::driver {
namespace {

constexpr u64 kUnknown = ~u64{0};

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Returns the number after `name`, or at the start of the text if the name is empty; nullopt for "max".
std::optional<u64> number_in(std::string_view text, std::string_view name) {
  const std::size_t at = text.find(name);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + name.size());
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  u64 value = 0;
  const bool read = std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc{};
  return read ? std::optional(value) : std::nullopt;
}

// Reclaimable page cache counts as used in the group but is available.
u64 left_in(const std::filesystem::path& group) {
  const auto most = number_in(text_of(group / "memory.max"), "");
  const auto used = number_in(text_of(group / "memory.current"), "");
  if (!most || !used) return kUnknown;
  const u64 droppable = number_in(text_of(group / "memory.stat"), "inactive_file ").value_or(0);
  const u64 taken = *used - std::min(*used, droppable);
  return *most - std::min(*most, taken);
}

// Considers the process's group and all its ancestors. Linux, Documentation/admin-guide/cgroup-v2.rst.
u64 left_in_groups(const std::filesystem::path& root) {
  const std::string groups = text_of(root / "proc/self/cgroup");
  const std::size_t at = groups.find("0::/");
  if (at == std::string::npos) return kUnknown;
  const std::filesystem::path top = root / "sys/fs/cgroup";
  const std::size_t begin = at + std::string_view("0::/").size();
  std::filesystem::path group = top / groups.substr(begin, groups.find('\n', begin) - begin);
  u64 least = left_in(top);
  for (; group != top && group.has_relative_path(); group = group.parent_path())
    least = std::min(least, left_in(group));
  return least;
}

}  // namespace

u64 available_memory(const std::filesystem::path& root) {
  constexpr u64 kKilobyte = 1024;
  const auto free = number_in(text_of(root / "proc/meminfo"), "MemAvailable:");
  return std::min(free ? *free * kKilobyte : kUnknown, left_in_groups(root));
}

}  // namespace tma_jit::emulator::driver
