#include "cache/entry.h"

#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>

#include "base/digest.h"
#include "cache/compression.h"
#include "core/failure.h"

namespace tma_jit::cache {
namespace {

static_assert(std::endian::native == std::endian::little, "the header is written as it lies in memory");

constexpr std::array<std::uint8_t, 8> kMagic = {0x89, 'T', 'M', 'J', '\r', '\n', 0x1a, '\n'};
constexpr std::uint16_t kMajor = kEntryFormat;
constexpr std::uint32_t kCompressed = 1;
constexpr std::uint32_t kKnownFlags = kCompressed;  // 2, 4 and 8 are reserved for PTX, a signature and load tests
constexpr std::uint32_t kCubinSection = 1;

struct Header {
  std::array<std::uint8_t, 8> magic = kMagic;
  std::uint16_t major = kMajor;
  std::uint16_t minor = 0;
  std::uint32_t header_bytes = kEntryHeaderBytes;
  std::uint64_t file_bytes = 0;
  std::uint32_t metadata_bytes = 0;
  std::uint32_t flags = 0;
  std::uint64_t stored_bytes = 0;
  std::uint64_t raw_bytes = 0;
  std::array<std::uint8_t, 32> key{};
  Digest payload_digest{};
  std::array<std::uint8_t, 16> reserved{};
};
static_assert(sizeof(Header) == kEntryHeaderBytes && std::has_unique_object_representations_v<Header>);

// Precedes each section of the payload.
struct Section {
  std::uint32_t tag = kCubinSection;
  std::uint32_t reserved = 0;
  std::uint64_t bytes = 0;
};
static_assert(sizeof(Section) == 16);

template <class... Args>
tl::unexpected<Fault> fault(MissReason reason, fmt::format_string<Args...> format, Args&&... args) {
  return tl::make_unexpected(Fault{reason, fmt::format(format, std::forward<Args>(args)...)});
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

tl::expected<Header, Fault> read_header(std::span<const std::byte> bytes) {
  const std::size_t smallest = kEntryHeaderBytes + kEntryTrailerBytes;
  if (bytes.size() < smallest || bytes.size() > kEntryBytesMax) {
    return fault(MissReason::corrupt, "{} bytes, an entry has {} to {}", bytes.size(), smallest, kEntryBytesMax);
  }
  const auto header = read<Header>(bytes);
  if (header.magic != kMagic) return fault(MissReason::format, "the first 8 bytes are not an entry's");
  if (header.major != kMajor)
    return fault(MissReason::format, "format {}, this version reads {}", header.major, kMajor);
  if ((header.flags & ~kKnownFlags) != 0) {
    return fault(MissReason::format, "flags {:#x} ask for features this version lacks", header.flags);
  }
  return header;
}

// A later minor version may use the reserved bytes for data that older readers can ignore.
std::optional<std::string> length_fault(const Header& header, std::size_t file_bytes) {
  if (header.header_bytes != kEntryHeaderBytes) return fmt::format("header of {} bytes", header.header_bytes);
  if (header.file_bytes != file_bytes)
    return fmt::format("{} bytes, its header says {}", file_bytes, header.file_bytes);
  const std::size_t body = file_bytes - kEntryHeaderBytes - kEntryTrailerBytes;
  if (header.metadata_bytes > body || header.stored_bytes != body - header.metadata_bytes) {
    return fmt::format("metadata of {} and payload of {} bytes do not fill {}", header.metadata_bytes,
                       header.stored_bytes, body);
  }
  const bool compressed = (header.flags & kCompressed) != 0;
  if (compressed ? header.raw_bytes > kEntryBytesMax : header.raw_bytes != header.stored_bytes) {
    return fmt::format("payload of {} bytes, stored {}", header.raw_bytes, header.stored_bytes);
  }
  if (header.minor == 0 && header.reserved != decltype(header.reserved){}) return "reserved bytes are not zero";
  return std::nullopt;
}

bool digest_matches(std::span<const std::byte> bytes, std::span<const std::byte> digest) {
  const Digest actual = sha256(bytes.data(), bytes.size());
  return std::memcmp(actual.data(), digest.data(), actual.size()) == 0;
}

// Accepts a payload of one cubin section with nothing after it.
tl::expected<std::vector<std::byte>, Fault> read_section(std::span<const std::byte> payload) {
  if (payload.size() < sizeof(Section)) return fault(MissReason::corrupt, "payload of {} bytes", payload.size());
  const auto section = read<Section>(payload);
  const auto content = payload.subspan(sizeof section);
  if (section.tag != kCubinSection || section.reserved != 0) {
    return fault(MissReason::format, "a payload section of kind {}", section.tag);
  }
  if (section.bytes != content.size() || content.empty()) {
    return fault(MissReason::corrupt, "section of {} bytes in {}", section.bytes, content.size());
  }
  return std::vector<std::byte>(content.begin(), content.end());
}

tl::expected<std::vector<std::byte>, Fault> read_payload(const Header& header, std::span<const std::byte> stored,
                                                         Depth depth) {
  std::vector<std::byte> unpacked;
  std::span<const std::byte> payload = stored;
  if ((header.flags & kCompressed) != 0) {
    auto raw = decompressed(stored, header.raw_bytes);
    if (!raw) return fault(MissReason::corrupt, "{}", raw.error());
    unpacked = *std::move(raw);
    payload = unpacked;
  }
  if (depth == Depth::all && !digest_matches(payload, std::as_bytes(std::span(header.payload_digest))))
    return fault(MissReason::corrupt, "its payload does not match its digest");
  return read_section(payload);
}

// Returns the payload that `read_section` accepts: the section header and the cubin.
std::vector<std::byte> payload_of(const Entry& entry) {
  const Section section{.bytes = entry.cubin.size()};
  std::vector<std::byte> payload;
  payload.reserve(sizeof section + entry.cubin.size());
  append(payload, &section, sizeof section);
  append(payload, entry.cubin.data(), entry.cubin.size());
  return payload;
}

}  // namespace

std::string_view name_of(MissReason reason) {
  switch (reason) {
    case MissReason::none: return "none";
    case MissReason::absent: return "absent";
    case MissReason::io: return "io";
    case MissReason::untrusted: return "untrusted";
    case MissReason::format: return "format";
    case MissReason::corrupt: return "corrupt";
    case MissReason::wrong_key: return "wrong_key";
  }
  return "unknown";
}

Result<std::vector<std::byte>> encode(const Key& key, const Entry& entry) {
  const std::size_t fixed = kEntryHeaderBytes + sizeof(Section) + kEntryTrailerBytes;
  const std::size_t room = kEntryBytesMax - fixed;
  if (entry.cubin.empty())
    return failure(ErrorCode::invalid_argument, "cache entry {}: the cubin is empty", to_hex(key.bytes));
  if (entry.cubin.size() > room || entry.metadata.size() > room - entry.cubin.size()) {
    return failure(ErrorCode::invalid_argument, "cache entry {}: {} bytes of cubin and {} of metadata, limit {}",
                   to_hex(key.bytes), entry.cubin.size(), entry.metadata.size(), room);
  }
  const std::vector<std::byte> raw = payload_of(entry);
  const std::vector<std::byte> frame = compressed(raw);
  const std::vector<std::byte>& stored = frame.empty() ? raw : frame;

  Header header;
  header.file_bytes = kEntryHeaderBytes + entry.metadata.size() + stored.size() + kEntryTrailerBytes;
  header.metadata_bytes = static_cast<std::uint32_t>(entry.metadata.size());
  header.flags = frame.empty() ? 0 : kCompressed;
  header.stored_bytes = stored.size();
  header.raw_bytes = raw.size();
  header.key = key.bytes;
  header.payload_digest = sha256(raw.data(), raw.size());

  std::vector<std::byte> out;
  out.reserve(header.file_bytes);
  append(out, &header, sizeof header);
  append(out, entry.metadata.data(), entry.metadata.size());
  append(out, stored.data(), stored.size());
  const Digest trailer = sha256(out.data(), out.size());
  append(out, trailer.data(), trailer.size());
  return out;
}

tl::expected<Entry, Fault> decode(std::span<const std::byte> bytes, const Key& key, Depth depth) {
  const auto header = read_header(bytes);
  if (!header) return tl::make_unexpected(header.error());
  if (const auto wrong = length_fault(*header, bytes.size())) return fault(MissReason::corrupt, "{}", *wrong);
  const auto covered = bytes.first(bytes.size() - kEntryTrailerBytes);
  if (!digest_matches(covered, bytes.last(kEntryTrailerBytes))) {
    return fault(MissReason::corrupt, "its bytes do not match the digest at its end");
  }
  if (header->key != key.bytes) return fault(MissReason::wrong_key, "it holds key {}", to_hex(header->key));

  const auto metadata = covered.subspan(kEntryHeaderBytes, header->metadata_bytes);
  auto cubin = read_payload(*header, covered.subspan(kEntryHeaderBytes + header->metadata_bytes), depth);
  if (!cubin) return tl::make_unexpected(cubin.error());
  return Entry{std::move(*cubin), std::string(reinterpret_cast<const char*>(metadata.data()), metadata.size())};
}

std::optional<std::string> metadata_in(std::span<const std::byte> head) {
  if (head.size() < kEntryHeaderBytes) return std::nullopt;
  const auto header = read<Header>(head);
  if (header.magic != kMagic || header.major != kMajor || header.header_bytes != kEntryHeaderBytes ||
      header.metadata_bytes > head.size() - kEntryHeaderBytes)
    return std::nullopt;
  const auto metadata = head.subspan(kEntryHeaderBytes, header.metadata_bytes);
  return std::string(reinterpret_cast<const char*>(metadata.data()), metadata.size());
}

std::optional<Key> key_in(std::span<const std::byte> bytes) {
  if (bytes.size() < kEntryHeaderBytes) return std::nullopt;
  return Key{read<Header>(bytes).key};
}

}  // namespace tma_jit::cache
