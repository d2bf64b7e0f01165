#include "cache/root.h"

#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <string>

#include "base/local_files.h"
#include "cache/folder.h"
#include "cache/share.h"
#include "core/failure.h"

namespace tma_jit::cache {
namespace {

constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr std::string_view kBackupTag =
    "Signature: 8a477f597d28d172789f06886806bc55\n# A cache of compiled kernels made by tma-jit; safe to remove.\n";

bool is_local(const struct statfs& where) {
  return is_local_file_system(static_cast<std::uint32_t>(where.f_type));
}

tl::unexpected<Error> cannot(const char* what, const std::filesystem::path& path, int error) {
  return failure(ErrorCode::io, "cannot {} the cache folder {}: {}", what, path.string(), std::strerror(error));
}

// What makes a refused folder usable, or replaces it; root makes no folder below another user's.
std::string remedy(const struct stat& status, const std::filesystem::path& path) {
  const uid_t user = ::geteuid();
  if (user == 0 && status.st_uid != 0) return "run as that user, chown it to root, or name a folder of root's";
  const bool can_change = user == 0 || status.st_uid == user;
  const bool can_write = ::access(path.c_str(), W_OK) == 0;
  return fmt::format("{}name {}", can_change ? "chmod go-w it or " : "",
                     can_write ? fmt::format("a folder below it, e.g. {}/tma-jit", path.string()) : "another folder");
}

Result<void> check_status(const struct stat& status, const std::filesystem::path& path) {
  if (S_ISLNK(status.st_mode)) {
    return failure(ErrorCode::io, "cache folder {} is not trusted: it is a symbolic link; name the folder it points to",
                   path.string());
  }
  if (!S_ISDIR(status.st_mode)) return failure(ErrorCode::io, "cache folder {}: it is not a folder", path.string());
  const bool ours = status.st_uid == ::geteuid() || status.st_uid == 0;
  if (ours && (status.st_mode & 022) == 0) return {};
  return failure(ErrorCode::io,
                 "cache folder {} is not trusted: owned by user {} with mode {:04o}, this is user {}; {}",
                 path.string(), status.st_uid, status.st_mode & 07777, ::geteuid(), remedy(status, path));
}

// Prevents root from creating a cache in a user's folder, since that user could neither use nor remove it. A folder
// that everybody may write to but nobody may rename in (/tmp) belongs to no user in this sense.
Result<void> check_maker(const FileSystem& files, const std::filesystem::path& root) {
  if (::geteuid() != 0) return {};
  std::filesystem::path nearest = root.parent_path();
  struct stat status {};
  while (files.stat_at(AT_FDCWD, nearest.c_str(), status) != 0 && nearest.has_relative_path())
    nearest = nearest.parent_path();
  if (S_ISLNK(status.st_mode)) (void)::stat(nearest.c_str(), &status);
  if (status.st_uid == 0 || (status.st_mode & S_ISVTX) != 0) return {};
  return failure(ErrorCode::io,
                 "cache folder {} is not made: {} belongs to user {} and this is root; set TMA_JIT_CACHE_DIR to a "
                 "folder of root's",
                 root.string(), nearest.string(), status.st_uid);
}

// Leaves an existing folder unchanged. Some file systems report EROFS or EACCES for an existing folder.
bool make_folder(const FileSystem& files, const std::filesystem::path& path, mode_t mode) {
  if (files.make_folder(AT_FDCWD, path.c_str(), mode) == 0 || errno == EEXIST) return true;
  const int error = errno;
  struct stat status {};
  const bool present = ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
  errno = error;
  return present;
}

Result<void> make_folders(const FileSystem& files, const std::filesystem::path& root, bool shared) {
  TMA_JIT_CHECK(check_maker(files, root));
  std::filesystem::path made;
  for (const auto& part : root) {
    made /= part;
    if (!make_folder(files, made, folder_mode(shared))) return cannot("make", root, errno);
  }
  return {};
}

// Returns the error for a folder that did not open. The kind of file found there is more helpful than errno.
tl::unexpected<Error> open_failure(const FileSystem& files, const std::filesystem::path& path, int error) {
  struct stat status {};
  if (files.stat_at(AT_FDCWD, path.c_str(), status) == 0) {
    if (auto checked = check_status(status, path); !checked) return tl::make_unexpected(std::move(checked).error());
  }
  return cannot("open", path, error);
}

Result<Descriptor> open_or_make(const FileSystem& files, const std::filesystem::path& root, bool shared) {
  Descriptor folder(files.open(AT_FDCWD, root.c_str(), kFolderFlags, 0));
  if (!folder && errno == ENOENT) {
    TMA_JIT_CHECK(make_folders(files, root, shared));
    folder = Descriptor(files.open(AT_FDCWD, root.c_str(), kFolderFlags, 0));
  }
  if (!folder) return open_failure(files, root, errno);
  return folder;
}

Result<struct stat> trusted(const FileSystem& files, const Descriptor& folder, const std::filesystem::path& path) {
  struct stat status {};
  if (files.stat(folder.get(), status) != 0) return cannot("open", path, errno);
  TMA_JIT_CHECK(check_status(status, path));
  return status;
}

// Tells backup programs what the folder is. Written before the format's folder is made, so that where that exists the
// tag is complete, and in place, so that a process killed meanwhile leaves no temporary file in a folder that no sweep
// visits: all processes write the same bytes.
void tag(const FileSystem& files, int root, bool shared) {
  const Descriptor file(files.open(root, kBackupTagName, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return;
  (void)files.write(file.get(), kBackupTag.data(), kBackupTag.size(), 0);
  (void)files.set_mode(file.get(), file_mode(shared));
}

Result<Descriptor> open_format(const FileSystem& files, const Descriptor& root, const std::filesystem::path& path,
                               bool shared) {
  Descriptor folder(files.open(root.get(), kFormatName, kFolderFlags, 0));
  if (folder) return folder;
  if (errno != ENOENT) return open_failure(files, path / kFormatName, errno);
  tag(files, root.get(), shared);
  if (files.make_folder(root.get(), kFormatName, folder_mode(shared)) != 0 && errno != EEXIST)
    return cannot("make", path / kFormatName, errno);
  folder = Descriptor(files.open(root.get(), kFormatName, kFolderFlags, 0));
  if (!folder) return open_failure(files, path / kFormatName, errno);
  make_shards(files, folder.get(), shared);
  return folder;
}

bool is_shared(const struct stat& status) {
  return (status.st_mode & 0055) == 0055;
}

// Determines what may be done in an open folder.
Result<Root> checked_root(const FileSystem& files, Descriptor folder, const std::filesystem::path& path) {
  TMA_JIT_ASSIGN(const struct stat status, trusted(files, folder, path));
  const uid_t user = ::geteuid();
  const bool permitted = status.st_uid == user && (user == 0 || (status.st_mode & 0300) == 0300);
  struct statfs where {};
  const bool known = files.file_system(folder.get(), where) == 0;
  Root opened;
  opened.writable = permitted && !(known && (static_cast<unsigned long>(where.f_flags) & ST_RDONLY) != 0);
  opened.local = known && is_local(where);
  opened.shared = is_shared(status);
  opened.folder = std::move(folder);
  return opened;
}

}  // namespace

bool is_local(const FileSystem& files, int file) {
  struct statfs where {};
  return files.file_system(file, where) == 0 && is_local(where);
}

void make_shards(const FileSystem& files, int folder, bool shared) {
  const mode_t mode = folder_mode(shared);
  for (unsigned shard = 0; shard < kShards; ++shard) (void)files.make_folder(folder, shard_name(shard).c_str(), mode);
  (void)files.make_folder(folder, std::string(kCompilersName).c_str(), mode);
}

Result<Descriptor> open_trusted(const FileSystem& files, const std::filesystem::path& root) {
  Descriptor folder(files.open(AT_FDCWD, root.c_str(), kFolderFlags, 0));
  if (!folder && errno == ENOENT) return folder;
  if (!folder) return open_failure(files, root, errno);
  TMA_JIT_CHECK(trusted(files, folder, root));
  return folder;
}

Result<Root> open_root(const FileSystem& files, const std::filesystem::path& path, bool shared) {
  TMA_JIT_ASSIGN(const Descriptor root, open_or_make(files, path, shared));
  TMA_JIT_ASSIGN(const struct stat status, trusted(files, root, path));
  TMA_JIT_ASSIGN(Descriptor folder, open_format(files, root, path, shared));
  TMA_JIT_ASSIGN(const struct stat format, trusted(files, folder, path / kFormatName));
  if (shared && !(is_shared(status) && is_shared(format))) share(files, root.get(), folder.get());
  return checked_root(files, std::move(folder), path / kFormatName);
}

Result<Root> open_existing_root(const FileSystem& files, const std::filesystem::path& path) {
  TMA_JIT_ASSIGN(const Descriptor root, open_trusted(files, path));
  if (!root) return failure(ErrorCode::not_found, "there is no cache folder {}", path.string());
  Descriptor folder(files.open(root.get(), kFormatName, kFolderFlags, 0));
  if (!folder && errno == ENOENT)
    return failure(ErrorCode::not_found, "{} has no v1: it is no cache folder of this version", path.string());
  if (!folder) return open_failure(files, path / kFormatName, errno);
  return checked_root(files, std::move(folder), path / kFormatName);
}

}  // namespace tma_jit::cache
