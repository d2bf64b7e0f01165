#include "cache/marks.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/digest.h"

namespace tma_jit::cache {
namespace {

static_assert(std::endian::native == std::endian::little, "records are written as they lie in memory");

constexpr std::array<std::uint8_t, 4> kMagic = {'T', 'M', 'J', 0x89};

struct RecordHeader {
  std::array<std::uint8_t, 4> magic = kMagic;
  std::uint32_t parts = 0;
  std::uint64_t check = 0;  // hash of everything after it
  std::uint64_t kernel = 0;
  std::array<std::uint8_t, 32> key{};
};
static_assert(sizeof(RecordHeader) == 56 && sizeof(Mark) == 8);
constexpr std::size_t kUnchecked = 16;

// FNV-1a.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001b3U;
  return hash;
}

std::uint32_t short_hash_of(std::string_view text) {
  const std::uint64_t hash = hash_of(text);
  return static_cast<std::uint32_t>(hash ^ hash >> 32);
}

std::uint64_t check_of(std::span<const std::byte> record) {
  const Digest digest = sha256(record.data() + kUnchecked, record.size() - kUnchecked);
  std::uint64_t check = 0;
  std::memcpy(&check, digest.data(), sizeof check);
  return check;
}

// Returns the sound record at the beginning of `bytes`; empty if there is none.
std::span<const std::byte> record_at(std::span<const std::byte> bytes, RecordHeader& header) {
  if (bytes.size() < sizeof header) return {};
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.magic != kMagic || header.parts > kMarksMax) return {};
  const std::size_t size = sizeof header + header.parts * sizeof(Mark);
  if (size > bytes.size()) return {};
  const auto record = bytes.first(size);
  return check_of(record) == header.check ? record : std::span<const std::byte>();
}

std::size_t next_magic(std::span<const std::byte> bytes) {
  const auto magic = std::as_bytes(std::span(kMagic));
  const auto found = std::search(bytes.begin() + 1, bytes.end(), magic.begin(), magic.end());
  return static_cast<std::size_t>(found - bytes.begin());
}

}  // namespace

Marks Marks::of(std::string_view kernel) {
  return {std::max<std::uint64_t>(hash_of(kernel), 1), {}};
}

void Marks::add(std::string_view name, std::string_view value) {
  const Mark mark{short_hash_of(name), short_hash_of(value)};
  if (parts.size() < kMarksMax) parts.insert(std::ranges::upper_bound(parts, mark), mark);
}

unsigned differences(const Marks& a, const Marks& b) {
  unsigned found = 0;
  auto mine = a.parts.begin(), other = b.parts.begin();
  while (mine != a.parts.end() && other != b.parts.end()) {
    found += *mine != *other ? 1U : 0U;
    const std::uint32_t first = std::min(mine->name, other->name);
    const bool in_mine = mine->name == first, in_other = other->name == first;
    if (in_mine) ++mine;
    if (in_other) ++other;
  }
  return found + static_cast<unsigned>((a.parts.end() - mine) + (b.parts.end() - other));
}

void append_record(std::vector<std::byte>& out, const IndexRecord& record) {
  RecordHeader header;
  header.parts = static_cast<std::uint32_t>(record.marks.parts.size());
  header.kernel = record.marks.kernel;
  header.key = record.key.bytes;
  const std::size_t start = out.size();
  out.resize(start + sizeof header + header.parts * sizeof(Mark));
  const auto bytes = std::span(out).subspan(start);
  std::memcpy(bytes.data(), &header, sizeof header);
  if (header.parts > 0)
    std::memcpy(bytes.data() + sizeof header, record.marks.parts.data(), header.parts * sizeof(Mark));
  header.check = check_of(bytes);
  std::memcpy(bytes.data(), &header, sizeof header);
}

void read_records(std::span<const std::byte> bytes, const RecordVisitor& visit) {
  IndexRecord record;
  while (!bytes.empty()) {
    RecordHeader header;
    const auto found = record_at(bytes, header);
    if (found.empty()) {
      bytes = bytes.subspan(next_magic(bytes));
      continue;
    }
    record.key.bytes = header.key;
    record.marks.kernel = header.kernel;
    record.marks.parts.resize(header.parts);
    if (header.parts > 0)
      std::memcpy(record.marks.parts.data(), found.data() + sizeof header, header.parts * sizeof(Mark));
    visit(record, found);
    bytes = bytes.subspan(found.size());
  }
}

}  // namespace tma_jit::cache
