// Operations of tools on a remote cache: push, pull, stat and the proof that it works.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <utility>

#include <tma_jit/remote.h>

#include "base/digest.h"
#include "base/patience.h"
#include "base/together.h"
#include "cache/inventory.h"
#include "cache/remote_catalogue.h"
#include "cache/remote_entry.h"
#include "cache/remote_options.h"
#include "cache/store.h"
#include "core/failure.h"

namespace tma_jit {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kVerbMax{30'000};
constexpr unsigned kTransfersAtOnce = 8;
// A failure that took so long is a server that does not answer; after so many in a row no further entry is tried.
constexpr double kSilentMs = 900;
constexpr unsigned kSilentMax = kTransfersAtOnce;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// A server as tools use it: every fault of it is an error here.
struct Server {
  std::shared_ptr<cache::RemoteClient> client;
  cache::PackPolicy policy;
  RemoteOptions options;

  static Result<Server> open(RemoteOptions options, const std::vector<std::filesystem::path>& pack_keys) {
    const ProcessEnvironment environment = ProcessEnvironment::read();
    cache::resolve(options, environment.remote);
    if (options.url.empty())
      return failure(ErrorCode::invalid_argument, "no remote cache is named: give its URL, or set TMA_JIT_REMOTE");
    TMA_JIT_ASSIGN(auto policy, cache::read_pack_policy(pack_keys.empty() ? environment.pack_keys : pack_keys));
    TMA_JIT_ASSIGN(auto client, cache::RemoteClient::open(cache::address_of(options), kVerbMax));
    return Server{std::move(client), std::move(policy), std::move(options)};
  }

  tl::unexpected<Error> failed(const char* verb, const cache::RemoteClient::Reply& reply) const {
    const bool denied = reply.status == TMA_JIT_REMOTE_DENIED;
    return failure(ErrorCode::io, "remote cache {}: {}{}: {}", client->name(), verb,
                   denied ? ", the credentials are not accepted" : "", reply.reason);
  }
  // Returns nullopt if the server has no such entry.
  Result<std::optional<cache::Entry>> get(const Key& key, std::vector<std::byte>* encoded = nullptr) const {
    const cache::RemoteClient::Reply reply = client->get(key);
    if (reply.status == TMA_JIT_REMOTE_ABSENT) return std::nullopt;
    if (!reply.ok()) return failed("get", reply);
    auto found = cache::from_remote(reply.bytes, key, policy);
    if (!found)
      return failure(ErrorCode::io, "remote cache {}: entry {}: {}", client->name(), key.hex(), found.error().detail);
    if (encoded != nullptr) encoded->assign(found->encoded.begin(), found->encoded.end());
    return std::move(found->entry);
  }
  Result<void> put(const Key& key, std::span<const std::byte> encoded) const {
    TMA_JIT_ASSIGN(const auto bytes, cache::to_remote(encoded, options.sign_key));
    const cache::RemoteClient::Reply reply = client->put(key, bytes);
    return reply.ok() ? Result<void>() : failed("put", reply);
  }
  Result<bool> exists(const Key& key) const {
    const cache::RemoteClient::Reply reply = client->exists(key);
    if (reply.ok()) return true;
    if (reply.status == TMA_JIT_REMOTE_ABSENT) return false;
    return failed("exists", reply);
  }
  Result<double> health() const {
    const auto start = Clock::now();
    const cache::RemoteClient::Reply reply = client->health();
    if (!reply.ok()) return failed("health", reply);
    return milliseconds_since(start);
  }
  // An empty catalogue if there is none.
  Result<cache::Catalogue> catalogue() const {
    TMA_JIT_ASSIGN(const auto entry, get(cache::catalogue_key()));
    return entry ? cache::catalogue_in(*entry) : cache::Catalogue();
  }
};

// Moves one entry; returns its size, or 0 if it was there.
using Move = std::function<Result<std::uint64_t>(const Key& key)>;

struct Moved {
  RemoteTransfer transfer;
  std::vector<Key> keys;  // of those that were moved or there
};

Moved move_all(const Server& server, const std::vector<Key>& keys, const TransferProgress& progress, const Move& move) {
  Moved all{{.remote = server.client->name(), .entries = keys.size()}, {}};
  RemoteTransfer& transfer = all.transfer;
  std::mutex mutex;
  unsigned silent = 0;
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < keys.size(); i = next++) {
      const auto start = Clock::now();
      const auto moved = move(keys[i]);
      const std::lock_guard lock(mutex);
      silent = !moved && milliseconds_since(start) > kSilentMs ? silent + 1 : 0;
      if (silent >= kSilentMax) next = keys.size();
      if (!moved) {
        if (transfer.failed++ == 0) transfer.fault = moved.error().message;
      } else {
        ++(*moved == 0 ? transfer.there : transfer.moved);
        transfer.moved_bytes += *moved;
        all.keys.push_back(keys[i]);
      }
      if (progress) progress(transfer.there + transfer.moved + transfer.failed, transfer.entries);
    }
  };
  const std::size_t count = std::min<std::size_t>(kTransfersAtOnce, keys.size());
  run_together(count == 0 ? 0 : count - 1, work);
  transfer.failed = keys.size() - transfer.moved - transfer.there;  // with those that were not tried
  return all;
}

