#include "cache/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/descriptor.h"
#include "base/digest.h"
#include "base/failure.h"

namespace tma_jit::cache {
namespace {

constexpr unsigned kShards = 256;
constexpr std::time_t kTouchSeconds = 3600;
constexpr std::string_view kBackupTag =
    "Signature: 8a477f597d28d172789f06886806bc55\n# A cache of compiled kernels made by tma-jit; safe to remove.\n";

// True when it is there afterwards. The mode is set whatever the umask is, on a folder this call made only.
bool make_folder(const std::filesystem::path& path) {
  if (::mkdir(path.c_str(), 0700) == 0) return ::chmod(path.c_str(), 0700) == 0;
  struct stat status {};
  return errno == EEXIST || (::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode));
}

bool make_folders(const std::filesystem::path& path) {
  std::filesystem::path made;
  for (const auto& part : path) {
    made /= part;
    if (!make_folder(made)) return false;
  }
  return true;
}

void make_shards(const std::filesystem::path& root) {
  // The last one made tells that all were. One that is missing is made by the put that needs it.
  if (::access(compilers_folder(root).c_str(), F_OK) == 0) return;
  for (unsigned shard = 0; shard < kShards; ++shard) make_folder(shard_folder(root, shard));
  make_folder(compilers_folder(root));
}

void make_tag(const std::filesystem::path& root) {
  const auto path = root / "CACHEDIR.TAG";
  if (::access(path.c_str(), F_OK) != 0) (void)publish(path, std::as_bytes(std::span(kBackupTag)));
}

bool owned_by_us_or_root(const struct stat& status) {
  return status.st_uid == ::geteuid() || status.st_uid == 0;
}

std::string open_fault(int error) {
  return error == ELOOP ? "it is a symbolic link" : std::strerror(error);
}

// nullopt when the open file may be read into memory.
std::optional<Fault> refusal(const struct stat& status, std::size_t limit) {
  if (!S_ISREG(status.st_mode)) return Fault{MissReason::untrusted, "it is not a plain file"};
  if (!owned_by_us_or_root(status)) {
    return Fault{MissReason::untrusted, fmt::format("it belongs to user {}, not to {}", status.st_uid, ::geteuid())};
  }
  if ((status.st_mode & 022) != 0) {
    return Fault{MissReason::untrusted, fmt::format("others can write to it (mode {:04o})", status.st_mode & 07777)};
  }
  if (static_cast<std::uint64_t>(status.st_size) > limit) {
    return Fault{MissReason::corrupt, fmt::format("{} bytes, limit {}", status.st_size, limit)};
  }
  return std::nullopt;
}

// Fewer bytes than asked for where the file ends early; nullopt on a read error.
std::optional<std::vector<std::byte>> read_all(const Descriptor& file, std::size_t size) {
  std::vector<std::byte> bytes(size);
  std::size_t have = 0;
  while (have < size) {
    const ssize_t got = ::pread(file.get(), bytes.data() + have, size - have, static_cast<off_t>(have));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

tl::expected<File, Fault> read_once(const std::filesystem::path& path, std::size_t limit) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!file) {
    const MissReason reason = errno == ENOENT || errno == ENOTDIR ? MissReason::absent
                              : errno == ELOOP                    ? MissReason::untrusted
                                                                  : MissReason::io;
    return tl::make_unexpected(Fault{reason, open_fault(errno)});
  }
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return tl::make_unexpected(Fault{MissReason::io, std::strerror(errno)});
  if (auto refused = refusal(status, limit)) return tl::make_unexpected(std::move(*refused));
  auto bytes = read_all(file, static_cast<std::size_t>(status.st_size));
  if (!bytes) return tl::make_unexpected(Fault{MissReason::io, std::strerror(errno)});
  return File{std::move(*bytes), status.st_mtime};
}

}  // namespace

std::filesystem::path format_folder(const std::filesystem::path& root) {
  return root / "v1";
}

std::filesystem::path compilers_folder(const std::filesystem::path& root) {
  return format_folder(root) / "compilers";
}

