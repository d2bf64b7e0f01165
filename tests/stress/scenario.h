// A stress test: a promise of the cache put under load. Each prints the figures it stands on, and passes, fails or says
// why it cannot run here.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace tma_jit::stress {

struct Budget {
  bool full = false;       // the numbers of docs/caching.md instead of the suite's shorter ones
  double seconds = 0;      // of scenarios that go on for a time; 0: their own
  std::uint64_t seed = 1;  // of scenarios at random
  unsigned pick(unsigned in_suite, unsigned in_full) const { return full ? in_full : in_suite; }
};

// What a scenario found wrong, and what it did.
class Report {
 public:
  template <class... Args> void row(fmt::format_string<Args...> format, Args&&... args) {
    fmt::print("  {}\n", fmt::format(format, std::forward<Args>(args)...));
    std::fflush(stdout);
  }
  void expect(bool holds, const std::string& what) {
    if (holds) return;
    row("FAILED: {}", what);
    ++failures_;
  }
  void equal(std::uint64_t actual, std::uint64_t wanted, const std::string& what) {
    expect(actual == wanted, fmt::format("{}: {}, must be {}", what, actual, wanted));
  }
  void skip(const std::string& why) {
    row("skipped: {}", why);
    ++skipped_;
  }
  unsigned failures() const { return failures_; }
  unsigned skipped() const { return skipped_; }

 private:
  unsigned failures_ = 0, skipped_ = 0;
};

struct Scenario {
  const char* name;
  const char* promise;
  void (*run)(const Budget&, Report&);
};
const std::vector<Scenario>& scenarios();

void cold(const Budget& budget, Report& report);
void kill(const Budget& budget, Report& report);
void rot(const Budget& budget, Report& report);
void faults(const Budget& budget, Report& report);
void kill_points(const Budget& budget, Report& report);
void full_disk(const Budget& budget, Report& report);
void hostile(const Budget& budget, Report& report);
void network(const Budget& budget, Report& report);
void power(const Budget& budget, Report& report);
void eviction(const Budget& budget, Report& report);
void folders(const Budget& budget, Report& report);
void cost(const Budget& budget, Report& report);
void forks(const Budget& budget, Report& report);
void nfs(const Budget& budget, Report& report);
void quota(const Budget& budget, Report& report);

}  // namespace tma_jit::stress
