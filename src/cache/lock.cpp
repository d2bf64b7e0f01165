#include "cache/lock.h"

#include <pthread.h>
#include <unistd.h>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <string_view>

#include <fmt/format.h>

#include <tma_jit/artifact.h>

#include "base/digest.h"
#include "cache/folder.h"

namespace tma_jit::cache {
namespace {

constexpr off_t kSignBytes = 96;
constexpr off_t kSigns = 256;

// The lock files that this process has open, to be closed in the child of a fork: otherwise the file description that
// parent and child share would stay locked until both end. Slots are set and cleared with atomics, because a fork may
// happen at any time.
std::array<std::atomic<int>, 256> open_locks;

void drop_in_child() {
  for (std::atomic<int>& slot : open_locks) {
    const int held = slot.exchange(0);
    if (held > 0) ::close(held - 1);
  }
}

[[maybe_unused]] const int kRegistered = ::pthread_atfork(nullptr, nullptr, drop_in_child);

void remember(int file) {
  for (std::atomic<int>& slot : open_locks) {
    int empty = 0;
    if (slot.compare_exchange_strong(empty, file + 1)) return;
  }
}

void forget(int file) {
  for (std::atomic<int>& slot : open_locks) {
    int known = file + 1;
    if (slot.compare_exchange_strong(known, 0)) return;
  }
}

off_t sign_offset(const Key& key) {
  return static_cast<off_t>(key.bytes[8]) % kSigns * kSignBytes;
}

}  // namespace

Lock Lock::open(const FileSystem& files, int folder) {
  Lock lock;
  const std::string name(kLockName);
  lock.file_ = Descriptor(files.open(folder, name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  lock.error_ = errno;
  if (lock.file_) {
    lock.state_ = LockState::busy;
    lock.owner_ = ::getpid();
    remember(lock.file_.get());
  }
  return lock;
}

Lock::~Lock() {
  release();
}

LockState Lock::take(const FileSystem& files, std::uint64_t byte) {
  if (!file_) return state_;
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_start = static_cast<off_t>(byte);
  range.l_len = 1;
  if (files.set_lock(file_.get(), range) == 0) return state_ = LockState::held;
  error_ = errno;
  const bool busy = error_ == EAGAIN || error_ == EACCES || error_ == EINTR;
  return state_ = busy ? LockState::busy : LockState::unsupported;
}

// Closing the only descriptor of the description releases the lock. In a forked child it is already closed, and its
// number may belong to another file.
void Lock::release() {
  if (file_ && owner_ != ::getpid()) (void)file_.release();
  if (file_) forget(file_.get());
  file_ = Descriptor();
  state_ = LockState::unsupported;
}

void Lock::sign(const FileSystem& files, const Key& key) const {
  char host[64] = {};
  (void)::gethostname(host, sizeof host - 1);
  std::string text = fmt::format("{} process {} on {}", to_hex(std::span(key.bytes).first(8)), ::getpid(), host);
  text.resize(static_cast<std::size_t>(kSignBytes), '\0');
  (void)files.write(file_.get(), text.data(), text.size(), sign_offset(key));
}

std::string Lock::holder(const FileSystem& files, const Key& key) const {
  std::array<char, static_cast<std::size_t>(kSignBytes)> text{};
  if (!file_ || files.read(file_.get(), text.data(), text.size() - 1, sign_offset(key)) <= 0) return {};
  const std::string_view sign(text.data());
  const std::string wanted = to_hex(std::span(key.bytes).first(8)) + " ";
  return sign.starts_with(wanted) ? std::string(sign.substr(wanted.size())) : std::string();
}

std::uint64_t byte_of(const Key& key) {
  std::uint64_t byte = 0;
  std::memcpy(&byte, key.bytes.data(), sizeof byte);
  return byte & ((std::uint64_t{1} << 62) - 1);
}

}  // namespace tma_jit::cache
