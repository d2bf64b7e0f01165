#include "remote/stream.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace tma_jit::remote {
namespace {

constexpr long kSliceMs = 20;

std::string tls_reason(const ssl_st* tls) {
  const long verified = tls != nullptr ? ::SSL_get_verify_result(tls) : X509_V_OK;
  if (verified != X509_V_OK) return ::X509_verify_cert_error_string(verified);
  std::array<char, 160> text{};
  const unsigned long code = ::ERR_get_error();
  if (code == 0) return "the TLS handshake failed";
  ::ERR_error_string_n(code, text.data(), text.size());
  return text.data();
}

}  // namespace

int Deadline::slice_ms() const {
  if (settings_.cancelled(settings_.guard) != 0) return 0;
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until_ - Clock::now()).count();
  return static_cast<int>(std::clamp<long>(left, 0, kSliceMs));
}

std::unique_ptr<Stream> Stream::connect(const Settings& settings, int port, bool tls, const Deadline& deadline,
                                        std::string& reason) {
  std::unique_ptr<Stream> made(new Stream(settings));
  if (!made->connect_socket(port, deadline, reason)) return nullptr;
  if (tls && !made->start_tls(deadline, reason)) return nullptr;
  return made;
}

Stream::~Stream() {
  const NoFork no_fork(settings_);
  if (tls_ != nullptr) ::SSL_free(tls_);
  if (context_ != nullptr) ::SSL_CTX_free(context_);
  if (socket_ >= 0) ::close(socket_);
}

bool Stream::await(short events, const Deadline& deadline) const {
  for (int slice = deadline.slice_ms(); slice > 0; slice = deadline.slice_ms()) {
    pollfd waited{socket_, events, 0};
    const int ready = ::poll(&waited, 1, slice);
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
  return false;
}

bool Stream::connect_socket(int port, const Deadline& deadline, std::string& reason) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  const int code = ::getaddrinfo(settings_.host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (code != 0) {
    reason = settings_.host + ": " + ::gai_strerror(code);
    return false;
  }
  for (const addrinfo* address = found; address != nullptr && socket_ < 0; address = address->ai_next) {
    socket_ = ::socket(address->ai_family, address->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, address->ai_protocol);
    if (socket_ < 0) continue;
    int error = ::connect(socket_, address->ai_addr, address->ai_addrlen) == 0 ? 0 : errno;
    socklen_t size = sizeof error;
    if (error == EINPROGRESS) {
      error = ETIMEDOUT;
      if (await(POLLOUT, deadline)) ::getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &size);
    }
    if (error == 0) break;
    reason = "cannot connect to " + settings_.host + ":" + std::to_string(port) + ": " + std::strerror(error);
    ::close(socket_);
    socket_ = -1;
  }
  ::freeaddrinfo(found);
  const int on = 1;
  if (socket_ >= 0) (void)::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return socket_ >= 0;
}

template <class Call> long Stream::tls_step(Call call, const Deadline& deadline) {
  while (true) {
    int error = SSL_ERROR_NONE;
    long result = 0;
    {
      const NoFork no_fork(settings_);
      ::ERR_clear_error();
      result = call();
      if (result > 0) return result;
      error = ::SSL_get_error(tls_, static_cast<int>(result));
    }
    if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) return 0;
    if (!await(error == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT, deadline)) return 0;
  }
}

bool Stream::start_tls(const Deadline& deadline, std::string& reason) {
  {
    const NoFork no_fork(settings_);
    context_ = ::SSL_CTX_new(::TLS_client_method());
    bool ready = context_ != nullptr && ::SSL_CTX_set_min_proto_version(context_, TLS1_2_VERSION) == 1;
    if (ready) {
      ::SSL_CTX_set_verify(context_, SSL_VERIFY_PEER, nullptr);
      ready = settings_.ca.empty() ? ::SSL_CTX_set_default_verify_paths(context_) == 1
                                   : ::SSL_CTX_load_verify_locations(context_, settings_.ca.c_str(), nullptr) == 1;
    }
    if (ready && !settings_.certificate.empty()) {
      ready = ::SSL_CTX_use_certificate_chain_file(context_, settings_.certificate.c_str()) == 1 &&
              ::SSL_CTX_use_PrivateKey_file(context_, settings_.private_key.c_str(), SSL_FILETYPE_PEM) == 1;
    }
    if (ready) tls_ = ::SSL_new(context_);
    if (tls_ == nullptr) {
      reason = tls_reason(nullptr);
      return false;
    }
    X509_VERIFY_PARAM* wanted = ::SSL_get0_param(tls_);
    if (::X509_VERIFY_PARAM_set1_ip_asc(wanted, settings_.host.c_str()) != 1) {
      (void)::SSL_set1_host(tls_, settings_.host.c_str());
      (void)SSL_set_tlsext_host_name(tls_, settings_.host.c_str());
    }
    (void)::SSL_set_fd(tls_, socket_);
  }
  if (tls_step([&] { return static_cast<long>(::SSL_connect(tls_)); }, deadline) > 0) return true;
  reason = tls_reason(tls_);
  return false;
}

bool Stream::write(std::string_view bytes, const Deadline& deadline) {
  while (!bytes.empty()) {
    long put = 0;
    if (tls_ != nullptr) {
      const int most = static_cast<int>(std::min<std::size_t>(bytes.size(), 1 << 30));
      put = tls_step([&] { return static_cast<long>(::SSL_write(tls_, bytes.data(), most)); }, deadline);
    } else {
      put = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (put < 0 && (errno == EAGAIN || errno == EINTR) && await(POLLOUT, deadline)) continue;
    }
    if (put <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

std::size_t Stream::read(char* into, std::size_t most, const Deadline& deadline) {
  const int count = static_cast<int>(std::min<std::size_t>(most, 1 << 30));
  if (tls_ != nullptr) {
    if (deadline.slice_ms() == 0) return 0;
    return static_cast<std::size_t>(
        tls_step([&] { return static_cast<long>(::SSL_read(tls_, into, count)); }, deadline));
  }
  while (await(POLLIN, deadline)) {
    const ssize_t got = ::recv(socket_, into, static_cast<std::size_t>(count), 0);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EAGAIN && errno != EINTR) return 0;
  }
  return 0;
}

}  // namespace tma_jit::remote
