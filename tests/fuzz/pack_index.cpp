// A pack's header and index: the input is the header and, right behind it, the index. Tried as it is and with sizes and
// digest made right.
#include "cache/pack_index.h"

#include <cstring>

#include "support/cache_samples.h"
#include "target.h"

namespace tma_jit::fuzz {
namespace {

void read(std::span<const std::byte> header, std::span<const std::byte> index, std::uint64_t file_bytes) {
  const auto sizes = cache::read_pack_header(header, file_bytes);
  if (!sizes || sizes->index_bytes != index.size()) return;
  const auto found = cache::read_pack_index(header, index);
  if (!found) return;
  for (const cache::PackRecord& record : found->records) {
    FUZZ_EXPECT(record.offset + record.bytes <= file_bytes);
    FUZZ_EXPECT(cache::find_record(*found, Key{record.key}) == &record);
  }
}

}  // namespace

void run(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < cache::kPackHeaderBytes + cache::kPackTailBytes) return;
  std::vector<std::byte> all(bytes.size());
  std::memcpy(all.data(), bytes.data(), bytes.size());
  const std::span<std::byte> header = std::span(all).first(cache::kPackHeaderBytes);
  const std::span<std::byte> index = std::span(all).subspan(cache::kPackHeaderBytes);
  std::uint64_t file_bytes = 0;
  std::memcpy(&file_bytes, header.data() + 16, sizeof file_bytes);
  read(header, index, file_bytes);
  std::uint64_t entries_bytes = 0;
  std::memcpy(&entries_bytes, header.data() + 24, sizeof entries_bytes);
  file_bytes = all.size() + entries_bytes;
  std::memcpy(header.data() + 16, &file_bytes, sizeof file_bytes);
  Sha256 hash;
  hash.update(all.data(), all.size() - sizeof(Digest));
  const Digest digest = hash.finish();
  std::memcpy(all.data() + all.size() - digest.size(), digest.data(), digest.size());
  read(header, index, file_bytes);
}

std::vector<std::string> seeds() {
  std::vector<std::string> texts;
  for (const unsigned count : {0U, 1U, 4U}) {
    std::vector<cache::PackRecord> records;
    std::uint64_t offset = cache::kPackHeaderBytes;
    for (unsigned i = 0; i < count; ++i) {
      cache::PackRecord record{.offset = offset, .bytes = 400 + i};
      record.key[0] = static_cast<std::uint8_t>(i);
      offset += record.bytes;
      records.push_back(record);
    }
    const std::vector<std::string> compilers(count, "nvrtc 13.0 abc");
    const auto frame = cache::pack_frame(compilers, records);
    const auto tail = cache::pack_tail(frame, {});
    std::string text;
    for (const auto* part : {&frame.header, &frame.index, &tail})
      text.append(reinterpret_cast<const char*>(part->data()), part->size());
    texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace tma_jit::fuzz
