#include "remote/faulty_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <optional>
#include <stdexcept>

namespace tma_jit::testing {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

// Takes a whole request from the front of `buffer`.
std::optional<HttpRequest> take_request(std::string& buffer) {
  const std::size_t end = buffer.find("\r\n\r\n");
  if (end == std::string::npos) return std::nullopt;
  HttpRequest request;
  std::string_view head(buffer.data(), end + 2);
  const std::string_view line = head.substr(0, head.find("\r\n"));
  request.method = line.substr(0, line.find(' '));
  request.target = line.substr(request.method.size() + 1, line.rfind(' ') - request.method.size() - 1);
  head.remove_prefix(line.size() + 2);
  while (!head.empty()) {
    const std::string_view one = head.substr(0, head.find("\r\n"));
    const std::size_t colon = one.find(':');
    request.headers[lower(std::string(one.substr(0, colon)))] = one.substr(std::min(one.size(), colon + 2));
    head.remove_prefix(one.size() + 2);
  }
  std::size_t length = 0;
  const std::string& stated = request.headers["content-length"];
  (void)std::from_chars(stated.data(), stated.data() + stated.size(), length);
  if (buffer.size() < end + 4 + length) return std::nullopt;
  request.body = buffer.substr(end + 4, length);
  buffer.erase(0, end + 4 + length);
  return request;
}

}  // namespace

FaultyServer::FaultyServer(Handler handler, bool http) : handler_(std::move(handler)), http_(http) {
  listening_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(listening_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(listening_, 128) != 0 ||
      ::getsockname(listening_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    throw std::runtime_error("no port for a test's server");
  port_ = ::ntohs(address.sin_port);
  acceptor_ = std::thread([this] { accept_all(); });
}

FaultyServer::~FaultyServer() {
  ending_ = true;
  acceptor_.join();
  ::close(listening_);
  for (std::thread& thread : threads_) thread.join();
}

std::string FaultyServer::url(const std::string& scheme) const {
  return scheme + "://127.0.0.1:" + std::to_string(port_);
}

void FaultyServer::accept_all() {
  while (!ending_) {
    pollfd waited{listening_, POLLIN, 0};
    if (::poll(&waited, 1, 10) <= 0) continue;
    const int socket = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) continue;
    const int on = 1;
    (void)::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    threads_.emplace_back([this, socket] { serve(socket); });
  }
}

void FaultyServer::serve(int socket) {
  std::string buffer;
  std::array<char, 65536> part{};
  while (!ending_) {
    pollfd waited{socket, POLLIN, 0};
    if (::poll(&waited, 1, 10) <= 0) continue;
    const ssize_t got = ::recv(socket, part.data(), part.size(), 0);
    if (got <= 0) break;
    buffer.append(part.data(), static_cast<std::size_t>(got));
    HttpRequest request;
    if (http_) {
      auto whole = take_request(buffer);
      if (!whole) continue;
      request = *std::move(whole);
    }
    ++requests_;
    if (!handler_(*this, socket, request)) break;
  }
  ::close(socket);
}

bool FaultyServer::send(int socket, std::string_view text) const {
  while (!text.empty() && !ending_) {
    pollfd waited{socket, POLLOUT, 0};
    if (::poll(&waited, 1, 10) <= 0) continue;
    const ssize_t put = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (put <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  return text.empty();
}

bool FaultyServer::answer(int socket, const std::string& status, std::string_view body,
                          const std::string& headers) const {
  return send(socket, "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + headers +
                          "\r\n" + std::string(body));
}

bool FaultyServer::drip(int socket, std::string_view text, int pause_ms) const {
  return std::all_of(text.begin(), text.end(), [&](char c) { return send(socket, {&c, 1}) && pause(pause_ms); });
}

bool FaultyServer::pause(int ms) const {
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(ms);
  while (!ending_ && std::chrono::steady_clock::now() < until) ::usleep(2000);
  return !ending_;
}

}  // namespace tma_jit::testing
