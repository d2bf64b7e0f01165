// Putting a file in its place so that no reader ever sees half of it.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <random>

#include "base/descriptor.h"
#include "base/digest.h"
#include "base/failure.h"
#include "cache/folder.h"

namespace tma_jit::cache {
namespace {

// .tmp-<host8>-<pid>-<32 hex>: who left it can be told, and no two writers meet.
std::string temporary_name() {
  char host[256] = {};
  (void)::gethostname(host, sizeof host - 1);
  const Digest digest = sha256(host, std::strlen(host));
  std::random_device random;
  return fmt::format("{}{}-{}-{:08x}{:08x}{:08x}{:08x}", kTemporaryPrefix, to_hex(std::span(digest).first(4)),
                     ::getpid(), random(), random(), random(), random());
}

bool write_all(const Descriptor& file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(file.get(), bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  return true;
}

bool write_flushed(Descriptor& file, std::span<const std::byte> bytes) {
  return ::fchmod(file.get(), 0600) == 0 && write_all(file, bytes) && ::fdatasync(file.get()) == 0 && file.close();
}

Descriptor create(const std::filesystem::path& path) {
  return Descriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
}

}  // namespace

Result<void> publish(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  const auto folder = path.parent_path();
  const auto temporary = folder / temporary_name();
  Descriptor file = create(temporary);
  if (!file && errno == ENOENT && ::mkdir(folder.c_str(), 0700) == 0) file = create(temporary);
  if (!file) {
    return failure(ErrorCode::io, "cannot write in the cache folder {}: {}", folder.string(), std::strerror(errno));
  }
  if (write_flushed(file, bytes) && ::rename(temporary.c_str(), path.c_str()) == 0) return {};
  const int error = errno;
  (void)::unlink(temporary.c_str());
  return failure(ErrorCode::io, "cannot write the cache entry {}: {}", path.string(), std::strerror(error));
}

}  // namespace tma_jit::cache
