// Servers that are dead, slow, lying or hostile: no kernel of theirs is used, no call fails, and all of them together
// cost one bounded wait.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>

#include <doctest/doctest.h>

#include "base/digest.h"
#include "remote/client.h"
#include "remote/faulty_server.h"

namespace tma_jit {

using namespace testing;
using cache::sample_entry;
using cache::sample_key;

namespace {

using std::chrono::milliseconds;

constexpr milliseconds kWait{300};
constexpr milliseconds kSlack{10'000};  // of a machine with other work to do; a wait for each key would take minutes
constexpr unsigned kGets = 1000;

std::string encoded(unsigned number) {
  return std::string(text_of(*cache::encode(sample_key(number), sample_entry(number))));
}

// Changes an entry's bytes and makes its digest fit again.
std::string sealed(std::string bytes) {
  const Digest digest = sha256(bytes.data(), bytes.size() - cache::kEntryTrailerBytes);
  std::memcpy(bytes.data() + bytes.size() - digest.size(), digest.data(), digest.size());
  return bytes;
}

struct Fault {
  const char* name;
  FaultyServer::Handler handler;
};

// Every handler gets a request for one of the keys that the test asks for.
// NOLINTNEXTLINE(readability-function-size): a list, one entry a fault
std::vector<Fault> http_faults() {
  const std::string sound = encoded(7), length = std::to_string(sound.size());
  const auto body = [](std::string bytes) -> FaultyServer::Handler {
    return [bytes](FaultyServer& server, int socket, const HttpRequest&) {
      return server.answer(socket, "200 OK", bytes);
    };
  };
  const auto raw = [](std::string bytes) -> FaultyServer::Handler {
    return [bytes](FaultyServer& server, int socket, const HttpRequest&) {
      (void)server.send(socket, bytes);
      return false;
    };
  };
  const auto status = [](const std::string& line, const std::string& headers = {}) -> FaultyServer::Handler {
    return [=](FaultyServer& server, int socket, const HttpRequest&) {
      return server.answer(socket, line, "text", headers);
    };
  };
  std::string flipped = sound, old = sound, bomb = sound, huge = sound;
  flipped[200] ^= 1;
  old[8] = 0;                       // its format
  std::memset(&bomb[40], 0xff, 8);  // the size of its payload when unpacked
  std::memset(&huge[16], 0x7f, 8);  // its own size
  return {
      {"silent", [](FaultyServer& server, int, const HttpRequest&) { return server.pause(60'000); }},
      {"a byte of the headers a second",
       [](FaultyServer& server, int socket, const HttpRequest&) {
         return server.drip(socket, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789", 1000);
       }},
      {"a byte of the body a second",
       [=](FaultyServer& server, int socket, const HttpRequest&) {
         return server.send(socket, "HTTP/1.1 200 OK\r\nContent-Length: " + length + "\r\n\r\n") &&
                server.drip(socket, sound, 1000);
       }},
      {"no HTTP", raw(std::string(5000, '\x81'))},
      {"nothing", raw({})},
      {"HTTP 0.9", raw("hello")},
      {"garbage", body(std::string(5000, '\x81'))},
      {"a page", body("<html><body>log in</body></html>")},
      {"an empty body", body({})},
      {"no content", status("204 No Content")},
      {"another key's entry", body(sound)},
      {"a flipped bit", body(flipped)},
      {"another format", body(sealed(old))},
      {"a truncated entry", body(sound.substr(0, 300))},
      {"an entry and more", body(sound + "more")},
      {"a bomb", body(sealed(bomb))},
      {"a size that is not its own", body(sealed(huge))},
      {"a coded body",
       [=](FaultyServer& server, int socket, const HttpRequest&) {
         return server.answer(socket, "200 OK", std::string("\x1f\x8b\x08\x00", 4) + std::string(1000, 'x'),
                              "Content-Encoding: gzip\r\n");
       }},
      {"10 GB by length", raw("HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\nxxxx")},
      {"10 GB in chunks",
       [](FaultyServer& server, int socket, const HttpRequest&) {
         if (!server.send(socket, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")) return false;
         const std::string chunk = "100000\r\n" + std::string(1 << 20, 'x') + "\r\n";
         for (int i = 0; i < 10'000; ++i) {
           if (!server.send(socket, chunk)) return false;
         }
         return true;
       }},
      {"endless headers",
       [](FaultyServer& server, int socket, const HttpRequest&) {
         if (!server.send(socket, "HTTP/1.1 200 OK\r\n")) return false;
         while (server.send(socket, "X-Header: " + std::string(1000, 'x') + "\r\n")) {
         }
         return false;
       }},
      {"endless promises",
       [](FaultyServer& server, int socket, const HttpRequest&) {
         while (server.send(socket, "HTTP/1.1 100 Continue\r\n\r\n")) {
         }
         return false;
       }},
      {"a length below zero", raw("HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nxxxx")},
      {"500", status("500 Internal Server Error")},
      {"503", status("503 Service Unavailable", "Retry-After: 100000\r\n")},
      {"401", status("401 Unauthorized", "WWW-Authenticate: Basic realm=\"x\"\r\n")},
      {"403", status("403 Forbidden")},
      {"418", status("418 I'm a teapot")},
      {"a redirect to a file", status("302 Found", "Location: file:///etc/passwd\r\n")},
      {"a redirect to another host", status("307 Temporary Redirect", "Location: http://192.0.2.1/v1/x\r\n")},
      {"a redirect to itself", status("301 Moved Permanently", "Location: /\r\n")},
      {"closed in the body",
       raw("HTTP/1.1 200 OK\r\nContent-Length: " + length + "\r\n\r\n" + sound.substr(0, sound.size() / 2))},
      {"reset",
       [](FaultyServer&, int socket, const HttpRequest&) {
         const linger now{1, 0};
         (void)::setsockopt(socket, SOL_SOCKET, SO_LINGER, &now, sizeof now);
         return false;
       }},
  };
}

// Asks for many keys that the server has not.
void check_harmless(const char* name, const std::string& url) {
  INFO(name);
  Client client(url);
  client.settings.remote.wait = kWait;
  client.settings.remote.flush = kWait;
  const auto start = std::chrono::steady_clock::now();
  unsigned found = 0;
  for (unsigned i = 0; i < kGets; ++i) found += client.layers().turn(sample_key(1000 + i)).found ? 1 : 0;
  const auto asked = std::chrono::steady_clock::now() - start;
  const CacheStats stats = client.stats();
  CHECK(found == 0);
  CHECK(asked < kWait + kSlack);
  CHECK(stats.remote_hits == 0);
  CHECK(stats.remote_errors + stats.remote_refused >= 1);
  CHECK(stats.remote_errors + stats.remote_refused + stats.remote_skipped + stats.remote_misses == kGets);
  CHECK(stats.remote_off == 1);
  client.put(sample_key(1), sample_entry(1));
  CHECK(client.layers().get(sample_key(1)).entry);
  client.end();
  CHECK(std::chrono::steady_clock::now() - start < 2 * kWait + 2 * kSlack);
  CHECK(client.warnings.size() == 1);
}

}  // namespace

TEST_CASE("a faulty server of HTTP costs one bounded wait, and none of its bytes are used") {
  const std::vector<Fault> faults = http_faults();
  CHECK(faults.size() >= 20);
  for (const Fault& fault : faults) {
    FaultyServer server(fault.handler);
    check_harmless(fault.name, server.url());
  }
}

TEST_CASE("a server that is not there, and one that accepts nothing") {
  int port = 0;
  {
    FaultyServer server([](FaultyServer&, int, const HttpRequest&) { return false; });
    port = server.port();
  }
  for (const char* scheme : {"http", "https", "redis", "rediss", "bazel+http"})
    check_harmless(scheme, std::string(scheme) + "://127.0.0.1:" + std::to_string(port));
  const int listening = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  REQUIRE(::bind(listening, reinterpret_cast<sockaddr*>(&address), size) == 0);
  REQUIRE(::listen(listening, 1) == 0);
  REQUIRE(::getsockname(listening, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  for (const char* scheme : {"http", "https", "redis", "rediss"})
    check_harmless(scheme, std::string(scheme) + "://127.0.0.1:" + std::to_string(::ntohs(address.sin_port)));
  ::close(listening);
}

TEST_CASE("a faulty server of Redis costs one bounded wait, and none of its bytes are used") {
  const std::string sound = encoded(7);
  const auto raw = [](std::string bytes, bool more = false) -> FaultyServer::Handler {
    return [=](FaultyServer& server, int socket, const HttpRequest&) { return server.send(socket, bytes) && more; };
  };
  const std::vector<Fault> faults = {
      {"silent", [](FaultyServer& server, int, const HttpRequest&) { return server.pause(60'000); }},
      {"a byte a second",
       [=](FaultyServer& server, int socket, const HttpRequest&) {
         return server.drip(socket, "$" + std::to_string(sound.size()) + "\r\n" + sound, 1000);
       }},
      {"garbage", raw(std::string(5000, '\x81'))},
      {"HTTP", raw("HTTP/1.1 400 Bad Request\r\n\r\n")},
      {"10 GB", raw("$10000000000\r\nxxxx", true)},
      {"a length below zero", raw("$-7\r\nxxxx", true)},
      {"four thousand million elements", raw("*4294967295\r\n", true)},
      {"a number", raw(":5\r\n", true)},
      {"an error", raw("-ERR no\r\n", true)},
      {"loading", raw("-LOADING Redis is loading the dataset in memory\r\n", true)},
      {"no password", raw("-NOAUTH Authentication required.\r\n", true)},
      {"a line without end", raw(std::string(100'000, '+'))},
      {"closed in the body", raw("$1000\r\n" + sound.substr(0, 500))},
      {"another key's entry", raw("$" + std::to_string(sound.size()) + "\r\n" + sound + "\r\n", true)},
      {"an empty text", raw("$0\r\n\r\n", true)},
  };
  for (const Fault& fault : faults) {
    FaultyServer server(fault.handler, false);
    check_harmless(fault.name, server.url("redis"));
  }
}

TEST_CASE("a server that works again is asked again, without a wait") {
  std::atomic<bool> works = false;
  const std::string sound = encoded(7);
  FaultyServer server([&](FaultyServer& self, int socket, const HttpRequest&) {
    return works ? self.answer(socket, "200 OK", sound) : self.answer(socket, "500 Oops");
  });
  Client client(server.url(), RemoteRole::read_only);
  client.settings.root.clear();
  CHECK(!client.get(sample_key(7)));
  CHECK(client.stats().remote_off == 1);
  works = true;
  CHECK(client.wait_for([&] { return client.get(sample_key(7)).has_value(); }));
  CHECK(client.stats().remote_off == 0);
  CHECK(client.stats().remote_hits == 1);
}

TEST_CASE("a slow server is not asked for every kernel") {
  const std::string sound = encoded(7), answer = "$" + std::to_string(sound.size()) + "\r\n" + sound + "\r\n";
  FaultyServer server([&](FaultyServer& self, int socket,
                          const HttpRequest&) { return self.pause(2'100) && self.send(socket, answer); },
                      false);
  Client client(server.url("redis"), RemoteRole::read_only);  // HTTP is given up after a third of the wait
  client.settings.root.clear();
  client.settings.remote.wait = milliseconds(4'000);
  CHECK(client.get(sample_key(7)));
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 100; ++i) CHECK(!client.get(sample_key(7)));
  CHECK(std::chrono::steady_clock::now() - start < milliseconds(10'000));
}

TEST_CASE("a message has neither password nor token, nor what a terminal would obey") {
  FaultyServer server(
      [](FaultyServer& self, int socket, const HttpRequest&) { return self.answer(socket, "500 \x1b[2J"); });
  Client client("http://alice:s3cret@127.0.0.1:" + std::to_string(server.port()) + "/store?key=hidden");
  client.settings.remote.address.token = "t0ken";
  CHECK(!client.get(sample_key(1)));
  REQUIRE(client.warnings.size() == 1);
  for (const char* secret : {"s3cret", "t0ken", "hidden", "alice", "\x1b"})
    CHECK(client.warnings[0].find(secret) == std::string::npos);
  CHECK(client.warnings[0].find("http://127.0.0.1") != std::string::npos);
}

}  // namespace tma_jit
