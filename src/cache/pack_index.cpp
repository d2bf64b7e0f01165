#include "cache/pack_index.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "cache/entry.h"

namespace tma_jit::cache {
namespace {

constexpr std::array<std::uint8_t, 8> kMagic = {0x89, 'T', 'M', 'P', '\r', '\n', 0x1a, '\n'};
constexpr std::uint16_t kMajor = 1;
constexpr std::size_t kCompilerBytesMax = 4096;
constexpr std::size_t kCompilersMax = 64;
constexpr std::string_view kPurpose = "tma-jit pack 1\n";  // prevents the use of a signature for another purpose

struct Header {
  std::array<std::uint8_t, 8> magic = kMagic;
  std::uint16_t major = kMajor;
  std::uint16_t minor = 0;
  std::uint32_t header_bytes = kPackHeaderBytes;
  std::uint64_t file_bytes = 0;
  std::uint64_t entries_bytes = 0;
  std::uint64_t compilers_bytes = 0;
  std::uint64_t records = 0;
  std::array<std::uint8_t, 16> reserved{};
};
static_assert(sizeof(Header) == kPackHeaderBytes);

struct Tail {
  KeyId key{};
  Signature signature{};
  Digest digest{};
};
static_assert(sizeof(Tail) == kPackTailBytes);

template <class... Args> tl::unexpected<std::string> fault(fmt::format_string<Args...> format, Args&&... args) {
  return tl::make_unexpected(fmt::format(format, std::forward<Args>(args)...));
}

template <class T> T read(std::span<const std::byte> bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

void append(std::vector<std::byte>& out, const void* bytes, std::size_t size) {
  const auto* first = static_cast<const std::byte*>(bytes);
  out.insert(out.end(), first, first + size);
}

Digest digest_of(std::span<const std::byte> header, std::span<const std::byte> index) {
  Sha256 hash;
  hash.update(header.data(), header.size());
  hash.update(index.data(), index.size());
  return hash.finish();
}

std::vector<std::uint8_t> message_for(std::span<const std::byte> header, std::span<const std::byte> index) {
  const Digest digest = digest_of(header, index);
  std::vector<std::uint8_t> message(kPurpose.size() + digest.size());
  std::ranges::copy(digest, std::ranges::copy(kPurpose, message.begin()).out);
  return message;
}

// compilers = { size u32, bytes }
tl::expected<std::vector<std::string>, std::string> read_compilers(std::span<const std::byte> bytes) {
  std::vector<std::string> compilers;
  while (!bytes.empty()) {
    if (bytes.size() < 4) return fault("a compiler's size of {} bytes", bytes.size());
    const auto size = read<std::uint32_t>(bytes);
    bytes = bytes.subspan(4);
    if (size == 0 || size > kCompilerBytesMax || size > bytes.size() || compilers.size() == kCompilersMax)
      return fault("a compiler of {} bytes in {}", size, bytes.size());
    compilers.emplace_back(reinterpret_cast<const char*>(bytes.data()), size);
    bytes = bytes.subspan(size);
  }
  return compilers;
}

tl::expected<std::vector<PackRecord>, std::string> read_records(std::span<const std::byte> bytes,
                                                                std::uint64_t entries_bytes) {
  std::vector<PackRecord> records(bytes.size() / sizeof(PackRecord));
  if (!records.empty()) std::memcpy(records.data(), bytes.data(), bytes.size());
  std::uint64_t offset = kPackHeaderBytes;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const PackRecord& record = records[i];
    if (record.offset != offset || record.bytes > kEntryBytesMax ||
        record.bytes < kEntryHeaderBytes + kEntryTrailerBytes)
      return fault("record {}: {} bytes at {}, expected at {}", i, record.bytes, record.offset, offset);
    if (i > 0 && records[i - 1].key >= record.key) return fault("record {}: its key is not above the one before", i);
    offset += record.bytes;
  }
  if (offset != kPackHeaderBytes + entries_bytes)
    return fault("its entries end at {}, its index begins at {}", offset, kPackHeaderBytes + entries_bytes);
  return records;
}

}  // namespace

tl::expected<PackHeader, std::string> read_pack_header(std::span<const std::byte> bytes, std::uint64_t file_bytes) {
  if (bytes.size() < kPackHeaderBytes || file_bytes < kPackHeaderBytes + kPackTailBytes)
    return fault("{} bytes are too few for a pack", file_bytes);
  const auto header = read<Header>(bytes);
  if (header.magic != kMagic) return fault("the first 8 bytes are not a pack's");
  if (header.major != kMajor) return fault("format {}, this version reads {}", header.major, kMajor);
  if (header.header_bytes != kPackHeaderBytes || header.reserved != decltype(header.reserved){})
    return fault("a header of another layout");
  if (header.file_bytes != file_bytes) return fault("{} bytes, its header says {}", file_bytes, header.file_bytes);
  const std::uint64_t body = file_bytes - kPackHeaderBytes - kPackTailBytes;
  const std::uint64_t most = kPackIndexBytesMax - kPackTailBytes;
  if (header.entries_bytes > body || header.compilers_bytes > kCompilersMax * (4 + kCompilerBytesMax) ||
      header.records > most / sizeof(PackRecord)) {
    return fault("sizes of {}, {} and {} records in {} bytes", header.entries_bytes, header.compilers_bytes,
                 header.records, body);
  }
  const std::uint64_t index = header.compilers_bytes + header.records * sizeof(PackRecord);
  if (index > most || header.entries_bytes + index != body)
    return fault("its parts take {} bytes of {}", header.entries_bytes + index, body);
  return PackHeader{file_bytes, header.entries_bytes, index + kPackTailBytes};
}

tl::expected<PackIndex, std::string> read_pack_index(std::span<const std::byte> header,
                                                     std::span<const std::byte> index) {
  const auto fields = read<Header>(header);
  const auto tail = read<Tail>(index.last(kPackTailBytes));
  if (digest_of(header, index.first(index.size() - sizeof(Digest))) != tail.digest)
    return fault("its index does not match its digest");
  const auto compilers = index.first(fields.compilers_bytes);
  const auto records = index.subspan(fields.compilers_bytes, fields.records * sizeof(PackRecord));
  PackIndex found;
  auto names = read_compilers(compilers);
  if (!names) return tl::make_unexpected(names.error());
  auto list = read_records(records, fields.entries_bytes);
  if (!list) return tl::make_unexpected(list.error());
  found.compilers = *std::move(names);
  found.records = *std::move(list);
  found.has_signature = tail.key != KeyId{};
  found.signature = {tail.key, tail.signature};
  found.message = message_for(header, index.first(index.size() - kPackTailBytes));
  return found;
}

const PackRecord* find_record(const PackIndex& index, const Key& key) {
  const auto found = std::ranges::lower_bound(index.records, key.bytes, {}, &PackRecord::key);
  return found != index.records.end() && found->key == key.bytes ? &*found : nullptr;
}

PackFrame pack_frame(std::span<const std::string> compilers, std::span<const PackRecord> records) {
  PackFrame frame;
  for (const std::string& compiler : compilers.first(std::min(compilers.size(), kCompilersMax))) {
    const auto size = static_cast<std::uint32_t>(compiler.size());
    append(frame.index, &size, sizeof size);
    append(frame.index, compiler.data(), compiler.size());
  }
  Header header;
  header.compilers_bytes = frame.index.size();
  header.records = records.size();
  if (!records.empty()) header.entries_bytes = records.back().offset + records.back().bytes - kPackHeaderBytes;
  append(frame.index, records.data(), records.size_bytes());
  header.file_bytes = kPackHeaderBytes + header.entries_bytes + frame.index.size() + kPackTailBytes;
  append(frame.header, &header, sizeof header);
  frame.message = message_for(frame.header, frame.index);
  return frame;
}

std::vector<std::byte> pack_tail(const PackFrame& frame, const Signed& signature) {
  Tail tail{signature.id, signature.signature, {}};
  std::vector<std::byte> covered = frame.index;
  append(covered, &tail, sizeof tail - sizeof tail.digest);
  tail.digest = digest_of(frame.header, covered);
  std::vector<std::byte> bytes;
  append(bytes, &tail, sizeof tail);
  return bytes;
}

}  // namespace tma_jit::cache
