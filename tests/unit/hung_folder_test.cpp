// A cache folder whose file server stops answering: misses in bounded time, and hits again when it is back.
#include <atomic>
#include <chrono>
#include <deque>
#include <thread>

#include <sys/vfs.h>

#include <doctest/doctest.h>

#include "base/patience.h"
#include "cache/layers.h"
#include "support/cache_samples.h"
#include "support/temporary_folder.h"

namespace tma_jit::cache {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr long kNetwork = 0x6969;  // linux/magic.h: NFS

// A file server's client: no call on a path returns while the server is away.
class Client final : public FileSystem {
 public:
  int open(int folder, const char* path, int flags, mode_t mode) const override {
    while (away) std::this_thread::sleep_for(1ms);
    return FileSystem::open(folder, path, flags, mode);
  }
  int file_system(int file, struct statfs& status) const override {
    const int outcome = FileSystem::file_system(file, status);
    status.f_type = kNetwork;
    return outcome;
  }
  bool is_local(const std::filesystem::path&) const override { return false; }
  std::atomic<bool> away = false;
};

// Never destroyed: a thread that nobody waits for any more may still call it.
Client& kept_client() {
  static auto* const clients = new std::deque<Client>();
  return clients->emplace_back();
}

constexpr auto kPatience = 3s;  // which a call without a disk does not exceed

struct Machine {
  TemporaryFolder folder{memory_folder()};
  Client& client = kept_client();
  std::atomic<int> reports = 0;
  ~Machine() { client.away = false; }
  LayerSettings settings() {
    LayerSettings settings;
    settings.root = folder.path() / "cache";
    settings.node = folder.path() / "node";
    settings.store.files = &client;
    settings.patience = kPatience;
    settings.report = [this](const std::string&) { ++reports; };
    return settings;
  }
};

template <class Work> Clock::duration time_of(const Work& work) {
  const auto start = Clock::now();
  work();
  return Clock::now() - start;
}

}  // namespace

TEST_CASE("a cache folder that does not answer when it is opened is done without") {
  Machine machine;
  Layers layers(machine.settings());
  machine.client.away = true;
  CHECK(time_of([&] { CHECK_FALSE(layers.get(sample_key(1)).entry); }) < 10s);
  CHECK(machine.reports >= 1);
  CHECK(time_of([&] { CHECK_FALSE(layers.get(sample_key(1)).entry); }) < kPatience);  // without another wait
}

TEST_CASE("a cache folder that stops answering costs one wait, and is used again when it answers") {
  Machine machine;
  Layers layers(machine.settings());
  Turn turn = layers.turn(sample_key(1));
  REQUIRE(layers.put(sample_key(1), sample_entry(1), turn));
  REQUIRE(layers.get(sample_key(1)).entry);
  machine.client.away = true;
  const auto first = time_of([&] {
    const Lookup found = layers.get(sample_key(1));
    CHECK_FALSE(found.entry);
    CHECK(found.reason == MissReason::io);
    CHECK(found.detail.find("did not answer within 3 s") != std::string::npos);
  });
  CHECK(first >= kPatience);
  CHECK(first < 10s);
  const auto second = time_of([&] {
    CHECK_FALSE(layers.get(sample_key(1)).entry);
    CHECK_FALSE(layers.put(sample_key(2), sample_entry(2), turn));
    layers.record_compiler("nvrtc 13.0");
    CHECK(layers.compilers().empty());
  });
  CHECK(second < kPatience);  // without another wait
  machine.client.away = false;
  for (int i = 0; i < 5000 && !layers.get(sample_key(1)).entry; ++i) std::this_thread::sleep_for(1ms);
  CHECK(layers.get(sample_key(1)).entry);
}

TEST_CASE("what is waited for with patience gives its value or its exception") {
  const Patience patience(10s);
  CHECK(patience.within([] { return 7; }).value() == 7);
  CHECK_THROWS_AS((void)patience.within([]() -> int { throw std::bad_alloc(); }), std::bad_alloc);
}

}  // namespace tma_jit::cache
