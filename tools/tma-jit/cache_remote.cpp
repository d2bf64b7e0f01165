// tma-jit cache push, pull, and stat of a server: the remote level of the cache.
#include <tma_jit/remote.h>

#include <optional>

#include "cache.h"
#include "progress.h"
#include "text.h"

namespace tma_jit::cli {
namespace {

Outcome<int> report(const Settings& settings, const Result<RemoteTransfer>& made, const char* done) {
  if (!made) return tl::make_unexpected(server_failure(made.error()));
  const RemoteTransfer& transfer = *made;
  settings.console.report("{}: {} entries, {} {} ({}), {} were there, {} failed\n", transfer.remote, transfer.entries,
                          transfer.moved, done, readable_bytes(transfer.moved_bytes), transfer.there, transfer.failed);
  if (transfer.failed != 0) settings.console.note("the first that failed: {}", transfer.fault);
  settings.console.object({{"remote", transfer.remote},
                           {"entries", transfer.entries},
                           {"moved", transfer.moved},
                           {"moved_bytes", transfer.moved_bytes},
                           {"there", transfer.there},
                           {"failed", transfer.failed},
                           {"fault", transfer.fault}});
  return transfer.failed == 0 ? kDone : kFailed;
}

// Draws the progress of a transfer, whose number of entries is known when it has begun.
class Transfer {
 public:
  explicit Transfer(const Console& console) : console_(console) {}
  TransferProgress progress() {
    return [this](std::uint64_t, std::uint64_t entries) {
      if (!bar_) bar_.emplace(console_, entries);
      bar_->step("entries");
    };
  }

 private:
  const Console& console_;
  std::optional<Progress> bar_;
};

Outcome<int> push(const Settings& settings, const CacheWords& words) {
  RemoteOptions remote = remote_options(settings);
  remote.sign_key = words.sign;
  Transfer shown(settings.console);
  return report(settings, cache_push(cache_root(settings), remote, shown.progress()), "uploaded");
}

Outcome<int> pull(const Settings& settings, const CacheWords& words) {
  Transfer shown(settings.console);
  return report(
      settings,
      cache_pull(cache_root(settings), remote_options(settings), pack_keys(words), settings.shared, shown.progress()),
      "copied");
}

}  // namespace

Outcome<int> remote_cache_stat(const Settings& settings) {
  const auto stat = remote_stat(remote_options(settings));
  if (!stat) return tl::make_unexpected(server_failure(stat.error()));
  settings.console.report("{}\n  answers   in {:.1f} ms\n  catalogue {} entries by {} compilers\n", stat->remote,
                          stat->health_ms, stat->entries, stat->compilers.size());
  settings.console.object({{"remote", stat->remote},
                           {"health_ms", stat->health_ms},
                           {"entries", stat->entries},
                           {"compilers", stat->compilers}});
  return kDone;
}

void add_cache_remote(Verb cache, Settings& settings) {
  add_cache_action(cache, settings, "push", "upload what a server lacks of the folder, and list it there", push,
                   [&](Verb action, CacheWords& words) {
                     add_remote(action, settings);
                     action.option("--sign", words.sign, "private key to sign the entries with (see keygen)");
                   });
  const Verb into =
      add_cache_action(cache, settings, "pull", "copy what was pushed to a server into the folder", pull,
                       [&](Verb action, CacheWords& words) {
                         add_remote(action, settings);
                         action.repeated("--pack-key", words.pack_keys, "public key that must have signed each entry");
                       });
  add_shared(into, settings);
}

}  // namespace tma_jit::cli
