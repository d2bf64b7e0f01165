#include "compile/nvrtc_build.h"

#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/fork.h"
#include "base/library.h"
#include "core/failure.h"

namespace tma_jit::compile {
namespace {

namespace fs = std::filesystem;

constexpr time_t kSettledSeconds = 2;  // a younger change may be followed by another one with the same time

// What a file system says of a file; it changes when the file is replaced or written.
struct FileState {
  dev_t device = 0;
  ino_t inode = 0;
  off_t size = 0;
  timespec modified{}, changed{};

  static std::optional<FileState> of(const fs::path& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return std::nullopt;
    return FileState{status.st_dev, status.st_ino, status.st_size, status.st_mtim, status.st_ctim};
  }

  bool operator==(const FileState& other) const {
    const auto same = [](const timespec& a, const timespec& b) {
      return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
    };
    return device == other.device && inode == other.inode && size == other.size && same(modified, other.modified) &&
           same(changed, other.changed);
  }

  bool settled() const { return changed.tv_sec + kSettledSeconds <= ::time(nullptr); }
};

struct Known {
  std::vector<std::pair<fs::path, FileState>> files;  // from which `build` was read
  NvrtcBuild build;

  bool holds() const {
    return std::ranges::all_of(files, [](const auto& file) { return FileState::of(file.first) == file.second; });
  }
};

struct Memory {
  std::mutex mutex;
  std::map<fs::path, Known> libraries;
};

PerProcess<Memory>& memory() {
  static PerProcess<Memory> known;
  return known;
}

std::optional<NvrtcBuild> remembered(const fs::path& library) {
  Memory& all = memory().get();
  const std::lock_guard lock(all.mutex);
  const auto known = all.libraries.find(library);
  return known != all.libraries.end() && known->second.holds() ? std::optional(known->second.build) : std::nullopt;
}

// Remembers nothing if a file is not there or was changed just now. `states` were taken before the files were read.
void remember(const fs::path& library, const std::vector<std::pair<fs::path, std::optional<FileState>>>& states,
              const NvrtcBuild& build) {
  Known known{{}, build};
  for (const auto& [path, state] : states) {
    if (!state || !state->settled()) return;
    known.files.emplace_back(path, *state);
  }
  Memory& all = memory().get();
  const std::lock_guard lock(all.mutex);
  all.libraries.insert_or_assign(library, std::move(known));
}

// Returns the possible file names of NVRTC's builtins beside `library`: for its release if its name contains it, else
// for every minor release of its major one. Listing the folder instead would read all of /usr/lib in a warm start.
std::vector<std::pair<Release, fs::path>> builtins_beside(const fs::path& library) {
  const std::string name = library.filename().string();
  const std::size_t suffix = name.find(".so");
  if (!name.starts_with("libnvrtc") || suffix == std::string::npos) return {};
  const std::string stem = "libnvrtc-builtins" + name.substr(8, suffix - 8) + ".so.";
  const Release told = Release::in(name.substr(suffix));
  std::vector<std::pair<Release, fs::path>> found;
  for (int major = told.major > 0 ? told.major : 15; major >= (told.major > 0 ? told.major : 12); --major) {
    for (int minor = 19; minor >= 0; --minor) {
      const Release release{major, minor};
      if (told.minor >= 0 && told != release) continue;
      fs::path file = library.parent_path() / (stem + release.text());
      std::error_code ignored;
      if (fs::exists(file, ignored)) found.emplace_back(release, std::move(file));
    }
  }
  return found;
}

}  // namespace

Result<NvrtcBuild> nvrtc_build(const fs::path& library) {
  if (auto build = remembered(library)) return *std::move(build);
  std::vector<std::pair<fs::path, std::optional<FileState>>> states;
  for (const fs::path& path : {library, library.parent_path()}) states.emplace_back(path, FileState::of(path));
  NvrtcBuild build;
  TMA_JIT_ASSIGN(build.ids, build_id(library));
  for (const auto& [release, builtins] : builtins_beside(library)) {
    build.release = std::max(build.release, release);
    states.emplace_back(builtins, FileState::of(builtins));
    if (const Result<std::string> id = build_id(builtins)) build.ids += " " + *id;
  }
  remember(library, states, build);
  return build;
}

}  // namespace tma_jit::compile
