// Writing of a pack: entries in the order of their keys, then their index, then the signature over the index.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "base/write.h"
#include "cache/entry.h"
#include "cache/folder.h"
#include "cache/pack.h"
#include "core/failure.h"

namespace tma_jit::cache {
namespace {

// A temporary output file, removed on destruction unless it was renamed to its place.
class Output {
 public:
  explicit Output(std::filesystem::path path)
      : path_(std::move(path)),
        temporary_(path_.parent_path() / temporary_name()),
        file_(::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644)) {}
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() {
    if (!done_) ::unlink(temporary_.c_str());
  }

  bool open() const { return static_cast<bool>(file_); }
  bool write(std::span<const std::byte> bytes, off_t at) const {
    while (!bytes.empty()) {
      const ssize_t put = write_some_at(file_.get(), bytes.data(), bytes.size(), at);
      if (put < 0 && errno == EINTR) continue;
      if (put <= 0) return false;
      bytes = bytes.subspan(static_cast<std::size_t>(put));
      at += put;
    }
    return true;
  }
  bool finish() {
    done_ = ::fchmod(file_.get(), 0644) == 0 && ::fdatasync(file_.get()) == 0 && file_.close() &&
            ::rename(temporary_.c_str(), path_.c_str()) == 0;
    return done_;
  }
  tl::unexpected<Error> failed() const {
    return failure(ErrorCode::io, "cannot write the pack {}: {}", path_.string(), std::strerror(errno));
  }

 private:
  std::filesystem::path path_, temporary_;
  Descriptor file_;
  bool done_ = false;
};

}  // namespace

Result<PackIndex> write_pack(const std::filesystem::path& path, const PackContent& content,
                             const std::filesystem::path& private_key) {
  std::vector<Key> keys = content.keys;
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  TMA_JIT_CHECK(check_replaceable(path));
  Output output(path);
  if (!output.open()) return output.failed();
  PackIndex index;
  std::uint64_t at = kPackHeaderBytes;
  for (const Key& key : keys) {
    TMA_JIT_ASSIGN(const auto bytes, content.read(key));
    PackRecord record{.key = key.bytes, .offset = at, .bytes = bytes.size()};
    std::memcpy(record.digest.data(), bytes.data() + bytes.size() - kEntryTrailerBytes, kEntryTrailerBytes);
    if (!output.write(bytes, static_cast<off_t>(at))) return output.failed();
    at += bytes.size();
    index.records.push_back(record);
  }
  index.compilers = content.compilers;
  const PackFrame frame = pack_frame(index.compilers, index.records);
  if (!private_key.empty()) {
    TMA_JIT_ASSIGN(index.signature, sign(private_key, frame.message));
    index.has_signature = true;
  }
  const auto tail = pack_tail(frame, index.signature);
  if (!output.write(frame.header, 0) || !output.write(frame.index, static_cast<off_t>(at)) ||
      !output.write(tail, static_cast<off_t>(at + frame.index.size())) || !output.finish())
    return output.failed();
  return index;
}

}  // namespace tma_jit::cache
