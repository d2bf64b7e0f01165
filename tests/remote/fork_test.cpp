// A fork while threads are inside the engines' libraries: the child has a cache of its own that works.
#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include "remote/client.h"
#include "remote/faulty_server.h"
#include "remote/programs.h"

namespace tma_jit {

using namespace testing;
using cache::sample_entry;
using cache::sample_key;

namespace {

constexpr int kForks = 100;

// Returns whether the child gets the entry in time.
bool child_gets(const cache::LayerSettings& given) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(2 * kPatience.count());
    cache::LayerSettings settings = given;
    settings.root.clear();
    settings.warn = [](const std::string&) {};
    bool found = false;
    {
      cache::Layers layers(settings);
      found = layers.turn(sample_key(1)).found.has_value();
    }
    ::_exit(found ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void check_forks(const std::string& url, const std::filesystem::path& ca = {}) {
  Client parent(url);
  parent.settings.root.clear();
  parent.settings.remote.address.ca = ca;
  Client builder(url);
  builder.settings.remote.address.ca = ca;
  builder.put(sample_key(1), sample_entry(1));
  builder.end();
  std::atomic<bool> ended = false;
  std::atomic<int> gets = 0;
  (void)parent.layers();
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!ended) {
        parent.layers().turn(sample_key(1));
        ++gets;
      }
    });
  }
  int worked = 0;
  for (int i = 0; i < kForks; ++i) worked += child_gets(parent.settings) ? 1 : 0;
  ended = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(worked == kForks);
  CHECK(gets > 0);
  CHECK(parent.stats().remote_errors == 0);
}

}  // namespace

TEST_CASE("a child forked while threads ask a server over HTTP") {
  const Nginx nginx;
  if (!nginx.server) {
    MESSAGE("skipped: nginx is not installed");
    return;
  }
  check_forks(nginx.url());
}

TEST_CASE("a child forked while threads ask a server over TLS") {
  const TemporaryFolder keys;
  make_certificate(keys.path(), "good", -3600, 3600);
  const std::string folder = keys.path();
  const RedisServer redis({"--tls-port", "PORT", "--port", "0", "--tls-cert-file", folder + "/good.pem",
                           "--tls-key-file", folder + "/good.key", "--tls-ca-cert-file", folder + "/good.pem",
                           "--tls-auth-clients", "no"});
  if (!redis.server) {
    MESSAGE("skipped: redis-server is not installed");
    return;
  }
  check_forks("rediss://127.0.0.1:" + std::to_string(redis.port), folder + "/good.pem");
}

}  // namespace tma_jit