// Runs work in a thread that no signal reaches: writing to a closed connection would raise SIGPIPE.
template <class Work> auto without_signals(Work work) {
  using Made = std::invoke_result_t<Work>;
  auto made = Patience(std::chrono::hours(24 * 365)).within(std::move(work));
  return made ? *std::move(made) : Made(failure(ErrorCode::io, "the remote cache does not answer"));
}

Result<void> add_to_catalogue(const Server& server, const std::vector<Key>& keys,
                              const std::vector<std::string>& compilers) {
  TMA_JIT_ASSIGN(cache::Catalogue catalogue, server.catalogue());
  const std::size_t known = catalogue.keys.size(), known_compilers = catalogue.compilers.size();
  catalogue.keys.insert(keys.begin(), keys.end());
  for (const std::string& compiler : compilers) {
    if (std::find(catalogue.compilers.begin(), catalogue.compilers.end(), compiler) == catalogue.compilers.end())
      catalogue.compilers.push_back(compiler);
  }
  if (catalogue.keys.size() == known && catalogue.compilers.size() == known_compilers) return {};
  TMA_JIT_ASSIGN(const auto encoded, cache::encode(cache::catalogue_key(), cache::to_entry(catalogue)));
  return server.put(cache::catalogue_key(), encoded);
}

Result<RemoteTransfer> push(const std::filesystem::path& root, const RemoteOptions& remote,
                            const TransferProgress& progress) {
  TMA_JIT_ASSIGN(const Server server, Server::open(remote, {}));
  TMA_JIT_CHECK(server.health());
  cache::StoreOptions existing;
  existing.existing = true;
  TMA_JIT_ASSIGN(const cache::Store store, cache::Store::open(root, existing));
  TMA_JIT_ASSIGN(const auto inventory, cache::inventory_of(store.root()));
  std::vector<Key> keys;
  for (const cache::Item& item : inventory.items) {
    if (item.key && cache::find(inventory, item).entry) keys.push_back(*item.key);
  }
  auto [transfer, there] = move_all(server, keys, progress, [&](const Key& key) -> Result<std::uint64_t> {
    TMA_JIT_ASSIGN(const bool known, server.exists(key));
    if (known && server.options.sign_key.empty()) return std::uint64_t{0};  // else it may lack the signature
    const cache::Lookup found = store.get(key);
    if (!found.entry) return failure(ErrorCode::io, "cache entry {} went away", key.hex());
    TMA_JIT_ASSIGN(const auto encoded, cache::encode(key, *found.entry));
    TMA_JIT_CHECK(server.put(key, encoded));
    return encoded.size();
  });
  if (there.empty()) return transfer;
  if (auto listed = add_to_catalogue(server, there, store.compilers()); !listed && transfer.failed++ == 0)
    transfer.fault = listed.error().message;
  return transfer;
}

Result<RemoteTransfer> pull(const std::filesystem::path& root, const RemoteOptions& remote,
                            const std::vector<std::filesystem::path>& pack_keys, bool shared,
                            const TransferProgress& progress) {
  TMA_JIT_ASSIGN(const Server server, Server::open(remote, pack_keys));
  TMA_JIT_ASSIGN(const cache::Catalogue catalogue, server.catalogue());
  cache::StoreOptions options;
  options.shared = shared;
  TMA_JIT_ASSIGN(const cache::Store store, cache::Store::open(root, options));
  const std::vector<Key> keys(catalogue.keys.begin(), catalogue.keys.end());
  Moved moved = move_all(server, keys, progress, [&](const Key& key) -> Result<std::uint64_t> {
    if (store.get(key).entry) return std::uint64_t{0};
    std::vector<std::byte> encoded;
    TMA_JIT_ASSIGN(const auto entry, server.get(key, &encoded));
    if (!entry) return failure(ErrorCode::io, "entry {} is in the catalogue and not on the server", key.hex());
    TMA_JIT_CHECK(store.put(key, encoded));
    return encoded.size();
  });
  for (const std::string& compiler : catalogue.compilers) TMA_JIT_CHECK(store.record_compiler(compiler));
  return std::move(moved.transfer);
}

