#include "compile/locate.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>

#include "base/fork.h"
#include "base/library.h"
#include "base/text.h"
#include "base/trusted_path.h"
#include "compile/nvrtc_build.h"
#include "compile/release.h"
#include "core/failure.h"

namespace tma_jit::compile {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 3> kSonames = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};

// Returns the sub-folders whose name starts with `prefix`, in descending order of name; none if the folder cannot be
// read.
std::vector<fs::path> folders_starting(const fs::path& folder, std::string_view prefix) {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (fs::directory_iterator it(folder, ignored), end; !ignored && it != end; it.increment(ignored)) {
    if (it->path().filename().string().starts_with(prefix)) found.push_back(it->path());
  }
  std::ranges::sort(found, [](const fs::path& a, const fs::path& b) {
    return Release::in(a.filename().string()) > Release::in(b.filename().string());
  });
  return found;
}

// Finds the path of an NVRTC among the objects that this process has loaded.
int find_loaded(dl_phdr_info* info, std::size_t, void* found) {
  const std::string_view path = info->dlpi_name != nullptr ? info->dlpi_name : "";
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (!name.starts_with("libnvrtc") || name.starts_with("libnvrtc-builtins") || path.empty()) return 0;
  static_cast<std::string*>(found)->assign(path);
  return 1;
}

std::string loaded_library() {
  std::string path;
  if (!loader_works()) return path;
  const NoFork no_fork;
  ::dl_iterate_phdr(find_loaded, &path);
  return path;
}

class Search {
 public:
  explicit Search(const Places& places) : places_(places) {}

  Result<Location> run() {
    if (!places_.wanted.empty()) return wanted();
    if (loaded() || installed() || packaged() || by_loader()) return std::move(*found_);
    Error error{ErrorCode::nvrtc, "NVRTC was not found: no libnvrtc.so.13, libnvrtc.so.12 or libnvrtc.so", listing(),
                ErrorReason::library_missing};
    error.detail += "\ninstall the CUDA toolkit or pip's nvidia-cuda-nvrtc, or name the library in TMA_JIT_NVRTC";
    return tl::make_unexpected(std::move(error));
  }

 private:
  Result<Location> wanted() {
    std::error_code ignored;
    const bool folder = fs::is_directory(places_.wanted, ignored);
    named_ = true;
    if (folder ? in_folder(places_.wanted) : file(places_.wanted)) return std::move(*found_);
    Error error{ErrorCode::nvrtc, fmt::format("NVRTC was not found at {}", places_.wanted.string()), listing(),
                ErrorReason::library_missing};
    error.detail += "\nthe path was named by the caller or by TMA_JIT_NVRTC; without it the usual places are searched";
    return tl::make_unexpected(std::move(error));
  }

  bool loaded() {
    const std::string path = places_.loaded ? loaded_library() : std::string();
    if (path.empty()) return false;
    named_ = true;  // the process has already loaded it, so it is trusted
    const bool found = file(path);
    named_ = false;
    return found;
  }

  bool installed() {
    if (std::ranges::any_of(places_.toolkits, [&](const fs::path& toolkit) { return in_toolkit(toolkit); }))
      return true;
    if (std::ranges::any_of(places_.loader_folders, [&](const fs::path& folder) { return in_folder(folder); }))
      return true;
    const fs::path local = places_.root / "usr/local";
    if (in_toolkit(local / "cuda")) return true;
    const std::vector<fs::path> versions = folders_starting(local, "cuda-");
    return std::ranges::any_of(versions, [&](const fs::path& toolkit) { return in_toolkit(toolkit); });
  }

  bool in_toolkit(const fs::path& toolkit) {
    std::error_code ignored;
    if (!fs::is_directory(toolkit, ignored)) return note(toolkit, "no such folder");
    if (in_folder(toolkit / "lib64") || in_folder(toolkit / "lib")) return true;
    const std::vector<fs::path> targets = folders_starting(toolkit / "targets", "");
    return std::ranges::any_of(targets, [&](const fs::path& target) { return in_folder(target / "lib"); });
  }

