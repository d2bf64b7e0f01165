#include "cache/crash_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "base/descriptor.h"

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

// Works on an open folder, so that a link put in its place is not followed.
std::uint64_t clear_crashes(const std::filesystem::path& root) {
  Descriptor folder(::open((root / kCrashFolder).c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder) return 0;
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(::fdopendir(folder.get()), &::closedir);
  if (listing == nullptr) return 0;
  const int held = folder.release();  // the directory stream owns it from here on
  std::uint64_t removed = 0;
  while (const dirent* file = ::readdir(listing.get())) {
    if (is_crash_file(static_cast<const char*>(file->d_name)) && ::unlinkat(held, file->d_name, 0) == 0) ++removed;
  }
  return removed;
}

}  // namespace tma_jit::cache
