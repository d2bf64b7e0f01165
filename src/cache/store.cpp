#include "cache/store.h"

#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <random>
#include <span>
#include <tuple>
#include <utility>

#include "base/digest.h"
#include "cache/carried_records.h"
#include "cache/folder.h"
#include "cache/index.h"
#include "cache/publish.h"
#include "cache/root.h"
#include "core/failure.h"

namespace tma_jit::cache {
namespace {

using Clock = std::chrono::steady_clock;
using SharedRoot = std::shared_ptr<const Root>;

constexpr std::size_t kIdentityBytesMax = 4096;
constexpr std::size_t kCompilersMax = 64;
constexpr int kReadAttempts = 3;
constexpr int kShardsSweptForSpace = 8;

// A compiler's record is a file with its identity as content and the identity's digest as name.
std::string record_name(std::string_view identity) {
  return std::string(kCompilersName) + "/" + to_hex(sha256(identity.data(), identity.size()));
}

struct Record {
  std::string identity;
  std::time_t used = 0;
};

std::optional<Record> read_record(const FileSystem& files, int folder, const std::string& name, bool touch) {
  const auto file = read_trusted(files, folder, name.c_str(), {.limit = kIdentityBytesMax, .touch = touch});
  if (!file) return std::nullopt;
  Record record{{reinterpret_cast<const char*>(file->bytes.data()), file->bytes.size()}, file->modified};
  if (record_name(record.identity) != name) return std::nullopt;
  return record;
}

// Returns whether a write error is permanent for this process.
bool is_final(int error) {
  return error == EROFS || error == EACCES || error == EPERM;
}

bool is_full(int error) {
  return error == ENOSPC || error == EDQUOT;
}

}  // namespace

struct Store::State {
  std::filesystem::path root;
  std::string name;
  StoreOptions options;
  std::atomic<bool> writable = false;
  std::atomic<Clock::rep> paused_until = Clock::time_point::min().time_since_epoch().count();
  std::atomic<std::uint64_t> evicted = 0;
  Sweeper sweeper;
  mutable std::mutex mutex;  // guards `opened`
  SharedRoot opened;

