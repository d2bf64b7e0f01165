// The system calls that the cache uses, as a table that tests replace to make any of them fail at any time.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <cstddef>
#include <ctime>
#include <filesystem>

struct statfs;  // NOLINT(readability-identifier-naming): of the C library

namespace tma_jit::cache {

// How often a call interrupted by a signal is retried; bounded because some file systems always answer EINTR.
inline constexpr int kInterruptsMax = 100;

// Each function returns the result, and sets errno, like the system call it is named after. `folder` is a descriptor,
// or AT_FDCWD. Below a descriptor no component that leads to the named file may be a symbolic link. Thread-safe, and
// usable after a fork.
class FileSystem {
 public:
  virtual ~FileSystem() = default;

  // Like openat; below a descriptor the last component may not be a link either.
  virtual int open(int folder, const char* path, int flags, mode_t mode) const;
  virtual int close(int file) const;
  virtual int stat(int file, struct stat& status) const;
  virtual int stat_at(int folder, const char* path, struct stat& status) const;  // does not follow a link
  virtual ssize_t read(int file, void* bytes, std::size_t size, off_t from) const;
  virtual ssize_t write(int file, const void* bytes, std::size_t size, off_t to) const;
  virtual int set_mode(int file, mode_t mode) const;
  virtual int flush(int file) const;  // fdatasync
  virtual int touch(int file) const;  // sets the modification time to now, by the file system's clock
  virtual int set_time(int folder, const char* path, std::time_t modified) const;  // does not follow a link
  virtual int rename(int folder, const char* from, const char* to) const;
  virtual int remove(int folder, const char* path) const;
  virtual int remove_folder(int folder, const char* path) const;             // only an empty one
  virtual int make_folder(int folder, const char* path, mode_t mode) const;  // mkdirat, then exactly this mode whatever
                                                                             // the umask
  virtual int set_lock(int file, struct flock& lock) const;                  // F_OFD_SETLK: does not wait
  virtual int file_system(int file, struct statfs& status) const;
  // Whether no call on this path waits for another machine.
  virtual bool is_local(const std::filesystem::path& path) const;

  static const FileSystem& system();
};

}  // namespace tma_jit::cache
