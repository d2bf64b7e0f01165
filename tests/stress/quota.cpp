// Real quotas, on file systems on loop devices in a mount namespace of the test's own: of a user on ext4 and XFS, of a
// subvolume on btrfs.
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/quota.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <new>

#include <linux/dqblk_xfs.h>

#include <tma_jit/cache.h>

#include "base/file.h"
#include "scenario.h"
#include "shell.h"
#include "support/temporary_folder.h"
#include "workload.h"

namespace tma_jit::stress {
namespace {

constexpr uid_t kNobody = 65534;
constexpr std::uint64_t kLimit = 4 << 20;
constexpr Work kWork{.compile_us = 500, .bytes = 20'000, .noise = true};
constexpr unsigned kKeys = 300;  // half as much again as the quota allows

// A file system on a loop device, in which one user may have 1 MiB; nothing but this process sees it.
struct Disk {
  TemporaryFolder folder;
  std::filesystem::path mount = folder.path() / "mount";

  bool make(const std::string& mkfs, const std::string& options) const {
    std::filesystem::create_directory(mount);
    const std::string image = (folder.path() / "image").string();
    ::chmod(folder.path().c_str(), 0755);
    return shell(fmt::format("truncate -s 400M {0} && {1} {0}", image, mkfs)) == 0 &&
           shell(fmt::format("mount -o loop,{} {} {}", options, image, mount.string())) == 0;
  }
  ~Disk() { (void)shell("umount " + mount.string()); }
  std::filesystem::path home() const { return mount / "home"; }
  std::string device() const {
    const std::filesystem::path file = folder.path() / "device";
    (void)shell(fmt::format("findmnt -n -o SOURCE {} > {}", mount.string(), file.string()));
    const std::string name = read_file(file).value_or("");
    return name.substr(0, name.find('\n'));
  }
};

// Each makes the user's folder on the disk, with a limit.
bool limit_user(const Disk& disk) {
  dqblk limits{};
  limits.dqb_bhardlimit = limits.dqb_bsoftlimit = kLimit / 1024;  // blocks of 1 KiB
  limits.dqb_valid = QIF_BLIMITS;
  std::filesystem::create_directory(disk.home());
  return ::quotactl(QCMD(Q_SETQUOTA, USRQUOTA), disk.device().c_str(), static_cast<int>(kNobody),
                    reinterpret_cast<caddr_t>(&limits)) == 0;
}

bool limit_user_of_xfs(const Disk& disk) {
  fs_disk_quota limits{};
  limits.d_version = FS_DQUOT_VERSION;
  limits.d_flags = FS_USER_QUOTA;
  limits.d_fieldmask = FS_DQ_BHARD | FS_DQ_BSOFT;
  limits.d_id = kNobody;
  limits.d_blk_hardlimit = limits.d_blk_softlimit = kLimit / 512;  // basic blocks
  std::filesystem::create_directory(disk.home());
  return ::quotactl(QCMD(Q_XSETQLIM, USRQUOTA), disk.device().c_str(), static_cast<int>(kNobody),
                    reinterpret_cast<caddr_t>(&limits)) == 0;
}

bool limit_subvolume(const Disk& disk) {
  return shell(fmt::format("btrfs quota enable {0} && btrfs subvolume create {1} && btrfs qgroup limit {2} {1}",
                           disk.mount.string(), disk.home().string(), kLimit)) == 0;
}

struct FileSystem {
  const char* name;
  const char* mkfs;
  const char* options;
  bool (*limit)(const Disk& disk);
};

// What lies on the disk afterwards; shared with the user's process, to whom alone the folder is to be trusted.
struct Found {
  std::uint64_t entries = 0, faulty = 0, bytes = 0, temporary = 0;
};

Found& shared_found() {
  void* memory = ::mmap(nullptr, sizeof(Found), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return *new (memory) Found{};
}

int overfill(const std::filesystem::path& root, Counts& counts, Found& found) {
  {
    cache::Layers layers(settings_for(root, counts));
    for (unsigned pass = 0; pass < 2; ++pass) {
      for (unsigned number = 0; number < kKeys; ++number) obtain(layers, number, kWork, counts);
    }
  }
  const auto entries = cache_verify(root);
  const auto summary = cache_stat(root);
  if (!entries || !summary) return 1;
  found.entries = entries->size();
  found.temporary = summary->temporary_files;
  for (const CacheEntryInfo& entry : *entries) {
    found.faulty += entry.fault.empty() ? 0 : 1;
    found.bytes += entry.bytes;
  }
  return 0;
}

void fill_quota(const FileSystem& kind, Report& report) {
  const Disk disk;
  if (!disk.make(kind.mkfs, kind.options)) return report.skip(fmt::format("{} with quotas cannot be made", kind.name));
  if (!kind.limit(disk)) return report.skip(fmt::format("{}: no quota: {}", kind.name, std::strerror(errno)));
  const auto home = disk.home();
  if (::chown(home.c_str(), kNobody, kNobody) != 0) return report.skip("chown");
  Counts& counts = shared_counts();
  Found& found = shared_found();
  const int ended = as_user(kNobody, [&] { return overfill(home / "cache", counts, found); });
  if (ended == -2) return report.skip("becoming another user");
  report.row("{}, quota of 4 MiB: {} hits, {} compiles, {} not kept, {} entries of {} KiB on disk, {} wrong", kind.name,
             counts.hits.load(), counts.total(), counts.put_failures.load(), found.entries, found.bytes / 1024,
             counts.wrong.load());
  report.equal(static_cast<std::uint64_t>(ended), 0, "how the user's process ended");
  report.equal(counts.wrong + counts.unsound + found.faulty, 0, "wrong results and damaged entries");
  report.equal(found.temporary, 0, "temporary files left");
  report.expect(counts.put_failures > 0, "the quota was never full, so nothing was tested");
  report.expect(found.entries > 0 && found.bytes <= kLimit, "what is on disk is not what the quota allows");
}

}  // namespace

void quota(const Budget&, Report& report) {
  if (::geteuid() != 0) return report.skip("mounting needs root");
  const int ended = in_child([&] {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return 77;
    Report own;
    fill_quota({"ext4", "mkfs.ext4 -q -F -O quota -E quotatype=usrquota", "usrquota", limit_user}, own);
    fill_quota({"xfs", "mkfs.xfs -q -f", "uquota", limit_user_of_xfs}, own);
    fill_quota({"btrfs", "mkfs.btrfs -q -f", "noatime", limit_subvolume}, own);
    return own.failures() != 0 ? 1 : own.skipped() == 3 ? 77 : 0;
  });
  if (ended == 77) return report.skip("no file system with a quota can be had here");
  report.equal(static_cast<std::uint64_t>(ended), 0, "how the test ended");
}

}  // namespace tma_jit::stress
