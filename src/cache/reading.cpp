#include "cache/reading.h"

#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "base/descriptor.h"

namespace tma_jit::cache {
namespace {

constexpr int kReadFlags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;

MissReason reason_of(int error) {
  if (error == ENOENT || error == ENOTDIR) return MissReason::absent;
  return error == ELOOP || error == ENXIO || error == EXDEV ? MissReason::untrusted : MissReason::io;
}

tl::unexpected<ReadFault> system_fault(int error) {
  const std::string detail = error == ELOOP   ? "it is a symbolic link"
                             : error == ENXIO ? "it is not a plain file"
                                              : std::strerror(error);
  return tl::make_unexpected(ReadFault{{reason_of(error), detail}, error});
}

// Returns fewer bytes than requested if the file ends early; nullopt on a read error.
std::optional<std::vector<std::byte>> read_all(const FileSystem& files, int file, std::size_t size) {
  std::vector<std::byte> bytes(size);
  std::size_t have = 0;
  int interrupts = 0;
  while (have < size) {
    const ssize_t got = files.read(file, bytes.data() + have, size - have, static_cast<off_t>(have));
    if (got < 0 && errno == EINTR && ++interrupts < kInterruptsMax) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

}  // namespace

std::optional<Fault> refusal(const struct stat& status, std::size_t limit) {
  if (!S_ISREG(status.st_mode)) return Fault{MissReason::untrusted, "it is not a plain file"};
  if (status.st_uid != ::geteuid() && status.st_uid != 0) {
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

namespace {

tl::expected<File, ReadFault> read_up_to(const FileSystem& files, int folder, const char* path, const Reading& how,
                                         std::size_t most) {
  const Descriptor file(files.open(folder, path, kReadFlags, 0));
  if (!file) return system_fault(errno);
  struct stat status {};
  if (files.stat(file.get(), status) != 0) return system_fault(errno);
  if (auto refused = refusal(status, how.limit)) return tl::make_unexpected(ReadFault{std::move(*refused), 0});
  auto bytes = read_all(files, file.get(), std::min(most, static_cast<std::size_t>(status.st_size)));
  if (!bytes) return system_fault(errno);
  // A time in the future also needs correction: some clock was wrong, or has been set back since.
  const std::time_t age = std::time(nullptr) - status.st_mtime;
  if (how.touch && (age > kUseSeconds || age < -kUseSeconds)) (void)files.touch(file.get());
  return File{std::move(*bytes), status.st_mtime};
}

}  // namespace

tl::expected<File, ReadFault> read_trusted(const FileSystem& files, int folder, const char* path, const Reading& how) {
  return read_up_to(files, folder, path, how, how.limit);
}

tl::expected<File, ReadFault> read_head(const FileSystem& files, int folder, const char* path, std::size_t bytes) {
  return read_up_to(files, folder, path, {}, bytes);
}

}  // namespace tma_jit::cache
