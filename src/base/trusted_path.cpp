#include "base/trusted_path.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/failure.h"

namespace tma_jit {
namespace {

bool is_root(uid_t owner) {
  struct stat root {};
  return owner == 0 || (::stat("/", &root) == 0 && owner == root.st_uid);
}

bool others_can_change(const struct stat& status) {
  const bool sticky = S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0;
  if (sticky) return false;
  const bool own_group = is_root(status.st_uid) || status.st_gid == 0 || status.st_gid == ::getegid();
  return (status.st_mode & S_IWOTH) != 0 || ((status.st_mode & S_IWGRP) != 0 && !own_group);
}

Result<void> check_step(const std::filesystem::path& step) {
  struct stat status {};
  if (::lstat(step.c_str(), &status) != 0) {
    return failure(ErrorCode::io, "cannot look at {}: {}", step.string(), std::strerror(errno));
  }
  const bool own = is_root(status.st_uid) || status.st_uid == ::geteuid();
  if (own && !others_can_change(status)) return {};
  return failure(
      ErrorCode::io,
      "{} (owner {}, group {}, mode {:04o}) can be changed by others than root and user {}; give it to one of "
      "these with chown, and take the others' right to write with chmod go-w",
      step.string(), status.st_uid, status.st_gid, status.st_mode & 07777, ::geteuid());
}

}  // namespace

Result<void> check_trusted(const std::filesystem::path& path) {
  std::error_code failed;
  const std::filesystem::path real = std::filesystem::canonical(path, failed);
  if (failed) return failure(ErrorCode::io, "cannot look at {}: {}", path.string(), failed.message());
  std::filesystem::path step;
  for (const std::filesystem::path& name : real) {
    step /= name;
    TMA_JIT_CHECK(check_step(step));
  }
  return {};
}

}  // namespace tma_jit
