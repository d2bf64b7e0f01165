#include "cache/file_system.h"

#include <linux/openat2.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "base/descriptor.h"
#include "base/local_files.h"
#include "base/write.h"

namespace tma_jit::cache {
namespace {

// openat2 is missing in kernels before 5.6, some emulators and some seccomp filters.
std::atomic<bool> openat2_missing = false;

int open_without_links(int folder, const char* path, int flags, mode_t mode) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags);
  how.mode = (flags & O_CREAT) != 0 ? mode : 0;
  how.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH;
  return static_cast<int>(::syscall(SYS_openat2, folder, path, &how, sizeof how));
}

// Opens one component at a time; none may be a link.
int open_step_by_step(int folder, const char* path, int flags, mode_t mode) {
  Descriptor between;
  const char* slash = std::strchr(path, '/');
  for (; slash != nullptr; path = slash + 1, slash = std::strchr(path, '/')) {
    const std::string component(path, slash);
    const int from = between ? between.get() : folder;
    Descriptor next(::openat(from, component.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!next) return -1;
    between = std::move(next);
  }
  const int opened = ::openat(between ? between.get() : folder, path, flags | O_NOFOLLOW, mode);
  const int error = errno;
  between = {};
  errno = error;
  return opened;
}

int open_below(int folder, const char* path, int flags, mode_t mode) {
  if (!openat2_missing) {
    const int opened = open_without_links(folder, path, flags, mode);
    if (opened >= 0 || (errno != ENOSYS && errno != EPERM)) return opened;
    if (errno == ENOSYS) openat2_missing = true;
  }
  return open_step_by_step(folder, path, flags, mode);
}

// Calls `call(parent, name)` with the last component of `path` and the folder that holds it. Below a descriptor no
// component that leads there may be a link.
template <class Call> int by_name(int folder, const char* path, Call&& call) {
  const char* slash = folder == AT_FDCWD ? nullptr : std::strrchr(path, '/');
  if (slash == nullptr) return call(folder, path);
  const std::string leading(path, slash);
  const Descriptor parent(open_below(folder, leading.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0));
  return parent ? call(parent.get(), slash + 1) : -1;
}

}  // namespace

int FileSystem::open(int folder, const char* path, int flags, mode_t mode) const {
  return folder == AT_FDCWD ? ::openat(folder, path, flags, mode) : open_below(folder, path, flags, mode);
}

int FileSystem::close(int file) const {
  return ::close(file);
}

int FileSystem::stat(int file, struct stat& status) const {
  return ::fstat(file, &status);
}

int FileSystem::stat_at(int folder, const char* path, struct stat& status) const {
  return by_name(folder, path,
                 [&](int parent, const char* name) { return ::fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW); });
}

ssize_t FileSystem::read(int file, void* bytes, std::size_t size, off_t from) const {
  return ::pread(file, bytes, size, from);
}

ssize_t FileSystem::write(int file, const void* bytes, std::size_t size, off_t to) const {
  return write_some_at(file, bytes, size, to);
}

int FileSystem::set_mode(int file, mode_t mode) const {
  return ::fchmod(file, mode);
}

int FileSystem::flush(int file) const {
  return ::fdatasync(file);
}

int FileSystem::touch(int file) const {
  return ::futimens(file, nullptr);
}

int FileSystem::set_time(int folder, const char* path, std::time_t modified) const {
  const timespec times[] = {{modified, 0}, {modified, 0}};
  return by_name(folder, path,
                 [&](int parent, const char* name) { return ::utimensat(parent, name, times, AT_SYMLINK_NOFOLLOW); });
}

int FileSystem::rename(int folder, const char* from, const char* to) const {
  return by_name(folder, from, [&](int source, const char* name) {
    return by_name(folder, to, [&](int target, const char* other) { return ::renameat(source, name, target, other); });
  });
}

int FileSystem::remove(int folder, const char* path) const {
  return by_name(folder, path, [](int parent, const char* name) { return ::unlinkat(parent, name, 0); });
}

int FileSystem::remove_folder(int folder, const char* path) const {
  return by_name(folder, path, [](int parent, const char* name) { return ::unlinkat(parent, name, AT_REMOVEDIR); });
}

// Sets the mode independently of the umask, but only on a folder that this call created.
int FileSystem::make_folder(int folder, const char* path, mode_t mode) const {
  if (::mkdirat(folder, path, mode) != 0) return -1;
  // Not through a link that was put in its place meanwhile. Without /proc the mode stays what the umask left of it.
  return ::fchmodat(folder, path, mode, AT_SYMLINK_NOFOLLOW) == 0 || errno == EOPNOTSUPP ? 0 : -1;
}

int FileSystem::set_lock(int file, struct flock& lock) const {
  return ::fcntl(file, F_OFD_SETLK, &lock);
}

int FileSystem::file_system(int file, struct statfs& status) const {
  return ::fstatfs(file, &status);
}

bool FileSystem::is_local(const std::filesystem::path& path) const {
  return is_local_path(path);
}

const FileSystem& FileSystem::system() {
  static const FileSystem files;
  return files;
}

}  // namespace tma_jit::cache
