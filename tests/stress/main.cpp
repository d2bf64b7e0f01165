// test_stress: the cache's promises under load. See scenario.h.
//
//   test_stress [--full] [--seconds N] [--seed N] [SCENARIO...]
//
// Exit 0: all held; 1: one did not; 2: usage; 77: nothing could run here.
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "scenario.h"

namespace tma_jit::stress {

const std::vector<Scenario>& scenarios() {
  static const std::vector<Scenario> all = {
      {"cold", "processes that start together on an empty cache compile each kernel once", cold},
      {"kill", "processes killed at any moment leave no damage, and nobody waits for the dead", kill},
      {"kill_points", "a process killed after any system call leaves no damage", kill_points},
      {"rot", "damaged entries are compiled anew and replaced", rot},
      {"faults", "whatever system call fails, the result is right", faults},
      {"full_disk", "full, inodeless and read-only disks cost the cache only", full_disk},
      {"hostile", "nothing that another user planted is loaded", hostile},
      {"network", "a network file system's late and stale answers cost no error and one compile a node", network},
      {"power", "after a power cut an entry is whole or absent", power},
      {"eviction", "a folder beyond its limit shrinks beside its readers", eviction},
      {"folders", "whatever lies in a folder, kernels are right, nothing crashes and nobody waits", folders},
      {"cost", "a hit and a publish are quick", cost},
      {"forks", "a child of a fork never waits for a lock of a thread that it does not have", forks},
      {"nfs", "a folder on an NFS server serves two clients, and one that hangs costs a bounded wait", nfs},
      {"quota", "a user's full quota costs the cache only", quota},
  };
  return all;
}

namespace {

int usage() {
  fmt::print(stderr, "test_stress [--full] [--seconds N] [--seed N] [SCENARIO...]\n");
  for (const Scenario& scenario : scenarios()) fmt::print(stderr, "  {:<12} {}\n", scenario.name, scenario.promise);
  return 2;
}

int run(const std::vector<std::string>& names, const Budget& budget) {
  unsigned failures = 0, known = 0;
  bool anything = false;
  for (const Scenario& scenario : scenarios()) {
    bool wanted = names.empty();
    for (const std::string& name : names) {
      if (name != scenario.name) continue;
      wanted = true;
      ++known;
    }
    if (!wanted) continue;
    fmt::print("{}: {}\n", scenario.name, scenario.promise);
    std::fflush(stdout);
    Report report;
    scenario.run(budget, report);
    failures += report.failures();
    anything = anything || report.skipped() == 0;
  }
  if (known != names.size()) return usage();
  if (failures != 0) return 1;
  return anything ? 0 : 77;
}

}  // namespace
}  // namespace tma_jit::stress

int main(int argc, char** argv) {
  tma_jit::stress::Budget budget;
  std::vector<std::string> names;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--full") == 0) {
      budget.full = true;
    } else if (std::strcmp(argv[i], "--seconds") == 0 && i + 1 < argc) {
      budget.seconds = std::atof(argv[++i]);
    } else if (std::strcmp(argv[i], "--seed") == 0 && i + 1 < argc) {
      budget.seed = std::strtoull(argv[++i], nullptr, 10);
    } else if (argv[i][0] == '-') {
      return tma_jit::stress::usage();
    } else {
      names.emplace_back(argv[i]);
    }
  }
  return tma_jit::stress::run(names, budget);
}
