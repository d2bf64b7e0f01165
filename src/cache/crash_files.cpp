#include "cache/crash_files.h"

#include <algorithm>

#include <fmt/format.h>

#include "cache/folder.h"

namespace tma_jit::cache {
namespace {

constexpr std::size_t kKeyDigits = 64;
constexpr std::size_t kReproducerDigits = 12;

bool are_digits(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

// Matches <key>.crash, a file of that kind that was still being written (.crash.<process>), and <kernel>-<12
// digits>.cu.
bool is_crash_file(std::string_view name) {
  if (name.size() > kKeyDigits && name.substr(kKeyDigits).starts_with(kCrashSuffix))
    return are_digits(name.substr(0, kKeyDigits));
  constexpr std::string_view kSource = ".cu";
  if (!name.ends_with(kSource) || name.size() < kSource.size() + kReproducerDigits + 1) return false;
  name.remove_suffix(kSource.size());
  return name[name.size() - kReproducerDigits - 1] == '-' && are_digits(name.substr(name.size() - kReproducerDigits));
}

}  // namespace

std::uint64_t clear_crashes(const FileSystem& files, int folder) {
  std::uint64_t removed = 0;
  for (const std::string& name : names_in(files, folder, kCrashFolder.data())) {
    if (!is_crash_file(name)) continue;
    if (files.remove(folder, fmt::format("{}/{}", kCrashFolder, name).c_str()) == 0) ++removed;
  }
  return removed;
}

}  // namespace tma_jit::cache
