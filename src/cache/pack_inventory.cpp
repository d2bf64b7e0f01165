// Operations of tools on packs: making, unpacking and verifying them, and making signing keys.
#include <map>
#include <utility>

#include <tma_jit/tuning.h>

#include "base/digest.h"
#include "base/text.h"
#include "cache/carried_records.h"
#include "cache/inventory.h"
#include "cache/pack.h"
#include "cache/reading.h"
#include "cache/store.h"
#include "core/failure.h"

namespace tma_jit {
namespace {

PackInfo info_of(const cache::PackIndex& index) {
  PackInfo info;
  info.entries = index.records.size();
  for (const cache::PackRecord& record : index.records) info.bytes += record.bytes;
  if (index.has_signature) info.signer = to_hex(index.signature.id);
  return info;
}

// Adds the records that a pack carries to those of a folder.
Result<void> merge_records(const std::filesystem::path& root, const std::string& lines) {
  std::vector<TuningRecord> records;
  for (const std::string_view line : split(lines, '\n')) {
    if (auto record = parse_tuning_line(line)) records.push_back(*std::move(record));
  }
  return merge_tuning_file(root / cache::kRecordsFile, records);
}

}  // namespace

Result<PackInfo> cache_pack(const std::filesystem::path& root, const std::filesystem::path& file,
                            const std::filesystem::path& private_key) {
  cache::StoreOptions options;
  options.existing = true;
  TMA_JIT_ASSIGN(const cache::Store store, cache::Store::open(root, options));
  TMA_JIT_ASSIGN(const auto inventory, cache::inventory_of(store.root()));
  cache::PackContent content;
  std::map<Key, std::string> names;
  std::uint64_t skipped = 0;
  for (const cache::Item& item : inventory.items) {
    if (!item.key) continue;
    const bool sound = cache::find(inventory, item).entry.has_value();
    skipped += sound ? 0 : 1;
    if (!sound) continue;
    names[*item.key] = item.name;
    content.keys.push_back(*item.key);
  }
  content.compilers = store.compilers();
  const std::string records = store.records();
  if (!records.empty()) content.keys.push_back(cache::records_key());
  content.read = [&](const Key& key) -> Result<std::vector<std::byte>> {
    if (key == cache::records_key()) return cache::encode(key, cache::records_entry(records));
    auto read = cache::read_trusted(cache::FileSystem::system(), inventory.folder.get(), names[key].c_str(), {});
    if (read && cache::decode(read->bytes, key)) return std::move(read->bytes);
    return failure(ErrorCode::io, "cache entry {} changed while it was packed; try again", to_hex(key.bytes));
  };
  TMA_JIT_ASSIGN(const cache::PackIndex index, cache::write_pack(file, content, private_key));
  PackInfo info = info_of(index);
  info.skipped = skipped;
  return info;
}

Result<PackInfo> cache_unpack(const std::filesystem::path& file, const std::filesystem::path& root,
                              const std::vector<std::filesystem::path>& pack_keys, bool shared) {
  TMA_JIT_ASSIGN(const cache::PackPolicy policy, cache::read_pack_policy(pack_keys));
  TMA_JIT_ASSIGN(const auto pack, cache::Pack::open(file, cache::FileSystem::system(), policy));
  cache::StoreOptions options;
  options.shared = shared;
  TMA_JIT_ASSIGN(const cache::Store store, cache::Store::open(root, options));
  PackInfo info = info_of(pack->index());
  for (const cache::PackRecord& record : pack->index().records) {
    const Key key{record.key};
    const auto bytes = pack->read(record);
    const auto entry = bytes ? cache::decode(*bytes, key) : tl::make_unexpected(bytes.error());
    if (!entry) {
      ++info.skipped;
    } else if (key == cache::records_key()) {
      TMA_JIT_CHECK(merge_records(store.root(), cache::lines_of(*entry)));
    } else {
      TMA_JIT_CHECK(store.put(key, *bytes));
    }
  }
  for (const std::string& compiler : pack->compilers()) TMA_JIT_CHECK(store.record_compiler(compiler));
  return info;
}

Result<std::string> cache_keygen(const std::filesystem::path& private_key, const std::filesystem::path& public_key) {
  TMA_JIT_ASSIGN(const cache::PublicKey key, cache::make_keys(private_key, public_key));
  return to_hex(key.id);
}

}  // namespace tma_jit
