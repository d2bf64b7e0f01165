#include "output_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

namespace tma_jit::cli {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> refuse(const fs::path& path, std::string_view why) {
  return tl::make_unexpected(Error{ErrorCode::io, fmt::format("cannot write {}: {}", path.string(), why), {}});
}

// A rename would put a file in the place of a device, such as /dev/null, which every user of the machine has.
Result<void> check_regular(const fs::path& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::is_directory(status)) return refuse(path, "it is a folder");
  if (fs::exists(status) && !fs::is_regular_file(status)) return refuse(path, "it is not a regular file");
  return {};
}

// fwrite must not be given a null pointer, even for zero bytes, and an empty span may contain one.
bool put(std::FILE* file, std::span<const std::byte> bytes) {
  return bytes.empty() || std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
}

// `path` is the file's name in errors.
Result<void> write_at(const fs::path& place, const fs::path& path, std::span<const std::byte> head,
                      std::span<const std::byte> body) {
  std::FILE* const file = std::fopen(place.c_str(), "wb");
  if (file == nullptr) return refuse(path, std::strerror(errno));
  const bool written = put(file, head) && put(file, body);
  int error = errno;
  const bool closed = std::fclose(file) == 0;
  if (written && closed) return {};
  if (written) error = errno;
  std::error_code ignored;
  fs::remove(fs::canonical(place, ignored), ignored);
  return refuse(path, std::strerror(error));
}

}  // namespace

Result<void> write_bytes(const fs::path& path, std::span<const std::byte> head, std::span<const std::byte> body) {
  if (auto regular = check_regular(path); !regular) return regular;
  return write_at(path, path, head, body);
}

Result<void> write_text(const fs::path& path, std::string_view text) {
  return write_bytes(path, {}, std::as_bytes(std::span(text)));
}

Result<void> replace_text(const fs::path& path, std::string_view text) {
  if (auto regular = check_regular(path); !regular) return regular;
  fs::path beside = path;
  beside += fmt::format(".{}.tmp", ::getpid());
  if (auto written = write_at(beside, path, {}, std::as_bytes(std::span(text))); !written) return written;
  std::error_code fault, ignored;
  fs::rename(beside, path, fault);
  if (!fault) return {};
  fs::remove(beside, ignored);
  return refuse(path, fault.message());
}

}  // namespace tma_jit::cli
