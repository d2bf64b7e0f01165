// The records of a folder's index. Each input is also tried with the first record's check made right.
#include "cache/marks.h"

#include <cstring>

#include "base/digest.h"
#include "support/cache_samples.h"
#include "target.h"

namespace tma_jit::fuzz {
namespace {

void read(std::span<const std::byte> bytes) {
  std::size_t sound = 0;
  cache::read_records(bytes, [&](const cache::IndexRecord& record, std::span<const std::byte> text) {
    sound += text.size();
    std::vector<std::byte> again;
    cache::append_record(again, record);
    FUZZ_EXPECT(again.size() == text.size() && std::memcmp(again.data(), text.data(), text.size()) == 0);
    FUZZ_EXPECT(cache::differences(record.marks, record.marks) == 0);
  });
  FUZZ_EXPECT(sound <= bytes.size());
}

}  // namespace

void run(std::span<const std::uint8_t> input) {
  std::vector<std::byte> bytes(input.size());
  if (!input.empty()) std::memcpy(bytes.data(), input.data(), input.size());
  read(bytes);
  std::uint32_t parts = 0;
  if (bytes.size() < 56) return;
  std::memcpy(&parts, bytes.data() + 4, sizeof parts);
  if (parts > (bytes.size() - 56) / 8) return;
  const Digest digest = sha256(bytes.data() + 16, 40 + parts * 8);
  std::memcpy(bytes.data() + 8, digest.data(), 8);
  read(bytes);
}

std::vector<std::string> seeds() {
  std::vector<std::string> texts;
  std::vector<std::byte> bytes;
  for (unsigned number = 0; number < 3; ++number) {
    cache::IndexRecord record{cache::sample_key(number), cache::Marks::of("gemm")};
    for (unsigned part = 0; part < number * 2; ++part) record.marks.add(std::to_string(part), "value");
    cache::append_record(bytes, record);
    texts.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return texts;
}

}  // namespace tma_jit::fuzz
