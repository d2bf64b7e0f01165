#include "cache/pack.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "cache/carried_records.h"
#include "cache/entry.h"
#include "cache/reading.h"
#include "cache/root.h"
#include "core/failure.h"

namespace tma_jit::cache {
namespace {

bool read_at(const FileSystem& files, int file, std::span<std::byte> bytes, std::uint64_t from) {
  int interrupts = 0;
  while (!bytes.empty()) {
    const ssize_t got = files.read(file, bytes.data(), bytes.size(), static_cast<off_t>(from));
    if (got < 0 && errno == EINTR && ++interrupts < kInterruptsMax) continue;
    if (got == 0) errno = ENODATA;
    if (got <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(got));
    from += static_cast<std::uint64_t>(got);
  }
  return true;
}

Result<void> check_signature(const std::string& name, const PackIndex& index, const PackPolicy& policy) {
  if (!policy.signed_only) return {};
  const std::vector<PublicKey>& keys = policy.keys;
  if (!index.has_signature) {
    return failure(ErrorCode::io,
                   "pack {} is not trusted: it is not signed, and a signature by one of {} keys is asked for; make it "
                   "with tma-jit cache pack --sign KEY",
                   name, keys.size());
  }
  for (const PublicKey& key : keys) {
    if (key.id != index.signature.id) continue;
    if (is_signed_by(key, index.signature.signature, index.message)) return {};
    return failure(ErrorCode::io, "pack {} is not trusted: its signature by key {} is not one of its content", name,
                   to_hex(key.id).substr(0, 16));
  }
  return failure(ErrorCode::io, "pack {} is not trusted: it is signed by key {}, which is none of the {} trusted keys",
                 name, to_hex(index.signature.id).substr(0, 16), keys.size());
}

Result<PackIndex> read_index(const FileSystem& files, int file, std::uint64_t size, const std::string& name) {
  std::vector<std::byte> header(kPackHeaderBytes);
  if (size < kPackHeaderBytes || !read_at(files, file, header, 0))
    return failure(ErrorCode::io, "pack {}: {} bytes are too few for a pack", name, size);
  const auto sizes = read_pack_header(header, size);
  if (!sizes) return failure(ErrorCode::io, "pack {} is not sound: {}", name, sizes.error());
  std::vector<std::byte> bytes(sizes->index_bytes);
  if (!read_at(files, file, bytes, kPackHeaderBytes + sizes->entries_bytes))
    return failure(ErrorCode::io, "pack {}: {}", name, std::strerror(errno));
  auto index = read_pack_index(header, bytes);
  if (!index) return failure(ErrorCode::io, "pack {} is not sound: {}", name, index.error());
  return *std::move(index);
}

}  // namespace

Result<std::unique_ptr<Pack>> Pack::open(const std::filesystem::path& path, const FileSystem& files,
                                         const PackPolicy& policy) {
  std::unique_ptr<Pack> pack(new Pack(path.string(), files));
  pack->file_ = Descriptor(files.open(AT_FDCWD, path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0));
  struct stat status {};
  if (!pack->file_ || files.stat(pack->file_.get(), status) != 0)
    return failure(ErrorCode::io, "pack {}: {}", pack->name_, std::strerror(errno));
  if (const auto refused = refusal(status, std::size_t{1} << 50))
    return failure(ErrorCode::io, "pack {} is not trusted: {}", pack->name_, refused->detail);
  TMA_JIT_ASSIGN(pack->index_,
                 read_index(files, pack->file_.get(), static_cast<std::uint64_t>(status.st_size), pack->name_));
  TMA_JIT_CHECK(check_signature(pack->name_, pack->index_, policy));
  pack->local_ = is_local(files, pack->file_.get());
  return pack;
}

tl::expected<std::vector<std::byte>, Fault> Pack::read(const PackRecord& record) const {
  std::vector<std::byte> bytes(record.bytes);
  if (!read_at(files_, file_.get(), bytes, record.offset))
    return tl::make_unexpected(Fault{MissReason::io, std::strerror(errno)});
  if (std::memcmp(bytes.data() + bytes.size() - record.digest.size(), record.digest.data(), record.digest.size()) != 0)
    return tl::make_unexpected(Fault{MissReason::corrupt, "its digest is not the one in the pack's index"});
  return bytes;
}

Lookup Pack::get(const Key& key) const {
  const PackRecord* record = find_record(index_, key);
  if (record == nullptr) return {std::nullopt, MissReason::absent, {}, {}};
  auto entry =
      read(*record).and_then([&](const std::vector<std::byte>& bytes) { return decode(bytes, key, Depth::hit); });
  if (entry) return {std::move(*entry), MissReason::none, {}, {}};
  return {std::nullopt,
          entry.error().reason,
          fmt::format("pack {}, entry {}: {}", name_, to_hex(key.bytes), entry.error().detail),
          {}};
}

std::string Pack::records() const {
  const Lookup found = get(records_key());
  return found.entry ? lines_of(*found.entry) : std::string();
}

// Reads unverified metadata: the entry that is finally shown is verified then.
Marks Pack::marks_of(const PackRecord& record, const Question& question) const {
  std::vector<std::byte> head(std::min<std::uint64_t>(record.bytes, kMetadataHeadBytes));
  if (!read_at(files_, file_.get(), head, record.offset)) return {};
  const auto metadata = metadata_in(head);
  return metadata ? question.marks_of(*metadata) : Marks{};
}

Nearest Pack::nearest(const Question& question) const {
  const std::lock_guard lock(marks_mutex_);
  while (marks_.size() < index_.records.size() && !question.is_late())
    marks_.push_back(marks_of(index_.records[marks_.size()], question));
  Nearest found{{}, marks_.size() == index_.records.size()};
  for (std::size_t i = 0; i < marks_.size(); ++i) {
    if (marks_[i].kernel == question.wanted.kernel)
      found.entries.push_back({Key{index_.records[i].key}, differences(question.wanted, marks_[i]), 0, nullptr});
  }
  keep_nearest(found);
  return found;
}

Result<void> Pack::put(const Key&, std::span<const std::byte>) const {
  return failure(ErrorCode::io, "pack {}: a pack never changes", name_);
}

}  // namespace tma_jit::cache
