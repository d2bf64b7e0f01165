// What the engines say on the wire, to servers of this process that are as strict as the real ones.
#include <doctest/doctest.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <map>
#include <sstream>

#include <tma_jit/c_remote.h>
#include <tma_jit/remote.h>

#include "base/digest.h"
#include "remote/action_result.h"
#include "remote/client.h"
#include "remote/faulty_server.h"

namespace tma_jit {

using namespace testing;
using cache::same;
using cache::sample_entry;
using cache::sample_key;

namespace {

std::string sha256_of(std::string_view text) {
  return to_hex(sha256(text.data(), text.size()));
}

std::string hmac(std::string_view key, std::string_view text) {
  unsigned char made[32];
  unsigned size = sizeof made;
  ::HMAC(::EVP_sha256(), key.data(), static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(text.data()),
         text.size(), made, &size);
  return {reinterpret_cast<const char*>(made), size};
}

std::string between(const std::string& text, const std::string& before, char after) {
  const std::size_t at = text.find(before);
  if (at == std::string::npos) return {};
  const std::size_t start = at + before.size();
  return text.substr(start, text.find(after, start) - start);
}

// AWS Signature 4 of a request, computed from its description (docs.aws.amazon.com, "Signature Version 4 signing
// process"). Every x-amz- header and the host must be among the signed ones, and every signed one must be sent.
bool is_signed_for_s3(const HttpRequest& request, const std::string& secret) {
  const auto header = [&](const std::string& name) {
    const auto found = request.headers.find(name);
    return found == request.headers.end() ? std::string() : found->second;
  };
  const std::string authorization = header("authorization") + ",";
  const std::string names = between(authorization, "SignedHeaders=", ',');
  const std::string scope_and_key = between(authorization, "Credential=", ',');
  const std::string scope = scope_and_key.substr(scope_and_key.find('/') + 1);
  if (header("x-amz-content-sha256") != sha256_of(request.body)) return false;
  std::string canonical = request.method + "\n" + request.target + "\n\n", name;
  std::istringstream list(names);
  std::vector<std::string> listed;
  while (std::getline(list, name, ';')) {
    if (!request.headers.contains(name)) return false;
    canonical += name + ":" + header(name) + "\n";
    listed.push_back(name);
  }
  for (const auto& [given, value] : request.headers) {
    if ((given.starts_with("x-amz-") || given == "host") &&
        std::find(listed.begin(), listed.end(), given) == listed.end())
      return false;
  }
  canonical += "\n" + names + "\n" + header("x-amz-content-sha256");
  const std::string to_sign = "AWS4-HMAC-SHA256\n" + header("x-amz-date") + "\n" + scope + "\n" + sha256_of(canonical);
  std::string key = "AWS4" + secret, part;
  std::istringstream parts(scope);
  while (std::getline(parts, part, '/')) key = hmac(key, part);
  const std::string made = hmac(key, to_sign);
  return between(authorization, "Signature=", ',') ==
         to_hex({reinterpret_cast<const std::uint8_t*>(made.data()), made.size()});
}

// Keeps what is put, below what `accepts` a request.
class Shelf {
 public:
  explicit Shelf(std::function<bool(const HttpRequest&)> accepts)
      : server([this, accepts = std::move(accepts)](FaultyServer& self, int socket, const HttpRequest& request) {
          if (!accepts(request)) return self.answer(socket, "403 Forbidden");
          const std::lock_guard lock(mutex);
          if (request.method == "PUT") {
            kept[request.target] = request.body;
            return self.answer(socket, "200 OK");
          }
          const auto found = kept.find(request.target);
          if (found == kept.end()) return self.answer(socket, "404 Not Found");
          if (request.method == "HEAD")
            return self.send(socket,
                             "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(found->second.size()) + "\r\n\r\n");
          return self.answer(socket, "200 OK", found->second);
        }) {}

  std::mutex mutex;
  std::map<std::string, std::string> kept;
  FaultyServer server;
};

// Puts through one cache and gets through another.
void check_round_trip(const std::string& url, const cache::RemoteAddress& access = {}) {
  const auto with_access = [&](Client& client) {
    const std::string own = client.settings.remote.address.url;
    client.settings.remote.address = access;
    client.settings.remote.address.url = own;
  };
  Client builder(url), user(url);
  with_access(builder);
  with_access(user);
  builder.put(sample_key(1), sample_entry(1));
  builder.put(sample_key(2), sample_entry(2, 300'000));
  builder.end();
  CHECK(builder.warnings.empty());
  const auto small = user.get(sample_key(1)), large = user.get(sample_key(2));
  REQUIRE(small);
  REQUIRE(large);
  CHECK(same(*small, sample_entry(1)));
  CHECK(same(*large, sample_entry(2, 300'000)));
  CHECK(!user.get(sample_key(3)));
  CHECK(user.stats().remote_misses == 1);
  CHECK(user.warnings.empty());
}

}  // namespace

TEST_CASE("requests to S3 are signed with every header that must be") {
  std::atomic<int> wrong = 0;
  Shelf shelf([&](const HttpRequest& request) {
    const bool good = is_signed_for_s3(request, "s3cret/with+signs");
    wrong += good ? 0 : 1;
    return good && request.headers.at("authorization").find("/eu-west-1/s3/aws4_request") != std::string::npos;
  });
  cache::RemoteAddress access;
  access.user = "AKID";
  access.password = "s3cret/with+signs";
  const std::string url = "s3://bucket/some/prefix?region=eu-west-1&endpoint=" + shelf.server.url();
  check_round_trip(url, access);
  CHECK(wrong == 0);
  CHECK(shelf.kept.contains("/bucket/some/prefix/v1/" + to_hex(sample_key(1).bytes).insert(2, "/")));
  access.token = "session";
  check_round_trip(url + "&x=2", access);
  CHECK(wrong == 0);
  access.password = "other";
  Client stranger(url);
  stranger.settings.remote.address.user = "AKID";
  stranger.settings.remote.address.password = "other";
  CHECK(!stranger.get(sample_key(1)));
  CHECK(stranger.stats().remote_errors == 1);
}

TEST_CASE("Bazel's protocol: content by its digest first, then an ActionResult that names it") {
  std::atomic<int> wrong = 0;
  Shelf* all = nullptr;
  Shelf shelf([&](const HttpRequest& request) {
    const std::string& target = request.target;
    bool good = target.size() == (target.starts_with("/cache/ac/") ? 10 : 11) + 64;
    if (request.method == "PUT" && target.starts_with("/cache/cas/"))
      good = good && target.substr(11) == sha256_of(request.body);
    if (request.method == "PUT" && target.starts_with("/cache/ac/")) {
      const auto blob = remote::output_of(std::as_bytes(std::span(request.body)));
      const std::lock_guard lock(all->mutex);
      good = good && blob && all->kept.contains("/cache/cas/" + blob->sha256) &&
             all->kept["/cache/cas/" + blob->sha256].size() == blob->bytes;
    }
    wrong += good ? 0 : 1;
    return good;
  });
  all = &shelf;
  check_round_trip(shelf.server.url("bazel+http") + "/cache");
  CHECK(wrong == 0);
  CHECK(shelf.kept.size() == 4);
  // An action whose content was evicted, and one that names other content.
  for (auto& [target, body] : shelf.kept) {
    if (target.starts_with("/cache/cas/")) body = "other content";
  }
  Client user(shelf.server.url("bazel+http") + "/cache");
  CHECK(!user.get(sample_key(1)));
  CHECK(user.stats().remote_refused == 1);
  std::erase_if(shelf.kept, [](const auto& one) { return one.first.starts_with("/cache/cas/"); });
  CHECK(!user.get(sample_key(2)));
  CHECK(user.stats().remote_misses == 1);
}

TEST_CASE("roles: who only reads uploads nothing, who only writes asks nothing") {
  std::atomic<int> gets = 0, puts = 0;
  Shelf shelf([&](const HttpRequest& request) {
    ++(request.method == "PUT" ? puts : gets);
    return true;
  });
  {
    Client reader(shelf.server.url(), RemoteRole::read_only);
    CHECK(!reader.get(sample_key(1)));
    reader.put(sample_key(1), sample_entry(1));
    Client writer(shelf.server.url(), RemoteRole::write_only);
    CHECK(!writer.get(sample_key(2)));
    writer.put(sample_key(2), sample_entry(2));
  }
  CHECK(gets == 1);
  CHECK(puts == 1);
}

TEST_CASE("an engine of the application's own") {
  static std::map<std::string, std::string> kept;
  static std::mutex mutex;
  tma_jit_remote_engine engine{};
  CHECK(tma_jit_register_remote("memory", &engine) != 0);
  engine.size = sizeof engine;
  engine.open = [](const tma_jit_remote_settings*, tma_jit_remote_message) -> void* { return &kept; };
  engine.close = [](void*) {};
  engine.get = [](void*, const char* key, tma_jit_remote_receiver receive, void* receiver,
                  tma_jit_remote_message) -> tma_jit_remote_status {
    const std::lock_guard lock(mutex);
    const auto found = kept.find(key);
    if (found == kept.end()) return TMA_JIT_REMOTE_ABSENT;
    return receive(receiver, found->second.data(), found->second.size()) != 0 ? TMA_JIT_REMOTE_OK
                                                                              : TMA_JIT_REMOTE_FAILED;
  };
  engine.put = [](void*, const char* key, const void* bytes, std::size_t count,
                  tma_jit_remote_message) -> tma_jit_remote_status {
    const std::lock_guard lock(mutex);
    kept[key] = std::string(static_cast<const char*>(bytes), count);
    return TMA_JIT_REMOTE_OK;
  };
  engine.exists = [](void*, const char* key, tma_jit_remote_message) -> tma_jit_remote_status {
    const std::lock_guard lock(mutex);
    return kept.contains(key) ? TMA_JIT_REMOTE_OK : TMA_JIT_REMOTE_ABSENT;
  };
  engine.health = [](void*, tma_jit_remote_message) -> tma_jit_remote_status { return TMA_JIT_REMOTE_OK; };
  REQUIRE(tma_jit_register_remote("memory", &engine) == 0);
  check_round_trip("memory://anything");
  CHECK(kept.size() == 2);
}

TEST_CASE("the catalogue lists only what the server took, so that a pull of the rest succeeds") {
  const std::string refused = to_hex(sample_key(1).bytes).substr(2);
  Shelf shelf([refused](const HttpRequest& request) {
    return request.method != "PUT" || request.target.find(refused) == std::string::npos;
  });
  const TemporaryFolder folder;
  const auto store = cache::Store::open(folder.path() / "builder");
  REQUIRE(store);
  for (unsigned i = 0; i < 3; ++i) REQUIRE(store->put(sample_key(i), sample_entry(i)));
  RemoteOptions remote;
  remote.url = shelf.server.url();
  const auto pushed = cache_push(folder.path() / "builder", remote);
  REQUIRE(pushed);
  CHECK(pushed->moved == 2);
  CHECK(pushed->failed == 1);
  const auto pulled = cache_pull(folder.path() / "node", remote);
  REQUIRE(pulled);
  CHECK(pulled->entries == 2);
  CHECK(pulled->moved == 2);
  CHECK_MESSAGE(pulled->failed == 0, pulled->fault);
}

TEST_CASE("tools take the answers of a server that thinks for more than a second") {
  FaultyServer server([](FaultyServer& self, int socket, const HttpRequest&) {
    return self.pause(1'600) && self.answer(socket, "404 Not Found");
  });
  RemoteOptions remote;
  remote.url = server.url();
  const auto stat = remote_stat(remote);
  REQUIRE_MESSAGE(stat, stat.error().message);
  CHECK(stat->entries == 0);
  CHECK(stat->health_ms > 1'500);
}

TEST_CASE("a push to a server that no longer answers ends without a wait for each entry") {
  constexpr unsigned kEntries = 200;
  FaultyServer server([](FaultyServer& self, int socket, const HttpRequest& request) {
    if (request.target.ends_with("/v1/")) return self.answer(socket, "404 Not Found");
    return self.pause(950) && self.answer(socket, "500 Internal Server Error");
  });
  const TemporaryFolder folder;
  const auto store = cache::Store::open(folder.path());
  REQUIRE(store);
  for (unsigned i = 0; i < kEntries; ++i) REQUIRE(store->put(sample_key(i), sample_entry(i)));
  RemoteOptions remote;
  remote.url = server.url();
  const auto start = std::chrono::steady_clock::now();
  const auto pushed = cache_push(folder.path(), remote);
  REQUIRE(pushed);
  CHECK(pushed->moved == 0);
  CHECK(pushed->failed == kEntries);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(15));
}

TEST_CASE("what is not signed as the rule demands is refused, and what is signed is taken") {
  Shelf shelf([](const HttpRequest&) { return true; });
  const TemporaryFolder keys;
  REQUIRE(cache::make_keys(keys.path() / "mine.key", keys.path() / "mine.pub"));
  Client builder(shelf.server.url()), stranger(shelf.server.url()), user(shelf.server.url());
  builder.settings.remote.sign_key = keys.path() / "mine.key";
  user.settings.remote.keys = {keys.path() / "mine.pub"};
  builder.put(sample_key(1), sample_entry(1));
  builder.end();
  stranger.put(sample_key(2), sample_entry(2));
  stranger.end();
  CHECK(user.get(sample_key(1)));
  CHECK(!user.get(sample_key(2)));
  CHECK(user.stats().remote_refused == 1);
  REQUIRE(user.warnings.size() == 1);
  CHECK(user.warnings[0].find("not signed") != std::string::npos);

  Client unruly(shelf.server.url());
  unruly.settings.remote.keys = {keys.path() / "missing.pub"};
  CHECK(!unruly.get(sample_key(1)));
  CHECK(unruly.warnings.size() == 1);
}

TEST_CASE("a scheme without an engine, and a missing library, are one warning") {
  for (const bool missing : {false, true}) {
    Client client(missing ? "http://localhost" : "gopher://localhost");
    if (missing) client.settings.remote.address.library = "/none/libtma_jit_remote.so";
    for (unsigned i = 0; i < 3; ++i) CHECK(!client.get(sample_key(i)));
    client.put(sample_key(1), sample_entry(1));
    CHECK(client.get(sample_key(1)));
    CHECK(client.stats().remote_off == 1);
    client.end();
    REQUIRE(client.warnings.size() == 1);
    CHECK(client.warnings[0].find(missing ? "TMA_JIT_BUILD_REMOTE" : "gopher") != std::string::npos);
  }
}

}  // namespace tma_jit