std::filesystem::path shard_folder(const std::filesystem::path& root, unsigned shard) {
  return format_folder(root) / fmt::format("{:02x}", shard);
}

std::filesystem::path entry_path(const std::filesystem::path& root, const Key& key) {
  return shard_folder(root, key.bytes[0]) / to_hex(std::span(key.bytes).subspan(1));
}

std::optional<Key> key_named(unsigned shard, std::string_view file_name) {
  Key key;
  key.bytes[0] = static_cast<std::uint8_t>(shard);
  if (file_name.size() != 2 * (key.bytes.size() - 1)) return std::nullopt;
  const auto digit = [&](std::size_t at) { return std::string_view("0123456789abcdef").find(file_name[at]); };
  for (std::size_t i = 0; i < file_name.size(); i += 2) {
    const std::size_t high = digit(i);
    const std::size_t low = digit(i + 1);
    if (high > 15 || low > 15) return std::nullopt;
    key.bytes[1 + i / 2] = static_cast<std::uint8_t>(high << 4 | low);
  }
  return key;
}

Result<void> check_trusted(const std::filesystem::path& root) {
  struct stat status {};
  if (::lstat(root.c_str(), &status) != 0) {
    return failure(ErrorCode::io, "cache folder {}: {}", root.string(), std::strerror(errno));
  }
  if (S_ISLNK(status.st_mode)) {
    return failure(ErrorCode::io, "cache folder {} is not trusted: it is a symbolic link; name the folder it points to",
                   root.string());
  }
  if (!S_ISDIR(status.st_mode)) return failure(ErrorCode::io, "cache folder {}: it is not a folder", root.string());
  if (!owned_by_us_or_root(status) || (status.st_mode & 022) != 0) {
    return failure(
        ErrorCode::io,
        "cache folder {} is not trusted: owned by user {} with mode {:04o}, this is user {}; chmod go-w it or "
        "name a folder below it, e.g. {}/tma-jit",
        root.string(), status.st_uid, status.st_mode & 07777, ::geteuid(), root.string());
  }
  return {};
}

Result<bool> prepare_folder(const std::filesystem::path& root) {
  const bool made = make_folders(root);
  const int error = errno;
  if (!made && ::access(root.c_str(), F_OK) != 0) {
    return failure(ErrorCode::io, "cannot make the cache folder {}: {}", root.string(), std::strerror(error));
  }
  TMA_JIT_CHECK(check_trusted(root));
  const auto folder = format_folder(root);
  if (!make_folder(folder)) {
    return failure(ErrorCode::io, "cannot make the cache folder {}: {}", folder.string(), std::strerror(errno));
  }
  TMA_JIT_CHECK(check_trusted(folder));
  const bool writable = ::faccessat(AT_FDCWD, folder.c_str(), R_OK | W_OK | X_OK, AT_EACCESS) == 0;
  if (writable) {
    make_shards(root);
    make_tag(root);
  } else if (::faccessat(AT_FDCWD, folder.c_str(), X_OK, AT_EACCESS) != 0) {
    return failure(ErrorCode::io, "cannot read the cache folder {}: {}", folder.string(), std::strerror(errno));
  }
  return writable;
}

tl::expected<File, Fault> read_trusted(const std::filesystem::path& path, std::size_t limit) {
  // A network file system may answer EIO or ESTALE once, while another node replaces the file.
  constexpr int kAttempts = 3;
  tl::expected<File, Fault> file;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    file = read_once(path, limit);
    if (file || file.error().reason != MissReason::io) break;
  }
  return file;
}

void touch(const std::filesystem::path& path, std::time_t modified) {
  if (std::time(nullptr) - modified > kTouchSeconds)
    (void)::utimensat(AT_FDCWD, path.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
}

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder.c_str()), ::closedir);
  if (!open) return names;
  while (const dirent* item = ::readdir(open.get())) {
    if (std::string_view(item->d_name) != "." && std::string_view(item->d_name) != "..")
      names.emplace_back(item->d_name);
  }
  return names;
}

}  // namespace tma_jit::cache
