// A server in this process that answers each request as a test says, well or badly.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace tma_jit::testing {

struct HttpRequest {
  std::string method, target, body;
  std::map<std::string, std::string> headers;  // names in lower case
};

// Listens on a port of 127.0.0.1. Each connection has a thread, in which the handler is called for each request; it
// returns false to close the connection.
class FaultyServer {
 public:
  using Handler = std::function<bool(FaultyServer& server, int socket, const HttpRequest& request)>;
  // `http`: the handler gets whole requests; else it is called once there is anything to read.
  explicit FaultyServer(Handler handler, bool http = true);
  ~FaultyServer();
  FaultyServer(const FaultyServer&) = delete;
  FaultyServer& operator=(const FaultyServer&) = delete;

  int port() const { return port_; }
  std::string url(const std::string& scheme = "http") const;
  int requests() const { return requests_; }

  // Returns false if the peer is gone or the server ends.
  bool send(int socket, std::string_view text) const;
  // "HTTP/1.1 <status>", with the length of the body.
  bool answer(int socket, const std::string& status, std::string_view body = {}, const std::string& headers = {}) const;
  // Sends a byte now and then.
  bool drip(int socket, std::string_view text, int pause_ms) const;
  // Returns false when the server ends.
  bool pause(int ms) const;

 private:
  void accept_all();
  void serve(int socket);

  Handler handler_;
  const bool http_;
  int listening_ = -1, port_ = 0;
  std::atomic<bool> ending_ = false;
  std::atomic<int> requests_ = 0;
  std::mutex mutex_;
  std::vector<std::thread> threads_;
  std::thread acceptor_;
};

inline std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace tma_jit::testing
