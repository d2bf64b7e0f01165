// Paths on which no access waits for another machine, by a mount table.
#include "base/local_files.h"

#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include "support/temporary_folder.h"

namespace tma_jit {
namespace {

namespace fs = std::filesystem;

const std::string kDisk = "27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n";

std::string with_mount(std::string point, const std::string& type) {
  for (std::size_t at; (at = point.find(' ')) != std::string::npos;) point.replace(at, 1, "\\040");
  return kDisk + "40 27 0:50 / " + point + " rw,relatime - " + type + " server:/export rw\n";
}

}  // namespace

TEST_CASE("a path on a disk is local, whether it exists or not") {
  CHECK(is_local_path("/usr", kDisk));
  CHECK(is_local_path("/usr/no/such/folder", kDisk));
  CHECK(is_local_path("relative/path", kDisk));
  CHECK(is_local_path("/", kDisk));
}

TEST_CASE("a path on or below a network's or an unknown file system is not local") {
  for (const char* type : {"nfs4", "cifs", "fuse.sshfs", "autofs", "9p", "ceph", "lustre", "some_new_one"}) {
    CAPTURE(type);
    const std::string mounts = with_mount("/mnt/home", type);
    CHECK_FALSE(is_local_path("/mnt/home", mounts));
    CHECK_FALSE(is_local_path("/mnt/home/user/.cache", mounts));
    CHECK_FALSE(is_local_path("/usr/../mnt/home/user", mounts));
    CHECK(is_local_path("/mnt/homes", mounts));
    CHECK(is_local_path("/mnt", mounts));
  }
  CHECK_FALSE(is_local_path("/usr", "27 1 0:20 / / rw - nfs server:/root rw\n"));
}

TEST_CASE("a local file system is local, unless it is mounted below another machine's") {
  CHECK(is_local_path("/scratch/cache", with_mount("/scratch", "xfs")));
  const std::string below = with_mount("/home", "nfs") + "41 40 254:1 / /home/scratch rw - xfs /dev/vdb rw\n";
  CHECK_FALSE(is_local_path("/home/scratch/cache", below));
}

TEST_CASE("a mount point with spaces is found") {
  CHECK_FALSE(is_local_path("/mnt/a b\\c/d", with_mount("/mnt/a\\040b\\134c", "nfs")));
}

TEST_CASE("a link that leads to another machine's files is not local") {
  const TemporaryFolder folder;
  fs::create_directory_symlink("/mnt/home/user", folder.path() / "link");
  fs::create_directory_symlink("../elsewhere/below", folder.path() / "relative");
  fs::create_directory_symlink("circle", folder.path() / "circle");
  CHECK_FALSE(is_local_path(folder.path() / "link/cache", with_mount("/mnt/home", "nfs")));
  CHECK(is_local_path(folder.path() / "link/cache", kDisk));
  CHECK_FALSE(is_local_path(folder.path() / ".." / folder.path().filename() / "relative" / "x",
                            with_mount((folder.path().parent_path() / "elsewhere").string(), "nfs")));
  CHECK_FALSE(is_local_path(folder.path() / "circle", kDisk));
}

TEST_CASE("a table that is damaged or empty does not end the program") {
  CHECK(is_local_path("/usr", "x\n\n - \n1 2 3 4\n27 1 254:0 /\n"));
  CHECK_FALSE(is_local_path("/usr", "1 2 3 4 /usr\n"));
}

TEST_CASE("this machine's table is read") {
  CHECK_FALSE(is_local_path("/proc/self/status"));
}

}  // namespace tma_jit
