#include "workload.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <new>
#include <thread>

#include "support/cache_samples.h"

namespace tma_jit::stress {

std::uint64_t Counts::total() const {
  std::uint64_t sum = 0;
  for (const auto& count : compiles) sum += count;
  return sum;
}

unsigned Counts::not_once(unsigned keys) const {
  return static_cast<unsigned>(std::count_if(compiles, compiles + keys, [](const auto& count) { return count != 1; }));
}

void* shared_memory(std::size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return memory;
}

Counts& shared_counts() {
  return *new (shared_memory(sizeof(Counts))) Counts{};
}

cache::Entry expected_entry(unsigned number, const Work& work) {
  return work.noise ? cache::noise_entry(number, work.bytes) : cache::sample_entry(number, work.bytes);
}

void obtain(cache::Layers& layers, unsigned number, const Work& work, Counts& counts) {
  const Key key = cache::sample_key(number);
  const auto check = [&](const cache::Entry& entry) {
    ++counts.hits;
    if (!cache::same(entry, expected_entry(number, work))) ++counts.wrong;
  };
  const cache::Lookup kept = layers.get(key);
  if (kept.entry) return check(*kept.entry);
  if (kept.reason != cache::MissReason::absent) ++counts.unsound;
  const auto start = Clock::now();
  cache::Turn turn = layers.turn(key);
  const auto waited = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start).count();
  std::uint64_t longest = counts.longest_wait_us;
  while (static_cast<std::uint64_t>(waited) > longest &&
         !counts.longest_wait_us.compare_exchange_weak(longest, static_cast<std::uint64_t>(waited))) {
  }
  if (turn.found) return check(*turn.found);
  ++counts.compiles[number];
  std::this_thread::sleep_for(std::chrono::microseconds(work.compile_us));
  if (!layers.put(key, expected_entry(number, work), turn)) ++counts.put_failures;
}

cache::LayerSettings settings_for(const std::filesystem::path& root, Counts& counts) {
  cache::LayerSettings settings;
  settings.root = root;
  settings.report = [&counts](const std::string&) { ++counts.reports; };
  return settings;
}

unsigned run_together(unsigned processes, Counts& counts, const std::function<void(unsigned process)>& body) {
  counts.waiting = 0;
  counts.go = 0;
  std::vector<pid_t> children;
  for (unsigned process = 0; process < processes; ++process) {
    const pid_t child = ::fork();
    if (child != 0) {
      children.push_back(child);
      continue;
    }
    ++counts.waiting;
    while (counts.go == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
    body(process);
    ::_exit(0);
  }
  while (counts.waiting < processes) std::this_thread::sleep_for(std::chrono::microseconds(200));
  counts.go = 1;
  unsigned bad = 0;
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    if (status != 0) ++bad;
  }
  return bad;
}

int in_child(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int as_user(uid_t user, const std::function<int()>& body) {
  constexpr int kRefused = 99;
  const int status = in_child([&] {
    if (::setgid(user) != 0 || ::setuid(user) != 0) return kRefused;
    return body();
  });
  return status == kRefused ? -2 : status;
}

}  // namespace tma_jit::stress
