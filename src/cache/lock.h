// Locks between processes, kept by the Linux kernel: bytes of one file that is never deleted, locked by open file
// description (F_OFD_SETLK). They are released when the process ends in any way. They only avoid duplicate work;
// correctness does not depend on them.
#pragma once

#include <cstdint>
#include <string>

#include "base/descriptor.h"
#include "cache/file_system.h"

namespace tma_jit {
struct Key;
}

namespace tma_jit::cache {

enum class LockState : std::uint8_t {
  held,
  busy,         // another process, or another engine of this process, holds it
  unsupported,  // the file system has no locks, or the file cannot be opened
};

// The lock on one byte, held until destruction. Each has its own file description, so that two engines in one process
// exclude each other too. A forked child closes its copy of the descriptor, and the lock stays its parent's.
class Lock {
 public:
  Lock() = default;
  Lock(Lock&& other) noexcept = default;
  Lock& operator=(Lock&& other) noexcept = default;
  ~Lock();

  LockState state() const { return state_; }
  bool held() const { return state_ == LockState::held; }
  int error() const { return error_; }  // errno if LockState::unsupported

  // Tries to lock the byte; if `busy`, call it again later.
  static Lock open(const FileSystem& files, int folder);
  LockState take(const FileSystem& files, std::uint64_t byte);
  void release();

  // `sign` writes this process into the lock file, for messages; `holder` returns who holds the key, or "" if unknown.
  void sign(const FileSystem& files, const Key& key) const;
  std::string holder(const FileSystem& files, const Key& key) const;

 private:
  Descriptor file_;
  int owner_ = 0;  // the process that opened it
  LockState state_ = LockState::unsupported;
  int error_ = 0;
};

// Returns the byte of the lock file for a key.
std::uint64_t byte_of(const Key& key);

}  // namespace tma_jit::cache
