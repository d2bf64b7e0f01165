#include "engine/crash_policy.h"

#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <utility>

#include "base/file.h"
#include "base/local_files.h"
#include "cache/crash_files.h"
#include "core/failure.h"

namespace tma_jit::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kReasonBytes = 4096;
constexpr std::chrono::hours kLasting{7 * 24};

std::optional<Key> key_in(std::string_view name) {
  Key key;
  if (!name.ends_with(cache::kCrashSuffix) || name.size() != 2 * key.bytes.size() + cache::kCrashSuffix.size())
    return std::nullopt;
  for (std::size_t i = 0; i < key.bytes.size(); ++i) {
    const char* digits = name.data() + 2 * i;
    if (std::from_chars(digits, digits + 2, key.bytes[i], 16).ptr != digits + 2) return std::nullopt;
  }
  return key;
}

// Removes expired files, and files with a time in the future, which would not expire as long as that time lasts.
CrashMemory::Crashes crashes_in(const fs::path& folder) {
  CrashMemory::Crashes crashes;
  // Otherwise anyone who can write to the folder could make this user's kernels slower.
  if (!is_private_folder(folder)) return crashes;
  const auto now = fs::file_time_type::clock::now();
  std::error_code ignored;
  for (fs::directory_iterator it(folder, ignored), end; !ignored && it != end; it.increment(ignored)) {
    const auto key = key_in(it->path().filename().string());
    if (!key) continue;
    std::error_code gone;
    const auto written = it->last_write_time(gone);
    if (gone || written < now - kLasting || written > now + kLasting || crashes.size() >= CrashMemory::kMost) {
      fs::remove(it->path(), gone);
      continue;
    }
    crashes[*key].reason = read_file(it->path(), kReasonBytes).value_or("it crashed before");
  }
  return crashes;
}

// Writes a temporary file and renames it. A failure is ignored: another process then runs into the crash itself.
bool write_crash(const fs::path& folder, const Key& key, std::string_view reason) {
  ::mkdir(folder.c_str(), 0700);
  if (!is_private_folder(folder)) return false;
  const fs::path file = folder / (key.hex() + std::string(cache::kCrashSuffix));
  return replace_file(file, reason.substr(0, kReasonBytes)).has_value();
}

}  // namespace

// Reads with a time limit if the folder may be on a file server that does not answer.
void CrashMemory::load() {
  if (folder_.empty()) return;
  if (is_local_path(folder_)) {
    crashes_ = crashes_in(folder_);
  } else if (auto found = patience_.within([folder = folder_] { return crashes_in(folder); })) {
    crashes_ = *std::move(found);
  }
  count_ = crashes_.size();
}

bool CrashMemory::empty() {
  std::call_once(loaded_, [this] { load(); });
  return count_.load(std::memory_order_relaxed) == 0;
}

std::optional<CrashMemory::Crash> CrashMemory::find(const Key& key) {
  if (empty()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  const auto known = crashes_.find(key);
  if (known == crashes_.end()) return std::nullopt;
  return Crash{known->second.reason, std::exchange(known->second.mentioned, true)};
}

void CrashMemory::remember(const Key& key, const std::string& reason, bool lasting) {
  (void)empty();
  const std::lock_guard lock(mutex_);
  if (crashes_.size() >= kMost) return;
  if (crashes_.emplace(key, Crash{reason}).second && lasting) write(key, reason);
  count_ = crashes_.size();
}

void CrashMemory::write(const Key& key, const std::string& reason) const {
  if (folder_.empty()) return;
  (void)patience_.within([folder = folder_, key, reason] { return write_crash(folder, key, reason); });
}

}  // namespace tma_jit::engine
