#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>

#include "base/descriptor.h"
#include "base/failure.h"

namespace tma_jit {
namespace {

tl::unexpected<Error> io_failure(std::string_view action, const std::filesystem::path& path) {
  return failure(ErrorCode::io, "cannot {} {}: {}", action, path.string(), std::strerror(errno));
}

}  // namespace

Result<std::string> read_file(const std::filesystem::path& path, std::size_t limit) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return io_failure("read", path);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return io_failure("read", path);
  if (S_ISDIR(status.st_mode)) return failure(ErrorCode::io, "cannot read {}: it is a folder", path.string());
  std::string bytes;
  char block[16384];
  while (true) {
    const ssize_t got = ::read(file.get(), block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return io_failure("read", path);
    if (got == 0) return bytes;
    bytes.append(block, static_cast<std::size_t>(got));
    if (bytes.size() > limit) {
      return failure(ErrorCode::io, "cannot read {}: larger than the limit of {} bytes", path.string(), limit);
    }
  }
}

Result<void> write_file(const std::filesystem::path& path, std::string_view bytes) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file) return io_failure("write", path);
  while (!bytes.empty()) {
    const ssize_t put = ::write(file.get(), bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return io_failure("write", path);
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

bool is_private_folder(const std::filesystem::path& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == ::geteuid() &&
         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

}  // namespace tma_jit