  const FileSystem& files() const { return *options.files; }
  SharedRoot folder() const {
    const std::lock_guard lock(mutex);
    return opened;
  }
  // Creates and opens the folder again after it was removed or its server lost it.
  SharedRoot reopen();
  tl::expected<File, ReadFault> read(const char* path);
  Result<void> write(const std::string& path, std::span<const std::byte> bytes);
  tl::expected<std::time_t, WriteFault> try_write(const std::string& path, std::span<const std::byte> bytes);
  bool make_space(const SharedRoot& place, unsigned shard);
  void note(int error);
  void sweep_sometimes(const SharedRoot& place, std::time_t now);
  bool paused() const { return Clock::now().time_since_epoch().count() < paused_until; }
};

SharedRoot Store::State::reopen() {
  auto again = options.existing ? open_existing_root(files(), root) : open_root(files(), root, options.shared);
  if (!again) return folder();
  if (!options.existing) make_shards(files(), again->folder.get(), again->shared);
  const std::lock_guard lock(mutex);
  return opened = std::make_shared<const Root>(std::move(*again));
}

// Retries once: a network file system may answer EIO or ESTALE while another node replaces the file.
tl::expected<File, ReadFault> Store::State::read(const char* path) {
  SharedRoot place = folder();
  for (int attempt = 1;; ++attempt) {
    auto file = read_trusted(files(), place->folder.get(), path, {.touch = writable});
    if (file || file.error().reason != MissReason::io || attempt == kReadAttempts) return file;
    if (file.error().error == ESTALE) place = reopen();
  }
}

tl::expected<std::time_t, WriteFault> Store::State::try_write(const std::string& path,
                                                              std::span<const std::byte> bytes) {
  SharedRoot place = folder();
  auto written = publish(files(), place->folder.get(), path, bytes, file_mode(place->shared));
  if (!written && (written.error().error == ENOENT || written.error().error == ESTALE)) {
    place = reopen();
    written = publish(files(), place->folder.get(), path, bytes, file_mode(place->shared));
  }
  unsigned shard = 0;
  (void)std::sscanf(path.c_str(), "%2x", &shard);
  if (!written && is_full(written.error().error) && make_space(place, shard))
    written = publish(files(), place->folder.get(), path, bytes, file_mode(place->shared));
  if (written) sweep_sometimes(place, *written);
  return written;
}

Result<void> Store::State::write(const std::string& path, std::span<const std::byte> bytes) {
  if (!writable) return failure(ErrorCode::io, "cache folder {}: it can be read but not written", name);
  if (paused()) return failure(ErrorCode::io, "cache folder {}: there was no space; not writing for a while", name);
  const auto written = try_write(path, bytes);
  if (written) return {};
  note(written.error().error);
  return failure(ErrorCode::io, "cache folder {}: {} ({})", name, written.error().detail, path);
}

void Store::State::note(int error) {
  if (is_final(error)) writable = false;
  if (is_full(error)) paused_until = (Clock::now() + options.pause).time_since_epoch().count();
}

// Halves some shards. Returns false if no entry was old enough to be removed.
bool Store::State::make_space(const SharedRoot& place, unsigned shard) {
  const OpenRoot here{files(), place->folder.get(), std::time(nullptr)};
  std::uint64_t removed = 0;
  for (unsigned i = 0; i < kShardsSweptForSpace && removed == 0; ++i) {
    const unsigned number = (shard + i) % kShards;
    const Swept size = sweep_shard(here, number, options.limits, {~0ULL, ~0ULL});
    const Swept swept = sweep_shard(here, number, options.limits, {size.bytes / 2, size.entries / 2});
    removed += swept.removed + size.temporaries;
    evicted += swept.removed;
  }
  return removed > 0;
}

// Sweeps more often if the limit on entries is small, because the entries put between two complete rounds are what the
// folder may exceed its limit by. Several processes may sweep at once: one removes an entry, the others find it gone.
void Store::State::sweep_sometimes(const SharedRoot& place, std::time_t now) {
  thread_local std::minstd_rand numbers{std::random_device()()};
  const auto every = std::clamp<std::uint64_t>(options.limits.entries / 1024, 1, std::max(1U, options.sweep_every));
  if (options.sweep_every == 0 || numbers() % every != 0) return;
  evicted += sweeper.sweep({files(), place->folder.get(), now}, options.limits).removed;
}

Store::Store(std::unique_ptr<State> state) : state_(std::move(state)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Result<Store> Store::open(const std::filesystem::path& root, const StoreOptions& options) {
  std::error_code error;
  auto absolute = std::filesystem::absolute(root, error).lexically_normal();
  if (root.empty() || error) return failure(ErrorCode::invalid_argument, "no cache folder is named");
  if (!absolute.has_filename()) absolute = absolute.parent_path();  // turns "cache/" into "cache"
  TMA_JIT_ASSIGN(Root opened, options.existing ? open_existing_root(*options.files, absolute)
                                               : open_root(*options.files, absolute, options.shared));
  auto state = std::make_unique<State>();
  state->name = absolute.string();
  state->root = std::move(absolute);
  state->options = options;
  state->writable = opened.writable && !options.existing;
  state->opened = std::make_shared<const Root>(std::move(opened));
  return Store(std::move(state));
}

Lookup Store::get(const Key& key) const {
  const auto name = entry_name(key);
  auto file = state_->read(name.data());
  std::optional<Fault> fault;
  if (!file) {
    fault = std::move(file).error();
  } else if (auto entry = decode(file->bytes, key, Depth::hit)) {
    return {std::move(*entry), MissReason::none, {}, {}};
  } else {
    fault = std::move(entry).error();
  }
  if (fault->reason == MissReason::absent) return {std::nullopt, fault->reason, {}, {}};
  return {std::nullopt,
          fault->reason,
          fmt::format("cache entry {}: {}", entry_path(root(), key).string(), fault->detail),
          {}};
}

Result<void> Store::put(const Key& key, std::span<const std::byte> encoded) const {
  return state_->write(entry_name(key).data(), encoded);
}

Result<void> Store::put(const Key& key, const Entry& entry) const {
  TMA_JIT_ASSIGN(const auto bytes, encode(key, entry));
  return put(key, bytes);
}

std::string Store::records() const {
  const auto file = read_trusted(state_->files(), AT_FDCWD, (root() / kRecordsFile).c_str(), {});
  if (!file) return {};
  return {reinterpret_cast<const char*>(file->bytes.data()), file->bytes.size()};
}

std::vector<std::string> Store::compilers() const {
  const SharedRoot place = state_->folder();
  std::vector<Record> records;
  const int folder = place->folder.get();
  for (const std::string& name : names_in(state_->files(), folder, kCompilersName.data())) {
    auto record = read_record(state_->files(), folder, fmt::format("{}/{}", kCompilersName, name), false);
    if (record) records.push_back(std::move(*record));
  }
  std::sort(records.begin(), records.end(), [](const Record& a, const Record& b) {
    return std::tie(b.used, a.identity) < std::tie(a.used, b.identity);
  });
  std::vector<std::string> identities;
  for (Record& record : records) {
    if (identities.size() < kCompilersMax) identities.push_back(std::move(record.identity));
  }
  return identities;
}

Result<void> Store::record_compiler(std::string_view identity) const {
  if (identity.empty() || identity.size() > kIdentityBytesMax) {
    return failure(ErrorCode::invalid_argument, "a compiler identity of {} bytes, allowed are 1 to {}", identity.size(),
                   kIdentityBytesMax);
  }
  const std::string name = record_name(identity);
  if (read_record(state_->files(), state_->folder()->folder.get(), name, state_->writable)) return {};
  return state_->write(name, std::as_bytes(std::span(identity)));
}

Nearest Store::nearest(const Question& question) const {
  const SharedRoot place = state_->folder();
  return nearest_in({state_->files(), place->folder.get(), state_->writable, place->shared}, question);
}

void Store::add_to_index(const Key& key, const Marks& marks) const {
  if (!state_->writable || state_->paused()) return;
  const SharedRoot place = state_->folder();
  cache::add_to_index({state_->files(), place->folder.get(), true, place->shared}, {{key, marks}});
}

const std::string& Store::name() const {
  return state_->name;
}
const std::filesystem::path& Store::root() const {
  return state_->root;
}
bool Store::writable() const {
  return state_->writable;
}
bool Store::local() const {
  return state_->folder()->local;
}
Lock Store::lock() const {
  Lock lock = Lock::open(state_->files(), state_->folder()->folder.get());
  if (lock.error() != ENOENT || lock.state() != LockState::unsupported) return lock;
  return Lock::open(state_->files(), state_->reopen()->folder.get());
}
std::uint64_t Store::evicted() const {
  return state_->evicted;
}

}  // namespace tma_jit::cache
