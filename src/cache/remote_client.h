// A server's four verbs, by an engine, with connections that are kept for the next request.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include <tma_jit/artifact.h>
#include <tma_jit/error.h>

#include "cache/remote_engine.h"
#include "cache/remote_url.h"

namespace tma_jit::cache {

// Where a server is and who asks it.
struct RemoteAddress {
  std::string url;
  std::string user, password, token;
  std::filesystem::path ca, certificate, certificate_key;
  std::filesystem::path library;  // of the engines; empty: searched for
};

// Thread-safe. Call the verbs in a thread with all signals blocked: a write to a closed connection raises SIGPIPE. They
// end in about `limit`, as far as the engine keeps to it.
class RemoteClient {
 public:
  // Finds the engine and makes a connection, which checks the settings but does not ask the server.
  [[nodiscard]] static Result<std::shared_ptr<RemoteClient>> open(const RemoteAddress& address,
                                                                  std::chrono::milliseconds limit);
  ~RemoteClient();
  RemoteClient(const RemoteClient&) = delete;
  RemoteClient& operator=(const RemoteClient&) = delete;

  struct Reply {
    tma_jit_remote_status status = TMA_JIT_REMOTE_FAILED;
    std::string reason;            // one line
    std::vector<std::byte> bytes;  // of `get`
    bool ok() const { return status == TMA_JIT_REMOTE_OK; }
  };
  Reply get(const Key& key);
  Reply put(const Key& key, std::span<const std::byte> bytes);
  Reply exists(const Key& key);
  Reply health();
  // Ends the verbs in progress, and all later ones.
  void cancel() { cancelled_ = true; }
  const std::string& name() const { return url_.shown; }

 private:
  RemoteClient(RemoteEngine engine, RemoteUrl url, RemoteAddress address, std::chrono::milliseconds limit);
  [[nodiscard]] Result<void*> connect();
  template <class Verb> Reply with_connection(Verb verb);

  const RemoteEngine engine_;
  const RemoteUrl url_;
  const RemoteAddress address_;
  const std::chrono::milliseconds limit_;
  std::atomic<bool> cancelled_ = false;
  std::mutex mutex_;  // guards `idle_`
  std::vector<void*> idle_;
};

}  // namespace tma_jit::cache
