// One process's use of a server: the requests in progress, the queue of uploads, and what is known of the server.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/patience.h"
#include "cache/breaker.h"
#include "cache/remote.h"

namespace tma_jit::cache {

// Thread-safe. Its threads own it, call nothing of the embedder, and leave what went wrong to be asked for.
class RemoteSession : public std::enable_shared_from_this<RemoteSession> {
 public:
  struct Counts {
    std::atomic<std::uint64_t> uploads = 0, upload_failures = 0;
  };
  RemoteSession(const RemoteSettings& settings, PackPolicy policy, std::shared_ptr<RemoteClient> reader,
                std::shared_ptr<RemoteClient> writer);

  enum class Outcome : std::uint8_t { hit, absent, failed, refused, skipped };
  struct Fetched {
    Outcome outcome = Outcome::failed;
    std::optional<Entry> entry;
    std::string fault;                                // of failed and refused: one line
    std::shared_ptr<std::vector<std::byte>> encoded;  // of a hit
  };
  // Waits for the server unless it has failed before.
  Fetched get(const Key& key, const Remote::IsUsable& is_usable, const Remote::Keep& keep,
              std::shared_ptr<const void> held);
  // Returns false if the entry is not taken.
  bool upload(const Key& key, std::vector<std::byte> encoded);
  // Waits for uploads, unless the server fails, then ends all requests.
  void close(std::chrono::milliseconds limit);

  bool off() const { return reads_.is_open(); }
  const Counts& counts() const { return counts_; }
  // Returns the first fault of the uploads, once.
  std::string take_fault();

 private:
  struct Upload {
    Key key;
    std::vector<std::byte> encoded;
  };
  Fetched fetch(const Key& key, const Remote::IsUsable& is_usable);
  Fetched fetch_in_time(const Key& key, const Remote::IsUsable& is_usable, const Remote::Keep& keep);
  void try_in_background(const Key& key, const Remote::IsUsable& is_usable, const Remote::Keep& keep);
  void learn(const Fetched& fetched, std::chrono::steady_clock::duration took);
  void work_off();
  void send(const Upload& upload);
  // Runs work in a detached thread that `close` waits for. Returns false if there is no thread.
  bool spawn(std::function<void()> work);

  static constexpr std::size_t kUploadsMax = 256, kUploadBytesMax = std::size_t{256} << 20;
  static constexpr int kRefusedMax = 3;  // answers refused in a row after which the server counts as failed
  static constexpr std::chrono::milliseconds kEndMax{2'000};

  const RemoteSettings settings_;
  const PackPolicy policy_;
  const std::shared_ptr<RemoteClient> reader_, writer_;
  const Patience patience_;
  Breaker reads_, writes_;
  std::atomic<int> refused_in_row_ = 0;
  Counts counts_;

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::deque<Upload> uploads_;
  std::size_t upload_bytes_ = 0;
  bool sending_ = false, closing_ = false;
  int threads_ = 0;
  std::string fault_;
};

}  // namespace tma_jit::cache
