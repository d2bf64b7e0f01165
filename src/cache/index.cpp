#include "cache/index.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>

#include "base/descriptor.h"
#include "cache/entry.h"
#include "cache/folder.h"
#include "cache/publish.h"
#include "cache/reading.h"
#include "cache/root.h"

namespace tma_jit::cache {
namespace {

constexpr std::size_t kTiesMax = 64;  // most equally near entries whose time of last use is looked up
constexpr std::size_t kWorthAnew = std::size_t{1} << 20;

struct KeyHash {
  std::size_t operator()(const Key& key) const {
    std::size_t hash = 0;
    std::memcpy(&hash, key.bytes.data(), sizeof hash);
    return hash;
  }
};
using Present = std::unordered_map<Key, bool, KeyHash>;  // whether the index contains the key

void list_shard(const IndexedFolder& place, const std::string& shard, Present& present) {
  const int opened = place.files.open(place.folder, shard.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
  if (opened < 0) return;
  const std::unique_ptr<DIR, int (*)(DIR*)> items(::fdopendir(opened), ::closedir);
  if (!items) {
    ::close(opened);
    return;
  }
  while (const dirent* item = ::readdir(items.get())) {
    if (const auto key = key_named(shard, static_cast<const char*>(item->d_name))) present.emplace(*key, false);
  }
}

// Reads only the part before the cubin, unverified: the entry that is finally shown is verified then.
std::optional<std::string> metadata_of(const IndexedFolder& place, const Key& key) {
  const auto head = read_head(place.files, place.folder, entry_name(key).data(), kMetadataHeadBytes);
  return head ? metadata_in(head->bytes) : std::nullopt;
}

class Search {
 public:
  Search(const IndexedFolder& place, const Question& question) : place_(place), question_(question) {}

  Nearest run() {
    for (unsigned shard = 0; shard < kShards && !question_.is_late(); ++shard)
      list_shard(place_, shard_name(shard), present_);
    read_index();
    if (!question_.is_late()) read_missing();
    nearest_.complete = !question_.is_late();
    date_and_sort();
    return std::move(nearest_);
  }

 private:
  void consider(const IndexRecord& record) {
    if (record.marks.kernel != question_.wanted.kernel) return;
    nearest_.entries.push_back({record.key, differences(question_.wanted, record.marks), 0, nullptr});
  }

  void read_index() {
    const auto file = read_trusted(place_.files, place_.folder, kIndexName, {.limit = kIndexBytesMax});
    if (!file) return;
    std::vector<std::byte> useful;
    read_records(file->bytes, [&](const IndexRecord& record, std::span<const std::byte> bytes) {
      const auto entry = present_.find(record.key);
      if (entry == present_.end() || entry->second) return;
      entry->second = true;
      useful.insert(useful.end(), bytes.begin(), bytes.end());
      consider(record);
    });
    const std::size_t useless = file->bytes.size() - useful.size();
    if (place_.writable && !question_.is_late() && useless > useful.size() && useless > kWorthAnew)
      (void)publish(place_.files, place_.folder, kIndexName, useful, file_mode(place_.shared));
  }

  void read_missing() {
    std::vector<IndexRecord> found;
    for (const auto& [key, indexed] : present_) {
      if (question_.is_late()) break;
      if (indexed) continue;
      const auto metadata = metadata_of(place_, key);
      if (!metadata) continue;
      found.push_back({key, question_.marks_of(*metadata)});
      consider(found.back());
    }
    if (place_.writable) add_to_index(place_, found);
  }

  void date_and_sort() {
    std::ranges::sort(nearest_.entries, [](const Near& a, const Near& b) {
      return std::tie(a.differences, a.key) < std::tie(b.differences, b.key);
    });
    if (nearest_.entries.size() > kTiesMax) nearest_.entries.resize(kTiesMax);
    for (Near& near : nearest_.entries) {
      struct stat status {};
      if (place_.files.stat_at(place_.folder, entry_name(near.key).data(), status) == 0) near.used_s = status.st_mtime;
    }
    keep_nearest(nearest_);
  }

  const IndexedFolder& place_;
  const Question& question_;
  Present present_;
  Nearest nearest_;
};

}  // namespace

void keep_nearest(Nearest& nearest) {
  std::ranges::sort(nearest.entries, [](const Near& a, const Near& b) {
    return std::tie(a.differences, b.used_s, a.key) < std::tie(b.differences, a.used_s, b.key);
  });
  if (nearest.entries.size() > kNearMax) nearest.entries.resize(kNearMax);
}

void add_to_index(const IndexedFolder& place, const std::vector<IndexRecord>& records) {
  if (records.empty()) return;
  std::vector<std::byte> bytes;
  for (const IndexRecord& record : records) append_record(bytes, record);
  constexpr int kFlags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  const Descriptor file(place.files.open(place.folder, kIndexName, kFlags, 0600));
  struct stat status {};
  if (!file || place.files.stat(file.get(), status) != 0 || refusal(status, ~std::size_t{0})) return;
  if (static_cast<std::size_t>(status.st_size) + bytes.size() > kIndexBytesMax) {
    (void)place.files.remove(place.folder, kIndexName);
    return;
  }
  const mode_t mode = file_mode(place.shared);
  if ((status.st_mode & 07777) != mode) (void)place.files.set_mode(file.get(), mode);
  (void)place.files.write(file.get(), bytes.data(), bytes.size(), status.st_size);
}

Nearest nearest_in(const IndexedFolder& place, const Question& question) {
  return Search(place, question).run();
}

}  // namespace tma_jit::cache
