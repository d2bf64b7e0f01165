#include "base/local_files.h"

#include <algorithm>
#include <array>
#include <list>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/text.h"

namespace tma_jit {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kTableLimit = std::size_t{4} << 20;
constexpr int kLinksMax = 40;  // as the kernel allows

struct FileSystemType {
  std::string_view name;  // as the mount table has it
  std::uint32_t magic;    // from linux/magic.h and the file systems' own sources
};

constexpr std::array<FileSystemType, 11> kLocal = {{{"ext2", 0xEF53},
                                                    {"ext3", 0xEF53},
                                                    {"ext4", 0xEF53},
                                                    {"xfs", 0x58465342},
                                                    {"btrfs", 0x9123683E},
                                                    {"tmpfs", 0x01021994},
                                                    {"ramfs", 0x858458F6},
                                                    {"overlay", 0x794C7630},
                                                    {"zfs", 0x2FC12FC1},
                                                    {"f2fs", 0xF2F52010},
                                                    {"bcachefs", 0xCA451A4E}}};

// Replaces the three octal digits by which the mount table writes spaces, tabs, line ends and backslashes.
std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

// Returns the mount points of all other file systems. The fifth word of a line is the mount point, and the word after
// " - " the type.
std::vector<std::string> foreign_mounts(std::string_view table) {
  std::vector<std::string> foreign;
  for (const std::string_view line : split(table, '\n')) {
    const std::vector<std::string_view> words = split(line.substr(0, line.find(" - ")), ' ');
    if (words.size() < 5) continue;
    const std::size_t dash = line.find(" - ");
    const std::string_view rest = dash == std::string_view::npos ? std::string_view() : line.substr(dash + 3);
    const std::string_view type = rest.substr(0, rest.find(' '));
    if (!std::ranges::any_of(kLocal, [&](const FileSystemType& local) { return local.name == type; }))
      foreign.push_back(unescaped(words[4]));
  }
  return foreign;
}

// Whether the path is `folder` or lies below it; both without links and dots.
bool is_below(std::string_view path, std::string_view folder) {
  if (folder.ends_with('/')) folder.remove_suffix(1);
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

}  // namespace

bool is_local_file_system(std::uint32_t magic) {
  return std::ranges::any_of(kLocal, [&](const FileSystemType& local) { return local.magic == magic; });
}

// Follows the path component by component: each is looked up in the table before it is touched. A local file system
// that is mounted below another one counts as the latter, because the table does not say which hides which.
bool is_local_path(const fs::path& path, std::string_view mounts) {
  const std::vector<std::string> foreign = foreign_mounts(mounts);
  std::error_code failed;
  const fs::path start = fs::absolute(path, failed);
  if (failed) return false;
  std::list<fs::path> rest(start.begin(), start.end());
  fs::path at;
  for (int links = 0; !rest.empty() && links <= kLinksMax;) {
    const fs::path name = rest.front();
    rest.pop_front();
    if (name.empty() || name == ".") continue;
    if (name == "..") {
      at = at.parent_path();
      continue;
    }
    const fs::path next = at / name;
    if (std::ranges::any_of(foreign, [&](const std::string& mount) { return is_below(next.native(), mount); }))
      return false;
    const fs::path target = fs::read_symlink(next, failed);
    if (failed) {
      at = next;
      continue;
    }
    ++links;
    rest.insert(rest.begin(), target.begin(), target.end());
  }
  return rest.empty();
}

bool is_local_path(const fs::path& path) {
  const auto table = read_file("/proc/self/mountinfo", kTableLimit);
  return table && !table->empty() && is_local_path(path, *table);
}

}  // namespace tma_jit