  // Searches pip's packages in every Python of the environments and of the system, and the lib folder of conda
  // environments.
  bool packaged() {
    if (std::ranges::any_of(places_.folders, [&](const fs::path& folder) { return in_folder(folder); })) return true;
    std::vector<fs::path> roots = places_.environments;
    roots.push_back(places_.root / "usr/local");
    roots.push_back(places_.root / "usr");
    for (const fs::path& environment : places_.environments) {
      if (in_folder(environment / "lib")) return true;
    }
    return std::ranges::any_of(roots, [&](const fs::path& root) { return in_python(root / "lib"); });
  }

  bool in_python(const fs::path& folder) {
    for (const fs::path& python : folders_starting(folder, "python3")) {
      for (const char* packages : {"site-packages", "dist-packages"}) {
        const fs::path nvidia = python / packages / "nvidia";
        std::error_code ignored;
        if (!fs::is_directory(nvidia, ignored)) {
          note(nvidia, "no such folder");
        } else if (in_folder(nvidia / "cu13/lib") || in_folder(nvidia / "cuda_nvrtc/lib")) {
          return true;
        }
      }
    }
    return false;
  }

  bool by_loader() {
    if (!places_.loader) return false;
    for (const char* soname : kSonames) {
      const NoFork no_fork;
      const Result<Library> library = Library::open(soname);
      Dl_info info{};
      if (!library) {
        note(soname, "the loader does not find it");
      } else if (::dladdr(library->symbol("nvrtcVersion"), &info) != 0 && file(info.dli_fname)) {
        return true;
      }
    }
    return false;
  }

  bool in_folder(const fs::path& folder) {
    if (!seen_.insert(folder).second) return false;
    std::error_code ignored;
    if (!fs::is_directory(folder, ignored)) return note(folder, "no such folder");
    bool present = false;
    for (const char* soname : kSonames) {
      if (!fs::exists(folder / soname, ignored)) continue;
      present = true;
      if (file(folder / soname)) return true;
    }
    return present ? false : note(folder, "no libnvrtc.so.13, libnvrtc.so.12 or libnvrtc.so in it");
  }

  bool file(const fs::path& path) {
    std::error_code failed;
    const fs::path real = fs::canonical(path, failed);
    if (failed) return note(path, failed.message());
    if (!named_) {
      if (const auto trusted = check_trusted(real); !trusted) return note(path, trusted.error().message);
    }
    const Result<NvrtcBuild> build = nvrtc_build(real);
    if (!build) return note(path, build.error().message);
    const Release newest = build->release;
    if (newest.major > 0 && newest < kOldestRelease) {
      return note(path, fmt::format("release {}; {} is the oldest that serves", newest.text(), kOldestRelease.text()));
    }
    found_ = Location{path, identity_of(newest, build->ids)};
    return true;
  }

  bool note(const fs::path& path, std::string_view why) {
    tried_.push_back(fmt::format("{}: {}", path.string(), why));
    return false;
  }

  std::string listing() const { return "tried\n  " + joined(tried_, "\n  "); }

  const Places& places_;
  bool named_ = false;  // the caller chose the path, so that it need not be a trusted one
  std::set<fs::path> seen_;
  std::vector<std::string> tried_;
  std::optional<Location> found_;
};

}  // namespace

Places Places::usual(const ProcessEnvironment& environment, fs::path wanted, std::vector<fs::path> folders) {
  Places places;
  places.folders = std::move(folders);
  places.wanted = std::move(wanted);
  if (places.wanted.empty()) places.wanted = environment.nvrtc;
  places.toolkits = environment.toolkits;
  places.loader_folders = tma_jit::loader_folders(environment.library_path);
  places.environments = environment.python_environments;
  if (!environment.home.empty()) places.environments.push_back(environment.home / ".local");
  return places;
}

Result<Location> locate(const Places& places) {
  return Search(places).run();
}

Result<Location> locate(const fs::path& wanted) {
  return locate(Places::usual(ProcessEnvironment::read(), wanted));
}

}  // namespace tma_jit::compile
