#include "engine_crashes.h"

#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <utility>

#include "base/failure.h"
#include "base/file.h"
#include "cache/crash_files.h"

namespace tma_jit {
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

}  // namespace

// Files that have expired are removed.
void CrashMemory::load() {
  // With another's folder anyone could slow the kernels down otherwise.
  if (folder_.empty() || !is_private_folder(folder_)) return;
  const auto oldest = fs::file_time_type::clock::now() - kLasting;
  std::error_code ignored;
  for (fs::directory_iterator it(folder_, ignored), end; !ignored && it != end; it.increment(ignored)) {
    const auto key = key_in(it->path().filename().string());
    if (!key) continue;
    std::error_code gone;
    if (it->last_write_time(gone) < oldest || gone || crashes_.size() >= kMost) {
      fs::remove(it->path(), gone);
      continue;
    }
    crashes_[*key].reason = read_file(it->path(), kReasonBytes).value_or("it crashed before");
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

// Written beside its place and renamed. A failure is no matter: the crash is then another process's to meet.
void CrashMemory::write(const Key& key, const std::string& reason) const {
  if (folder_.empty()) return;
  ::mkdir(folder_.c_str(), 0700);
  if (!is_private_folder(folder_)) return;
  const fs::path file = folder_ / (key.hex() + std::string(cache::kCrashSuffix));
  const fs::path beside = file.string() + "." + std::to_string(::getpid());
  std::error_code failed;
  const bool written = write_file(beside, reason.substr(0, kReasonBytes)).has_value();
  if (written) fs::rename(beside, file, failed);
  if (!written || failed) fs::remove(beside, failed);
}

}  // namespace tma_jit
