// A stream of bytes to a server, over TCP or TLS, each step bounded by one deadline.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "remote/engine.h"

struct ssl_st;
struct ssl_ctx_st;

namespace tma_jit::remote {

// The time by which a verb ends. It also ends when the core cancels it.
class Deadline {
 public:
  explicit Deadline(const Settings& settings)
      : settings_(settings), until_(Clock::now() + std::chrono::milliseconds(settings.total_ms)) {}
  // Returns how long the next wait may be, at most 20 ms; 0 if the time is over.
  int slice_ms() const;

 private:
  using Clock = std::chrono::steady_clock;
  const Settings& settings_;
  const Clock::time_point until_;
};

class Stream {
 public:
  // Resolves the host, connects, and with `tls` shakes hands and verifies the server's certificate. Returns null with
  // the reason.
  static std::unique_ptr<Stream> connect(const Settings& settings, int port, bool tls, const Deadline& deadline,
                                         std::string& reason);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  bool write(std::string_view bytes, const Deadline& deadline);
  // Returns the number of bytes read, at least 1; 0 if the server closed the stream, failed, or is too late.
  std::size_t read(char* into, std::size_t most, const Deadline& deadline);

 private:
  explicit Stream(const Settings& settings) : settings_(settings) {}
  bool connect_socket(int port, const Deadline& deadline, std::string& reason);
  bool start_tls(const Deadline& deadline, std::string& reason);
  bool await(short events, const Deadline& deadline) const;
  // Runs a call of OpenSSL until it needs no more waiting.
  template <class Call> long tls_step(Call call, const Deadline& deadline);

  const Settings& settings_;
  int socket_ = -1;
  ssl_ctx_st* context_ = nullptr;
  ssl_st* tls_ = nullptr;
};

}  // namespace tma_jit::remote
