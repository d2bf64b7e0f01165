// A power cut: a real file system on a loop device is stopped in the middle of its work, without writing its log, then
// mounted again. Needs the right to mount; each file system is skipped where it cannot be made.
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <atomic>
#include <chrono>
#include <thread>

#include <tma_jit/cache.h>

#include "base/descriptor.h"
#include "scenario.h"
#include "shell.h"
#include "support/temporary_folder.h"
#include "workload.h"

namespace tma_jit::stress {
namespace {

// linux: FS_IOC_SHUTDOWN of ext4, XFS and others, with FS_SHUTDOWN_FLAGS_NOLOGFLUSH: as if the cable were pulled.
constexpr unsigned long kShutdown = _IOR('X', 125, std::uint32_t);
constexpr std::uint32_t kNoLogFlush = 2;

// The order of a publish without its flush: what an entry would be worth then.
class UnflushedFileSystem final : public cache::FileSystem {
  int flush(int) const override { return 0; }
};

struct Disk {
  std::string image, mount, options;
  bool attach(const std::string& from) const {
    return shell(fmt::format("mount -o loop,{} {} {}", options, from, mount)) == 0;
  }
  void detach() const { (void)shell(fmt::format("umount {}", mount)); }
  bool cut() const {
    const Descriptor folder(::open(mount.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    std::uint32_t how = kNoLogFlush;
    return folder && ::ioctl(folder.get(), kShutdown, &how) == 0;
  }
};

// Puts entries at full speed until it is stopped; the number of the last one that was acknowledged is in `done`.
pid_t start_writer(const Disk& disk, const cache::FileSystem& files, std::atomic<unsigned>& done) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  Counts& counts = shared_counts();
  cache::LayerSettings settings = settings_for(disk.mount + "/cache", counts);
  settings.store.files = &files;
  cache::Layers layers(settings);
  for (unsigned number = 0; number < kKeysMax; ++number) {
    obtain(layers, number, {.compile_us = 500, .bytes = 6'000, .noise = true}, counts);
    if (counts.put_failures == 0) done = number + 1;
  }
  ::_exit(0);
}

struct Outcome {
  std::uint64_t visible = 0, damaged = 0, acknowledged = 0;
};

// When the power is cut: after some time, and when some entries are acknowledged, however slow the disk is.
struct Moment {
  std::chrono::milliseconds after;
  unsigned entries;
};

void wait_for(const Moment& moment, const std::atomic<unsigned>& acknowledged) {
  const auto last = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  std::this_thread::sleep_for(moment.after);
  while (acknowledged < moment.entries && std::chrono::steady_clock::now() < last)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

bool run_cut(const Disk& disk, const cache::FileSystem& files, const Moment& moment, Outcome& outcome) {
  if (!disk.attach(disk.image)) return false;
  Counts& counts = shared_counts();
  const pid_t writer = start_writer(disk, files, counts.go);
  wait_for(moment, counts.go);
  const unsigned acknowledged = counts.go;
  const bool cut = disk.cut();
  ::kill(writer, SIGKILL);
  ::waitpid(writer, nullptr, 0);
  // A copy is mounted, because the stopped file system lives on as long as another process's namespace has it mounted.
  const std::string left = disk.image + ".left";
  const bool copied = shell(fmt::format("cp --sparse=always {} {}", disk.image, left)) == 0;
  disk.detach();
  if (!cut || !copied || !disk.attach(left)) return false;
  const auto entries = cache_verify(disk.mount + "/cache").value_or(std::vector<CacheEntryInfo>());
  for (const CacheEntryInfo& entry : entries) outcome.damaged += entry.fault.empty() ? 0 : 1;
  outcome.visible += entries.size();
  outcome.acknowledged += acknowledged;
  disk.detach();
  return true;
}

void cut_repeatedly(const char* make, const char* options, unsigned cuts, bool flushed, Report& report) {
  const std::string name = std::string(make).substr(0, std::string(make).find(' '));
  const TemporaryFolder folder;
  const Disk disk{folder.path() / "image", folder.path() / "mount", options};
  std::filesystem::create_directory(disk.mount);
  const UnflushedFileSystem unflushed;
  Outcome outcome;
  for (unsigned i = 0; i < cuts; ++i) {
    const bool made = shell(fmt::format("rm -f {0}; truncate -s 400M {0} && {1} {0}", disk.image, make)) == 0;
    const Moment moment{std::chrono::milliseconds(flushed ? 150 + 130 * (i % 10) : 2'500), flushed ? 11U : 0U};
    const cache::FileSystem& files = flushed ? cache::FileSystem::system() : unflushed;
    if (!made || !run_cut(disk, files, moment, outcome))
      return report.skip(fmt::format("{}: cannot be made, mounted and stopped here", name));
  }
  report.row("{}{}: {} cuts, {} entries acknowledged, {} there afterwards, {} of them damaged", name,
             flushed ? "" : " without the flush", cuts, outcome.acknowledged, outcome.visible, outcome.damaged);
  if (flushed) {
    report.equal(outcome.damaged, 0, "zero-length or torn entries");
    report.expect(outcome.visible + cuts >= outcome.acknowledged, "acknowledged entries are missing");
    report.expect(outcome.acknowledged > std::uint64_t{10} * cuts, "too few entries for the test to mean anything");
  } else {
    report.expect(outcome.damaged > 0, "no damage without the flush: the cut is not one");
  }
}

}  // namespace

void power(const Budget& budget, Report& report) {
  if (::geteuid() != 0) return report.skip("mounting needs root");
  cut_repeatedly("mkfs.ext4 -q -F", "commit=1", budget.pick(4, 50), true, report);
  cut_repeatedly("mkfs.ext4 -q -F", "commit=1", 1, false, report);
  cut_repeatedly("mkfs.xfs -q -f", "noatime", budget.pick(4, 50), true, report);
}

}  // namespace tma_jit::stress
