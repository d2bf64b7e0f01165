// Disks that are small, full of files, or not to be written: small file systems are mounted where that is allowed.
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>

#include <tma_jit/cache.h>

#include "scenario.h"
#include "support/temporary_folder.h"
#include "workload.h"

namespace tma_jit::stress {
namespace {

constexpr uid_t kNobody = 65534;

// A tmpfs for the length of a test; `mounted` is false where mounting is not allowed.
class SmallDisk {
 public:
  explicit SmallDisk(const char* options) {
    mounted_ = ::mount("tmpfs", folder_.path().c_str(), "tmpfs", MS_NODEV | MS_NOSUID, options) == 0;
    error_ = mounted_ ? 0 : errno;
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk() {
    if (mounted_) ::umount2(folder_.path().c_str(), MNT_DETACH);
  }
  bool set_read_only() const {
    return ::mount("tmpfs", folder_.path().c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY | MS_NODEV | MS_NOSUID, nullptr) ==
           0;
  }
  bool mounted() const { return mounted_; }
  const char* why_not() const { return std::strerror(error_); }
  std::filesystem::path root() const { return folder_.path() / "cache"; }

 private:
  TemporaryFolder folder_;
  bool mounted_ = false;
  int error_ = 0;
};

constexpr Work kWork{.compile_us = 500, .bytes = 20'000, .noise = true};

// Twice as much as the disk holds, by eight processes.
void overfill(const char* options, Report& report) {
  constexpr unsigned kProcesses = 8, kKeys = 100;
  const SmallDisk disk(options);
  if (!disk.mounted()) return report.skip(fmt::format("mounting a tmpfs: {}", disk.why_not()));
  Counts& counts = shared_counts();
  const unsigned bad = run_together(kProcesses, counts, [&](unsigned) {
    cache::Layers layers(settings_for(disk.root(), counts));
    for (unsigned pass = 0; pass < 2; ++pass) {
      for (unsigned number = 0; number < kKeys; ++number) obtain(layers, number, kWork, counts);
    }
  });
  const auto summary = cache_stat(disk.root()).value();
  report.row("tmpfs {}: {} processes x {} keys: {} hits, {} compiles, {} not kept, {} entries on disk, {} wrong",
             options, kProcesses, kKeys, counts.hits.load(), counts.total(), counts.put_failures.load(),
             summary.entries, counts.wrong.load());
  report.equal(bad + counts.wrong + counts.unsound, 0, "wrong results, damage and failed processes");
  report.equal(summary.temporary_files, 0, "temporary files left");
  report.expect(counts.put_failures > 0, "the disk was not full, so nothing was tested");
}

// Entries that are there are hits; others are compiled, and after the first refusal no write is tried.
int use_unwritable(const std::filesystem::path& root) {
  class CountingFileSystem final : public cache::FileSystem {
   public:
    int open(int folder, const char* path, int flags, mode_t mode) const override {
      creations += (flags & O_CREAT) != 0 ? 1 : 0;
      return FileSystem::open(folder, path, flags, mode);
    }
    mutable unsigned creations = 0;
  } files;
  Counts& counts = shared_counts();
  cache::LayerSettings settings = settings_for(root, counts);
  settings.store.files = &files;
  cache::Layers layers(settings);
  for (unsigned number = 0; number < 10; ++number) obtain(layers, number, kWork, counts);
  if (counts.wrong != 0 || counts.unsound != 0) return 1;
  if (counts.hits != 5 || counts.total() != 5) return 2;
  return files.creations <= 1 ? 0 : 3;
}

void fill_half(const std::filesystem::path& root) {
  Counts& counts = shared_counts();
  cache::Layers layers(settings_for(root, counts));
  for (unsigned number = 0; number < 5; ++number) obtain(layers, number, kWork, counts);
}

void read_only_mount(Report& report) {
  const SmallDisk disk("size=4m");
  if (!disk.mounted()) return report.skip(fmt::format("mounting a tmpfs: {}", disk.why_not()));
  fill_half(disk.root());
  if (!disk.set_read_only()) return report.skip("remounting read-only");
  report.equal(static_cast<std::uint64_t>(in_child([&] { return use_unwritable(disk.root()); })), 0,
               "read-only mount: 1 wrong, 2 hits, 3 writes tried");
  report.row("read-only mount: hits are hits, misses compile, nothing is written");
}

void read_only_modes(Report& report) {
  const TemporaryFolder folder;
  ::chmod(folder.path().c_str(), 0755);
  const auto root = folder.path() / "cache";
  fill_half(root);
  for (const auto& item : std::filesystem::recursive_directory_iterator(folder.path()))
    ::chmod(item.path().c_str(), item.is_directory() ? 0555 : 0444);
  const int status = ::geteuid() == 0 ? as_user(kNobody, [&] { return use_unwritable(root); })
                                      : in_child([&] { return use_unwritable(root); });
  for (const auto& item : std::filesystem::recursive_directory_iterator(folder.path()))
    ::chmod(item.path().c_str(), item.is_directory() ? 0700 : 0600);
  if (status == -2) return report.skip("becoming another user");
  report.equal(static_cast<std::uint64_t>(status), 0, "mode 0555: 1 wrong, 2 hits, 3 writes tried");
  report.row("folders of mode 0555, as user {}: hits are hits, misses compile, nothing is written", kNobody);
}

}  // namespace

void full_disk(const Budget&, Report& report) {
  overfill("size=1m", report);
  overfill("size=4m,nr_inodes=300", report);
  read_only_mount(report);
  read_only_modes(report);
}

}  // namespace tma_jit::stress
