// Cache entries. Each input is also tried with its trailing digest made right, for otherwise nothing gets past that.
#include "cache/entry.h"

#include <cstring>

#include "base/digest.h"
#include "support/cache_samples.h"
#include "target.h"

namespace tma_jit::fuzz {

void run(std::span<const std::uint8_t> bytes) {
  std::vector<std::byte> entry(bytes.size());
  if (!bytes.empty()) std::memcpy(entry.data(), bytes.data(), bytes.size());
  const Key key = cache::key_in(entry).value_or(Key{});
  (void)cache::decode(entry, key);
  if (entry.size() < cache::kEntryTrailerBytes) return;
  const std::size_t covered = entry.size() - cache::kEntryTrailerBytes;
  const Digest digest = sha256(entry.data(), covered);
  std::memcpy(entry.data() + covered, digest.data(), digest.size());
  const auto hit = cache::decode(entry, key, cache::Depth::hit);
  const auto all = cache::decode(entry, key, cache::Depth::all);
  FUZZ_EXPECT(hit || !all);
  FUZZ_EXPECT(!all || cache::same(*hit, *all));
}

std::vector<std::string> seeds() {
  std::vector<std::string> texts;
  for (const auto& entry : {cache::sample_entry(1, 900), cache::noise_entry(2, 300), cache::sample_entry(3, 1)}) {
    const auto bytes = cache::encode(cache::sample_key(1), entry).value();
    texts.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return texts;
}

}  // namespace tma_jit::fuzz
