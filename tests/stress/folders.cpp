// Whole folders at random: harm of every kind to a cache folder and what is read beside it, with the library and its
// tools at work before, after and meanwhile. Each round is a process of its own and a seed that repeats it.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <functional>
#include <new>
#include <thread>
#include <type_traits>

#include <tma_jit/cache.h>

#include "folder_mess.h"
#include "scenario.h"
#include "support/cache_samples.h"
#include "support/temporary_folder.h"
#include "workload.h"

namespace tma_jit::stress {
namespace {

using std::chrono::milliseconds;

constexpr Work kWork{.compile_us = 0, .bytes = 700, .noise = true};
constexpr milliseconds kLongest{5'000};  // of one call, on a machine that does other things too
constexpr std::chrono::seconds kRoundMax{60};
constexpr unsigned kSteps = 30;
constexpr int kCanaryDied = 3, kTooSlow = 4;

struct Tally {
  Counts counts;
  std::atomic<std::uint64_t> steps, harms, kept, lost, longest_us;
};

cache::LayerSettings any_settings(const Mess& mess, Random& random, Counts& counts) {
  cache::LayerSettings settings = settings_for(mess.root, counts);
  settings.read_only = {mess.pack, mess.read_only};
  settings.pack_keys = {mess.keys};
  settings.wait = milliseconds(20);
  settings.store.sweep_every = 1;
  settings.store.shared = below(random, 4) == 0;
  if (below(random, 3) == 0) settings.store.limits.entries = kMessKeys / 2;
  if (below(random, 4) == 0) settings.store.limits.youngest_s = 0;
  if (below(random, 4) == 0) settings.node = mess.parent / "node";
  return settings;
}

// A kernel that was put and is not found by the same process is one that others would compile again and again.
void put_and_find(const Mess& mess, Random& random, Tally& tally) {
  cache::LayerSettings settings = any_settings(mess, random, tally.counts);
  settings.store.limits = {};  // nothing goes that was just put
  cache::Layers layers(settings);
  const auto number = static_cast<unsigned>(below(random, kMessKeys));
  cache::Turn turn;
  if (!layers.put(cache::sample_key(number), expected_entry(number, kWork), turn)) return;
  const cache::Lookup found = layers.get(cache::sample_key(number));
  if (found.entry && !cache::same(*found.entry, expected_entry(number, kWork))) ++tally.counts.wrong;
  ++(found.entry ? tally.kept : tally.lost);
}

void ask_nearest(const Mess& mess, Random& random, Counts& counts) {
  cache::Layers layers(any_settings(mess, random, counts));
  const auto marks = [](std::string_view metadata) { return cache::Marks::of(metadata.substr(0, 6)); };
  const auto until = Clock::now() + milliseconds(below(random, 3));
  (void)layers.nearest({cache::Marks::of("sample"), marks, until});
  (void)layers.compilers();
  layers.record_compiler("nvrtc 13.0 abc");
  layers.add_to_index(cache::sample_key(1), cache::Marks::of("sample"));
}

void use_tools(const Mess& mess, Random& random) {
  const auto& root = below(random, 4) == 0 ? mess.read_only : mess.root;
  switch (below(random, 8)) {
    case 0: (void)cache_stat(root); break;
    case 1: (void)cache_verify(below(random, 2) == 0 ? root : mess.pack); break;
    case 2: (void)cache_trim(root, below(random, 20'000), below(random, kMessKeys)); break;
    case 3: (void)cache_clear(root); break;
    case 4: (void)cache_pack(root, mess.parent / "made.tmjpack"); break;
    case 5: (void)cache_unpack(mess.pack, root, {mess.keys}, below(random, 2) == 0); break;
    case 6: (void)cache_read(below(random, 2) == 0 ? root : mess.pack, "7"); break;
    default: (void)cache_trim(root, std::uint64_t{1} << 40, kMessKeys / 2);
  }
}

void use(const Mess& mess, Random& random, bool alone, Tally& tally) {
  switch (below(random, 6)) {
    case 0: return use_tools(mess, random);
    case 1: return ask_nearest(mess, random, tally.counts);
    case 2:
      if (alone) return put_and_find(mess, random, tally);
      [[fallthrough]];
    default: {
      cache::Layers layers(any_settings(mess, random, tally.counts));
      for (unsigned i = 0; i < 3; ++i)
        obtain(layers, static_cast<unsigned>(below(random, kMessKeys)), kWork, tally.counts);
    }
  }
}

// Nothing of it may take long, whatever lies there.
bool timed(const std::function<void()>& act, Tally& tally) {
  const auto start = Clock::now();
  act();
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start);
  std::uint64_t longest = tally.longest_us;
  const auto us = static_cast<std::uint64_t>(took.count());
  while (us > longest && !tally.longest_us.compare_exchange_weak(longest, us)) {
  }
  ++tally.steps;
  return took <= kLongest;
}

int run_round(const Mess& mess, std::uint64_t seed, Tally& tally) {
  Random random(seed);
  mess.prepare(random);
  const std::uint64_t canary = mess.canary_state();
  const bool alone = seed % 4 != 0;
  const pid_t other = alone ? 0 : ::fork();
  if (!alone && other == 0) {
    Random others(~seed);
    for (;;) (void)mess.harm(others);
  }
  bool quick = true;
  for (unsigned step = 0; step < kSteps && quick; ++step) {
    if (alone && below(random, 2) == 0) {
      (void)mess.harm(random);
      ++tally.harms;
    }
    quick = timed([&] { use(mess, random, alone, tally); }, tally);
  }
  if (!alone) {
    ::kill(other, SIGKILL);
    ::waitpid(other, nullptr, 0);
  }
  if (mess.canary_state() != canary) return kCanaryDied;
  return quick ? 0 : kTooSlow;
}

// In a process and process group of its own, which is ended where it hangs.
std::string outcome_of(std::uint64_t seed, Tally& tally) {
  const TemporaryFolder folder(memory_folder());
  const pid_t child = ::fork();
  if (child == 0) {
    ::setpgid(0, 0);
    ::_exit(run_round(Mess{folder.path()}, seed, tally));
  }
  const auto end = Clock::now() + kRoundMax;
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (Clock::now() >= end) {
      ::kill(-child, SIGKILL);
      ::waitpid(child, &status, 0);
      return "it hung";
    }
    std::this_thread::sleep_for(milliseconds(2));
  }
  ::kill(-child, SIGKILL);
  if (WIFSIGNALED(status)) return fmt::format("it crashed with signal {}", WTERMSIG(status));
  if (WEXITSTATUS(status) == kCanaryDied) return "a file outside the folder was changed";
  if (WEXITSTATUS(status) == kTooSlow) return "a call took longer than it may";
  return WEXITSTATUS(status) == 0 ? "" : fmt::format("it ended with {}", WEXITSTATUS(status));
}

Tally& shared_tally() {
  static_assert(std::is_trivially_destructible_v<Tally>);
  void* memory = shared_memory(sizeof(Tally));
  return *new (memory) Tally{};
}

}  // namespace

void folders(const Budget& budget, Report& report) {
  Tally& tally = shared_tally();
  const double seconds = budget.seconds > 0 ? budget.seconds : budget.pick(10, 3'600);
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  std::uint64_t rounds = 0;
  for (std::uint64_t seed = budget.seed; Clock::now() < end; ++seed, ++rounds) {
    const std::uint64_t wrong = tally.counts.wrong, lost = tally.lost;
    const std::string fault = outcome_of(seed, tally);
    report.expect(fault.empty(), fmt::format("--seed {}: {}", seed, fault));
    report.expect(tally.counts.wrong == wrong, fmt::format("--seed {}: a wrong kernel", seed));
    report.expect(tally.lost == lost, fmt::format("--seed {}: what was put is not found", seed));
  }
  report.row("{} rounds from seed {}: {} harms, {} uses, {} hits, {} compiles, {} wrong, the longest use {} ms", rounds,
             budget.seed, tally.harms.load(), tally.steps.load(), tally.counts.hits.load(), tally.counts.total(),
             tally.counts.wrong.load(), tally.longest_us.load() / 1000);
  report.expect(tally.counts.hits > 0 && tally.kept > 0, "nothing was found, so nothing was tested");
}

}  // namespace tma_jit::stress
