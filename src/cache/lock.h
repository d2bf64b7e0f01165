// Locks between processes, kept by the kernel: bytes of one file that is never deleted, locked by open file description
// (F_OFD_SETLK). They end with the process however it ends, and only save work: nothing is wrong without them.
#pragma once

#include <cstdint>
#include <string>

#include "base/descriptor.h"
#include "cache/files.h"

namespace tma_jit {
struct Key;
}

namespace tma_jit::cache {

enum class LockState : std::uint8_t {
  held,
  busy,         // another process, or another engine of this one, has it
  unsupported,  // this file system has no locks, or the file cannot be opened
};

// One byte's lock, held until destruction. Each has a description of its own, so that two engines in one process
// exclude each other too. A forked child drops what its parent held.
class Lock {
 public:
  Lock() = default;
  Lock(Lock&& other) noexcept = default;
  Lock& operator=(Lock&& other) noexcept = default;
  ~Lock();

  LockState state() const { return state_; }
  bool held() const { return state_ == LockState::held; }
  int error() const { return error_; }  // errno of LockState::unsupported

  // Tries to take the byte; with `busy` call it again later.
  static Lock open(const Files& files, int folder);
  LockState take(const Files& files, std::uint64_t byte);
  void release();

  // Who holds a key, for people: the holder writes itself into the lock file. Empty when unknown.
  void sign(const Files& files, const Key& key) const;
  std::string holder(const Files& files, const Key& key) const;

 private:
  Descriptor file_;
  int owner_ = 0;  // the process that opened it
  LockState state_ = LockState::unsupported;
  int error_ = 0;
};

// The byte of the lock file that stands for a key.
std::uint64_t byte_of(const Key& key);

}  // namespace tma_jit::cache