// The entry that proves a server is one for each machine and user, and is replaced by the next proof.
cache::Entry probe_entry(std::string& name) {
  std::array<char, 64> host{};
  (void)::gethostname(host.data(), host.size() - 1);
  name = fmt::format("tma-jit probe 1 {} {}", host.data(), ::geteuid());
  cache::Entry entry;
  entry.metadata = fmt::format("{{\"probe\":{}}}", Clock::now().time_since_epoch().count());
  entry.cubin.resize(4096, std::byte{0x5a});
  return entry;
}

Result<RemoteProof> prove(const RemoteOptions& remote, const std::vector<std::filesystem::path>& pack_keys) {
  TMA_JIT_ASSIGN(Server server, Server::open(remote, pack_keys));
  RemoteProof proof{.remote = server.client->name()};
  TMA_JIT_ASSIGN(proof.health_ms, server.health());
  if (server.options.role == RemoteRole::read_only) return proof;
  std::string name;
  const cache::Entry entry = probe_entry(name);
  const Key key{sha256(name.data(), name.size())};
  TMA_JIT_ASSIGN(const auto encoded, cache::encode(key, entry));
  auto start = Clock::now();
  TMA_JIT_CHECK(server.put(key, encoded));
  proof.put_ms = milliseconds_since(start);
  proof.written = true;
  if (server.options.role == RemoteRole::write_only) return proof;
  // What this process does not sign, its own rule would refuse.
  if (server.options.sign_key.empty()) server.policy = {};
  start = Clock::now();
  TMA_JIT_ASSIGN(const auto read, server.get(key));
  proof.get_ms = milliseconds_since(start);
  start = Clock::now();
  TMA_JIT_ASSIGN(const bool there, server.exists(key));
  proof.exists_ms = milliseconds_since(start);
  name += " never written";
  TMA_JIT_ASSIGN(const bool other, server.exists(Key{sha256(name.data(), name.size())}));
  if (!read || read->metadata != entry.metadata || read->cubin != entry.cubin || !there)
    return failure(ErrorCode::io, "remote cache {}: it does not return what was just written to it", proof.remote);
  if (other) return failure(ErrorCode::io, "remote cache {}: it says that it has what was never written", proof.remote);
  return proof;
}

}  // namespace

Result<RemoteTransfer> cache_push(const std::filesystem::path& root, const RemoteOptions& remote,
                                  const TransferProgress& progress) {
  return without_signals([root, remote, progress] { return push(root, remote, progress); });
}

Result<RemoteTransfer> cache_pull(const std::filesystem::path& root, const RemoteOptions& remote,
                                  const std::vector<std::filesystem::path>& pack_keys, bool shared,
                                  const TransferProgress& progress) {
  return without_signals(
      [root, remote, pack_keys, shared, progress] { return pull(root, remote, pack_keys, shared, progress); });
}

Result<RemoteStat> remote_stat(const RemoteOptions& remote, const std::vector<std::filesystem::path>& pack_keys) {
  return without_signals([remote, pack_keys]() -> Result<RemoteStat> {
    TMA_JIT_ASSIGN(const Server server, Server::open(remote, pack_keys));
    RemoteStat stat{.remote = server.client->name()};
    TMA_JIT_ASSIGN(stat.health_ms, server.health());
    TMA_JIT_ASSIGN(cache::Catalogue catalogue, server.catalogue());
    stat.entries = catalogue.keys.size();
    stat.compilers = std::move(catalogue.compilers);
    return stat;
  });
}

Result<RemoteProof> remote_prove(const RemoteOptions& remote, const std::vector<std::filesystem::path>& pack_keys) {
  return without_signals([remote, pack_keys] { return prove(remote, pack_keys); });
}

}  // namespace tma_jit
