// The engines against servers that exist: nginx, Redis and an S3 server, each started here if it is installed.
#include <sys/stat.h>

#include <doctest/doctest.h>

#include <tma_jit/remote.h>

#include "base/patience.h"
#include "cache/remote_client.h"
#include "remote/client.h"
#include "remote/programs.h"

namespace tma_jit {

using namespace testing;
using cache::noise_entry;
using cache::same;
using cache::sample_entry;
using cache::sample_key;

namespace {

constexpr double kHitMaxMs = 3;

// What one machine builds another one takes: from the server once, then from its own folder.
void check_shared(const std::string& url, const cache::RemoteSettings& access = {}) {
  const auto with_access = [&](Client& client) {
    cache::RemoteSettings settings = access;
    settings.address.url = url;
    settings.wait = kPatience;
    settings.system_keys = client.path() / "no-keys";
    client.settings.remote = settings;
  };
  Client builder(url);
  with_access(builder);
  CHECK(!builder.get(sample_key(1)));
  for (unsigned i = 1; i < 5; ++i) builder.put(sample_key(i), noise_entry(i, 1000 * i));
  builder.put(sample_key(5), noise_entry(5, 3'000'000));
  builder.end();
  CHECK(builder.warnings.empty());

  Client user(url);
  with_access(user);
  for (unsigned i = 1; i < 6; ++i) {
    const auto found = user.get(sample_key(i));
    REQUIRE(found);
    CHECK(same(*found, noise_entry(i, i == 5 ? 3'000'000 : 1000 * i)));
  }
  CHECK(!user.get(sample_key(6)));
  CHECK(user.stats().remote_hits == 5);
  CHECK(user.stats().remote_misses == 1);
  CHECK(user.wait_for([&] { return user.layers().get(sample_key(5)).entry.has_value(); }));
  CHECK(user.warnings.empty());
}

// Returns the median time of a hit of 20 KB and more, in milliseconds.
double hit_ms(const std::string& url) {
  constexpr unsigned kHits = 101;
  Client builder(url), user(url);
  for (unsigned i = 0; i < kHits; ++i) builder.put(sample_key(100 + i), noise_entry(i, 20'000));
  builder.end();
  const auto first = std::chrono::steady_clock::now();
  (void)user.get(sample_key(99));
  MESSAGE(url, ": the first request takes ",
          std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - first).count(), " ms");
  std::vector<double> times;
  for (unsigned i = 0; i < kHits; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const bool hit = user.layers().turn(sample_key(100 + i)).found.has_value();
    times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    CHECK(hit);
  }
  std::sort(times.begin(), times.end());
  MESSAGE(url, ": a hit of 20 KB takes ", times[kHits / 2], " ms, the slowest ", times.back(), " ms");
  return times[kHits / 2];
}

// A machine with other work to do may need many tries.
void check_fast(const std::string& url) {
  double least = hit_ms(url);
  for (int i = 0; i < 30 && least >= kHitMaxMs; ++i) least = std::min(least, hit_ms(url));
  CHECK(least < kHitMaxMs);
}

void check_refused(const std::string& url, const cache::RemoteSettings& access = {}) {
  Client client(url);
  client.settings.remote = access;
  client.settings.remote.address.url = url;
  client.settings.remote.system_keys = client.path() / "no-keys";
  CHECK(!client.get(sample_key(1)));
  CHECK(client.stats().remote_errors == 1);
  CHECK(client.stats().remote_off == 1);
}

#define START(Type, name, ...)                      \
  Type name{__VA_ARGS__};                           \
  if (!name.server) {                               \
    MESSAGE("skipped: " #Type " is not installed"); \
    return;                                         \
  }                                                 \
  REQUIRE(name.server->runs())

}  // namespace

TEST_CASE("nginx as a server of files that takes PUT") {
  START(Nginx, nginx);
  check_shared(nginx.url());
  check_shared(nginx.url() + "/below/a/prefix/");
  check_fast(nginx.url());
  const RemoteOptions remote{.url = nginx.url()};
  const auto proof = remote_prove(remote);
  REQUIRE_MESSAGE(proof, proof.error().text());
  CHECK(proof->written);
}

TEST_CASE("a cache folder that nginx serves is a remote cache that can be read") {
  START(Nginx, nginx);
  const auto store = cache::Store::open(nginx.folder.path() / "files" / "kernels");
  REQUIRE(store);
  REQUIRE(store->put(sample_key(1), sample_entry(1)));
  Client user(nginx.url() + "/kernels", RemoteRole::read_only);
  CHECK(user.get(sample_key(1)));
}

TEST_CASE("a server without space, or that is only read, costs nothing and is told once") {
  START(Nginx, nginx, "    if ($request_method = PUT) { return 507; }\n");
  Client client(nginx.url());
  for (unsigned i = 0; i < 20; ++i) client.put(sample_key(i), sample_entry(i));
  CHECK(client.wait_for([&] { return client.stats().remote_upload_failures == 20; }));
  CHECK(client.stats().remote_off == 0);
  client.end();
  CHECK(client.warnings.size() == 1);
}

TEST_CASE("a name and password, and a token, in HTTP") {
  START(Nginx, nginx,
        "    if ($http_authorization !~ \"^(Basic YWxpY2U6cyUz|Bearer right)$\") { return 401; }\n");  // alice:s%3
  cache::RemoteSettings token, wrong;
  token.address.token = "right";
  wrong.address.token = "wrong";
  check_shared("http://alice:s%253@127.0.0.1:" + std::to_string(nginx.port) + "/named");
  check_shared(nginx.url() + "/token", token);
  check_refused(nginx.url(), wrong);
  check_refused("http://alice:bad@127.0.0.1:" + std::to_string(nginx.port));
}

TEST_CASE("TLS: a certificate that is trusted, one that is not, one that has expired, and one of the client's") {
  const TemporaryFolder keys;
  const std::string folder = keys.path();
  ::chmod(folder.c_str(), 0755);
  make_certificate(keys.path(), "good", -3600, 3600);
  make_certificate(keys.path(), "old", -7200, -3600);
  make_certificate(keys.path(), "client", -3600, 3600);
  const auto tls = [&](const std::string& name) {
    return "    ssl_certificate " + folder + "/" + name + ".pem;\n    ssl_certificate_key " + folder + "/" + name +
           ".key;\n";
  };
  cache::RemoteSettings access, expired, mutual;
  access.address.ca = folder + "/good.pem";
  expired.address.ca = folder + "/old.pem";
  mutual.address = access.address;
  mutual.address.certificate = folder + "/client.pem";
  mutual.address.certificate_key = folder + "/client.key";

  START(Nginx, nginx, tls("good"), " ssl");
  check_shared(nginx.url("https"), access);
  check_refused(nginx.url("https"));
  check_refused(nginx.url("http"));

  START(Nginx, old, tls("old"), " ssl");
  check_refused(old.url("https"), expired);

  START(Nginx, strict,
        tls("good") + "    ssl_verify_client on;\n    ssl_client_certificate " + folder + "/client.pem;\n", " ssl");
  check_shared(strict.url("https"), mutual);
  check_refused(strict.url("https"), access);
}

TEST_CASE("Redis: plain, with a password, with a database and an expiry") {
  START(RedisServer, open);
  check_shared(open.url());
  check_fast(open.url());
  const auto proof = remote_prove({.url = open.url() + "/2"});
  REQUIRE_MESSAGE(proof, proof.error().text());
  {
    Client builder(open.url() + "/3?ttl=4&prefix=short:");
    builder.put(sample_key(1), sample_entry(1));
    builder.end();
    Client user(open.url() + "/3?prefix=short:", RemoteRole::read_only);
    user.settings.root.clear();
    CHECK(user.get(sample_key(1)));
    CHECK(user.wait_for([&] { return !user.get(sample_key(1)); }));
    CHECK(user.stats().remote_errors == 0);
  }
  START(RedisServer, closed, {"--requirepass", "s3cret"});
  check_shared(closed.url(":s3cret@"));
  check_refused(closed.url());
  check_refused(closed.url(":wrong@"));
}

TEST_CASE("Redis over TLS") {
  const TemporaryFolder keys;
  make_certificate(keys.path(), "good", -3600, 3600);
  const std::string folder = keys.path();
  START(RedisServer, redis,
        {"--tls-port", "PORT", "--port", "0", "--tls-cert-file", folder + "/good.pem", "--tls-key-file",
         folder + "/good.key", "--tls-ca-cert-file", folder + "/good.pem", "--tls-auth-clients", "no"});
  cache::RemoteSettings access;
  access.address.ca = folder + "/good.pem";
  const std::string url = "rediss://127.0.0.1:" + std::to_string(redis.port);
  check_shared(url, access);
  check_refused(url);
}

TEST_CASE("Redis without memory refuses what is uploaded, and is still read") {
  START(RedisServer, redis, {"--maxmemory", "2mb", "--maxmemory-policy", "noeviction"});
  Client client(redis.url());
  client.put(sample_key(1), sample_entry(1));
  CHECK(client.wait_for([&] { return client.stats().remote_uploads == 1; }));
  for (unsigned i = 2; i < 10; ++i) client.put(sample_key(i), noise_entry(i, 1'000'000));
  CHECK(client.wait_for([&] { return client.stats().remote_upload_failures > 0; }));
  CHECK(client.stats().remote_off == 0);
  Client user(redis.url());
  CHECK(user.get(sample_key(1)));
}

TEST_CASE("Redis that restarts between two requests") {
  START(RedisServer, redis);
  Client user(redis.url());
  CHECK(!user.get(sample_key(1)));
  redis.server.reset();
  redis.server.emplace(std::vector<std::string>{program("redis-server"), "--bind", "127.0.0.1", "--save", "", "--dir",
                                                redis.folder.path(), "--port", std::to_string(redis.port)},
                       redis.folder.path(), redis.port);
  REQUIRE(redis.server->runs());
  CHECK(!user.get(sample_key(2)));
  CHECK(user.stats().remote_misses == 2);
}

TEST_CASE("an S3 bucket") {
  START(S3Server, s3);
  check_shared(s3.url());
  const auto proof = remote_prove({.url = s3.url()});
  REQUIRE_MESSAGE(proof, proof.error().text());
  check_fast(s3.url());
  check_refused(s3.url("another"));
  const auto keyless = remote_prove({.url = "s3://kernels?endpoint=http://127.0.0.1:1"});
  REQUIRE(!keyless);
  CHECK(keyless.error().message.find("AWS_ACCESS_KEY_ID") != std::string::npos);
}

}  // namespace tma_jit
