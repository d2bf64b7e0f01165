#include "cache/store.h"

#include <unistd.h>
#include <algorithm>
#include <ctime>
#include <span>
#include <tuple>
#include <utility>

#include "base/digest.h"
#include "base/failure.h"
#include "cache/folder.h"

namespace tma_jit::cache {
namespace {

constexpr std::size_t kIdentityBytesMax = 4096;
constexpr std::size_t kCompilersMax = 64;

Lookup miss(Fault fault, const std::filesystem::path& path) {
  if (fault.reason == MissReason::absent) return {std::nullopt, fault.reason, {}};
  return {std::nullopt, fault.reason, fmt::format("cache entry {}: {}", path.string(), fault.detail)};
}

// The record of a compiler is named by the digest of its identity, which is all it holds.
std::filesystem::path record_path(const std::filesystem::path& root, std::string_view identity) {
  return compilers_folder(root) / to_hex(sha256(identity.data(), identity.size()));
}

struct Record {
  std::string identity;
  std::time_t used = 0;
};

std::optional<Record> read_record(const std::filesystem::path& path) {
  const auto file = read_trusted(path, kIdentityBytesMax);
  if (!file) return std::nullopt;
  if (to_hex(sha256(file->bytes.data(), file->bytes.size())) != path.filename()) return std::nullopt;
  return Record{{reinterpret_cast<const char*>(file->bytes.data()), file->bytes.size()}, file->modified};
}

}  // namespace

Result<Store> Store::open(const std::filesystem::path& root) {
  std::error_code error;
  auto absolute = std::filesystem::absolute(root, error).lexically_normal();
  if (root.empty() || error) return failure(ErrorCode::invalid_argument, "no cache folder is named");
  if (!absolute.has_filename()) absolute = absolute.parent_path();  // "cache/" as "cache"
  TMA_JIT_ASSIGN(const bool writable, prepare_folder(absolute));
  return Store(std::move(absolute), writable);
}

Lookup Store::get(const Key& key) const {
  const auto path = entry_path(root_, key);
  auto file = read_trusted(path, kEntryBytesMax);
  if (!file) return miss(std::move(file).error(), path);
  auto entry = decode(file->bytes, key);
  if (!entry) return miss(std::move(entry).error(), path);
  if (writable_) touch(path, file->modified);
  return {std::move(*entry), MissReason::none, {}};
}

Result<void> Store::put(const Key& key, const Entry& entry) const {
  TMA_JIT_ASSIGN(const auto bytes, encode(key, entry));
  return write(entry_path(root_, key), bytes);
}

std::vector<std::string> Store::compilers() const {
  std::vector<Record> records;
  for (const std::string& name : names_in(compilers_folder(root_))) {
    if (auto record = read_record(compilers_folder(root_) / name)) records.push_back(std::move(*record));
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
  const auto path = record_path(root_, identity);
  if (const auto known = read_record(path)) {
    touch(path, known->used);
    return {};
  }
  return write(path, std::as_bytes(std::span(identity)));
}

Result<void> Store::write(const std::filesystem::path& path, std::span<const std::byte> bytes) const {
  auto written = publish(path, bytes);
  if (written || ::access(path.parent_path().c_str(), F_OK) == 0) return written;
  TMA_JIT_CHECK(prepare_folder(root_));  // somebody removed the whole folder
  return publish(path, bytes);
}

}  // namespace tma_jit::cache
