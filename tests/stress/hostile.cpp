// Another user of the machine who would like to have a kernel of theirs loaded: what they own, may write to, or may
// point elsewhere is not read. Needs to become two users, so it runs as root or not at all.
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <chrono>
#include <functional>
#include <thread>

#include <tma_jit/cache.h>

#include "base/file.h"
#include "cache/folder.h"
#include "scenario.h"
#include "support/cache_samples.h"
#include "support/temporary_folder.h"
#include "workload.h"

namespace tma_jit::stress {
namespace {

namespace fs = std::filesystem;

constexpr uid_t kVictim = 65534, kAttacker = 65533;
constexpr Work kWork{.compile_us = 0, .bytes = 700, .noise = true};
constexpr int kLoaded = 9;
constexpr std::chrono::seconds kWaitMax{30};  // a lock is waited for 120 s; a busy disk may take seconds

// The attacker's kernel under the victim's key: sound in every other way.
std::string evil_bytes() {
  const auto bytes = cache::encode(cache::sample_key(1), cache::noise_entry(666, 700)).value();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void write_as(uid_t owner, const fs::path& path, mode_t mode) {
  if (!write_file(path, evil_bytes())) return;
  (void)!::chown(path.c_str(), owner, owner);
  ::chmod(path.c_str(), mode);
}

// The victim's process: 0 when it got its own kernel, kLoaded when it got the attacker's.
int victim(const fs::path& root) {
  Counts& counts = shared_counts();
  cache::Layers layers(settings_for(root, counts));
  for (unsigned i = 0; i < 2; ++i) obtain(layers, 1, kWork, counts);
  return counts.wrong != 0 ? kLoaded : 0;
}

// A folder as the victim's own process makes it.
fs::path victims_cache(const fs::path& parent) {
  ::chmod(parent.c_str(), 0755);
  const fs::path home = parent / "victim";
  fs::create_directory(home);
  (void)!::chown(home.c_str(), kVictim, kVictim);
  (void)as_user(kVictim, [&] { return cache::Store::open(home / "cache") ? 0 : 1; });
  return home / "cache";
}

struct Plot {
  const char* what;
  std::function<void(const fs::path& root)> plant;
};

void own(const fs::path& path, uid_t user) {
  (void)!::chown(path.c_str(), user, user);
  for (const auto& item : fs::recursive_directory_iterator(path)) (void)!::lchown(item.path().c_str(), user, user);
}

const Plot kPlots[] = {
    {"the entry belongs to another user",
     [](const fs::path& root) { write_as(kAttacker, cache::entry_path(root, cache::sample_key(1)), 0600); }},
    {"the entry has mode 0666",
     [](const fs::path& root) { write_as(kVictim, cache::entry_path(root, cache::sample_key(1)), 0666); }},
    {"the entry is a link to the attacker's file",
     [](const fs::path& root) {
       write_as(kVictim, root.parent_path() / "evil", 0600);
       fs::create_symlink(root.parent_path() / "evil", cache::entry_path(root, cache::sample_key(1)));
     }},
    {"the shard is a link to the attacker's folder",
     [](const fs::path& root) {
       const fs::path entry = cache::entry_path(root, cache::sample_key(1));
       const fs::path evil = root.parent_path() / "evil";
       fs::create_directory(evil);
       write_as(kVictim, evil / entry.filename(), 0600);
       fs::remove(entry.parent_path());
       fs::create_directory_symlink(evil, entry.parent_path());
     }},
    {"v1 is a link to the attacker's folder",
     [](const fs::path& root) {
       write_as(kVictim, cache::entry_path(root, cache::sample_key(1)), 0600);
       fs::rename(root / "v1", root.parent_path() / "evil");
       fs::create_directory_symlink(root.parent_path() / "evil", root / "v1");
     }},
    {"the root is a link to the attacker's folder",
     [](const fs::path& root) {
       write_as(kVictim, cache::entry_path(root, cache::sample_key(1)), 0600);
       fs::rename(root, root.parent_path() / "evil");
       fs::create_directory_symlink(root.parent_path() / "evil", root);
     }},
    {"the root has mode 0777",
     [](const fs::path& root) {
       write_as(kVictim, cache::entry_path(root, cache::sample_key(1)), 0600);
       ::chmod(root.c_str(), 0777);
     }},
    {"the root has mode 0770 and a foreign group",
     [](const fs::path& root) {
       write_as(kVictim, cache::entry_path(root, cache::sample_key(1)), 0600);
       (void)!::chown(root.c_str(), kVictim, kAttacker);
       ::chmod(root.c_str(), 0770);
     }},
    {"v1 has mode 0777",
     [](const fs::path& root) {
       write_as(kVictim, cache::entry_path(root, cache::sample_key(1)), 0600);
       ::chmod((root / "v1").c_str(), 0777);
     }},
    {"all of it belongs to another user",
     [](const fs::path& root) {
       write_as(kAttacker, cache::entry_path(root, cache::sample_key(1)), 0644);
       own(root, kAttacker);
       ::chmod(root.c_str(), 0755);
       ::chmod((root / "v1").c_str(), 0755);
     }},
    {"a pipe lies in the entry's place",
     [](const fs::path& root) {
       ::mkfifo(cache::entry_path(root, cache::sample_key(1)).c_str(), 0600);
       (void)!::chown(cache::entry_path(root, cache::sample_key(1)).c_str(), kVictim, kVictim);
     }},
};

// While the victim opens it again and again, the attacker swaps the victim's folder for one of their own in a folder
// both may write to.
void race(double seconds, Report& report) {
  const TemporaryFolder folder;
  const fs::path root = victims_cache(folder.path());
  const fs::path shared = folder.path() / "shared";
  fs::create_directory(shared);
  ::chmod(shared.c_str(), 0777);
  fs::rename(root, shared / "good");
  fs::copy(shared / "good", shared / "evil", fs::copy_options::recursive);
  own(shared / "evil", kAttacker);
  for (const auto& item : fs::recursive_directory_iterator(shared / "evil"))
    ::chmod(item.path().c_str(), item.is_directory() ? 0755 : 0644);
  ::chmod((shared / "evil").c_str(), 0755);
  write_as(kAttacker, cache::entry_path(shared / "evil", cache::sample_key(1)), 0644);
  const pid_t swapper = ::fork();
  if (swapper == 0) {
    if (::setgid(kAttacker) != 0 || ::setuid(kAttacker) != 0) ::_exit(1);
    for (;;) {
      for (const char* face : {"good", "evil"}) {
        (void)std::rename((shared / face).c_str(), (shared / "cache").c_str());
        (void)std::rename((shared / "cache").c_str(), (shared / face).c_str());
      }
    }
  }
  Counts& counts = shared_counts();
  const int status = as_user(kVictim, [&] {
    const auto end = Clock::now() + std::chrono::duration<double>(seconds);
    while (Clock::now() < end) {
      ++counts.waiting;
      const auto store = cache::Store::open(shared / "cache", {.existing = true});
      if (!store) continue;
      ++counts.go;
      const cache::Lookup found = store->get(cache::sample_key(1));
      if (found.entry) return kLoaded;
    }
    return 0;
  });
  ::kill(swapper, SIGKILL);
  ::waitpid(swapper, nullptr, 0);
  report.row("swapped while it is opened: {} attempts, {} met the victim's own folder", counts.waiting.load(),
             counts.go.load());
  report.equal(static_cast<std::uint64_t>(status), 0, "attacker's kernels loaded in the race");
}

// Root with a user's environment makes nothing in that user's home.
void root_in_a_home(Report& report) {
  const TemporaryFolder folder;
  const fs::path home = folder.path() / "victim";
  fs::create_directory(home);
  (void)!::chown(home.c_str(), kVictim, kVictim);
  const auto store = cache::Store::open(home / ".cache" / "tma-jit");
  report.expect(!store && store.error().message.find("belongs to user") != std::string::npos, "root made a folder");
  report.expect(fs::is_empty(home), "root left something in a home");
  report.row("root with another user's HOME: {}", store ? "made a folder" : "makes nothing there, and says why");
}

}  // namespace

void hostile(const Budget& budget, Report& report) {
  if (::geteuid() != 0 || as_user(kVictim, [] { return 0; }) != 0)
    return report.skip("becoming other users needs root");
  for (const Plot& plot : kPlots) {
    const TemporaryFolder folder;
    const fs::path root = victims_cache(folder.path());
    plot.plant(root);
    const auto start = Clock::now();
    const int status = as_user(kVictim, [&] { return victim(root); });
    report.equal(static_cast<std::uint64_t>(status), 0, fmt::format("{}: loaded or failed", plot.what));
    report.expect(Clock::now() - start < kWaitMax, fmt::format("{}: it waited", plot.what));
  }
  report.row("{} things planted by another user: none loaded", std::size(kPlots));
  race(budget.pick(1, 30), report);
  root_in_a_home(report);
}

}  // namespace tma_jit::stress
