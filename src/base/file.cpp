#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/descriptor.h"
#include "base/write.h"
#include "core/failure.h"

namespace tma_jit {
namespace {

constexpr std::size_t kBlock = 16384;  // bytes read at once from a file of unknown size

tl::unexpected<Error> io_failure(std::string_view action, const std::filesystem::path& path) {
  return failure(ErrorCode::io, "cannot {} {}: {}", action, path.string(), std::strerror(errno));
}

Result<void> check_regular(mode_t mode, std::string_view action, const std::filesystem::path& path) {
  if (S_ISREG(mode)) return {};
  const std::string_view what = S_ISDIR(mode) ? "it is a folder" : "it is a pipe, socket or device";
  return failure(ErrorCode::io, "cannot {} {}: {}", action, path.string(), what);
}

// Returns an error unless the file is a regular file, which can be read to its end.
Result<void> check_regular(const Descriptor& file, std::string_view action, const std::filesystem::path& path) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return io_failure(action, path);
  return check_regular(status.st_mode, action, path);
}

// `path` is the file's name in errors.
Result<void> write_at(const std::filesystem::path& place, const std::filesystem::path& path, std::string_view bytes) {
  const Descriptor file(::open(place.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0666));
  if (!file) return io_failure("write", path);
  TMA_JIT_CHECK(check_regular(file, "write", path));
  while (!bytes.empty()) {
    const ssize_t put = write_some(file.get(), bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return io_failure("write", path);
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

}  // namespace

Result<Descriptor> open_file(const std::filesystem::path& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return io_failure("read", path);
  TMA_JIT_CHECK(check_regular(file, "read", path));
  return file;
}

Result<std::string> read_file(const std::filesystem::path& path, std::size_t limit) {
  TMA_JIT_ASSIGN(const Descriptor file, open_file(path));
  struct stat status {};
  const bool known = ::fstat(file.get(), &status) == 0 && status.st_size > 0;
  // One byte more than the size, so that the end is seen without growing.
  std::string bytes(known ? std::min(static_cast<std::size_t>(status.st_size), limit) + 1 : kBlock, '\0');
  std::size_t size = 0;
  while (true) {
    if (size == bytes.size()) bytes.resize(size + std::max(size, kBlock));
    const ssize_t got = ::read(file.get(), bytes.data() + size, bytes.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return io_failure("read", path);
    size += static_cast<std::size_t>(got);
    if (got == 0) {
      bytes.resize(size);
      return bytes;
    }
    if (size > limit) {
      return failure(ErrorCode::io, "cannot read {}: larger than the limit of {} bytes", path.string(), limit);
    }
  }
}

Result<void> write_file(const std::filesystem::path& path, std::string_view bytes) {
  return write_at(path, path, bytes);
}

Result<void> check_replaceable(const std::filesystem::path& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) != 0 ? Result<void>() : check_regular(status.st_mode, "write", path);
}

Result<void> replace_file(const std::filesystem::path& path, std::string_view bytes) {
  TMA_JIT_CHECK(check_replaceable(path));
  std::filesystem::path beside = path;
  beside += fmt::format(".{}.new", ::getpid());
  Result<void> done = write_at(beside, path, bytes);
  if (done && ::rename(beside.c_str(), path.c_str()) != 0) done = io_failure("replace", path);
  if (!done) ::unlink(beside.c_str());
  return done;
}

Result<void> append_to_file(const std::filesystem::path& path, std::string_view bytes) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0644));
  if (!file) return io_failure("write", path);
  TMA_JIT_CHECK(check_regular(file, "write", path));
  ssize_t put = 0;
  do put = write_some(file.get(), bytes.data(), bytes.size());
  while (put < 0 && errno == EINTR);
  if (put < 0) return io_failure("write", path);
  if (static_cast<std::size_t>(put) == bytes.size()) return {};
  return failure(ErrorCode::io, "cannot write {}: {} of {} bytes fit", path.string(), put, bytes.size());
}

bool is_private_folder(const std::filesystem::path& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == ::geteuid() &&
         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

}  // namespace tma_jit
