#include "cache/publish.h"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "base/descriptor.h"
#include "cache/folder.h"

namespace tma_jit::cache {
namespace {

bool write_all(const FileSystem& files, int file, std::span<const std::byte> bytes) {
  off_t at = 0;
  int interrupts = 0;
  while (!bytes.empty()) {
    const ssize_t put = files.write(file, bytes.data(), bytes.size(), at);
    if (put < 0 && errno == EINTR && ++interrupts < kInterruptsMax) continue;
    if (put == 0) errno = ENOSPC;
    if (put <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    at += put;
  }
  return true;
}

// Flushes and closes, because a network file system may report an exhausted quota only then.
bool write_flushed(const FileSystem& files, Descriptor& file, std::span<const std::byte> bytes, mode_t mode,
                   struct stat& status) {
  return files.set_mode(file.get(), mode) == 0 && write_all(files, file.get(), bytes) && files.flush(file.get()) == 0 &&
         files.stat(file.get(), status) == 0 && files.close(file.release()) == 0;
}

// Moves aside a folder that lies in the file's place.
bool put_aside(const FileSystem& files, int folder, const std::string& path) {
  const std::string aside = path.substr(0, path.rfind('/') + 1) + temporary_name();
  if (files.rename(folder, path.c_str(), aside.c_str()) != 0) return false;
  (void)files.remove_folder(folder, aside.c_str());
  return true;
}

// Retries a rename. A network may lose the reply, so that a second try finds the first one done.
bool renamed(const FileSystem& files, int folder, const char* from, const char* to, const struct stat& ours) {
  if (files.rename(folder, from, to) == 0) return true;
  if (errno == EISDIR && put_aside(files, folder, to) && files.rename(folder, from, to) == 0) return true;
  const int error = errno;
  struct stat there {};
  const bool done = error == ENOENT && files.stat_at(folder, to, there) == 0 && there.st_ino == ours.st_ino &&
                    there.st_dev == ours.st_dev;
  errno = error;
  return done;
}

tl::unexpected<WriteFault> fault(int error, const char* action) {
  return tl::make_unexpected(WriteFault{error, fmt::format("{}: {}", action, std::strerror(error))});
}

}  // namespace

std::time_t clock_of(const FileSystem& files, int folder) {
  const std::string name = temporary_name();
  Descriptor file(files.open(folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  struct stat status {};
  const bool known = file && files.stat(file.get(), status) == 0;
  if (file) (void)files.remove(folder, name.c_str());
  return known ? status.st_mtime : std::time(nullptr);
}

tl::expected<std::time_t, WriteFault> publish(const FileSystem& files, int folder, const std::string& path,
                                              std::span<const std::byte> bytes, mode_t mode) {
  const std::string temporary = path.substr(0, path.rfind('/') + 1) + temporary_name();
  Descriptor file(files.open(folder, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return fault(errno, "cannot create a file");
  struct stat status {};
  const bool written = write_flushed(files, file, bytes, mode, status);
  if (written && renamed(files, folder, temporary.c_str(), path.c_str(), status)) return status.st_mtime;
  const int error = errno;
  (void)files.remove(folder, temporary.c_str());
  return fault(error, written ? "cannot rename" : "cannot write");
}

}  // namespace tma_jit::cache
