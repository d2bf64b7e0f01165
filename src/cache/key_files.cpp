#include "cache/key_files.h"

#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ranges>
#include <string>

#include "core/failure.h"

namespace tma_jit::cache {
namespace {

namespace fs = std::filesystem;

constexpr int kLinksMax = 40;  // the Linux kernel's own limit

// Adds the components of a path to those that are still to be followed; the next one is last.
void push(std::vector<std::string>& left, const fs::path& path) {
  const std::vector<fs::path> parts(path.begin(), path.end());
  for (const fs::path& part : std::views::reverse(parts)) {
    if (!part.empty() && part != "/" && part != ".") left.push_back(part.string());
  }
}

Result<fs::path> target_of(const fs::path& link, const struct stat& status) {
  if (status.st_uid != 0 && status.st_uid != ::geteuid()) {
    return failure(ErrorCode::io, "the link {} belongs to user {}, neither to root nor to user {}", link.string(),
                   status.st_uid, ::geteuid());
  }
  std::error_code error;
  fs::path target = fs::read_symlink(link, error);
  if (error) return failure(ErrorCode::io, "{}: {}", link.string(), error.message());
  return target;
}

Result<fs::path> without_links(const fs::path& path) {
  std::error_code error;
  std::vector<std::string> left;
  push(left, fs::absolute(path, error));
  fs::path at = "/";
  for (int links = 0; !left.empty();) {
    const std::string part = left.back();
    left.pop_back();
    if (part == "..") {
      at = at.parent_path();
      continue;
    }
    const fs::path next = at / part;
    struct stat status {};
    if (::lstat(next.c_str(), &status) != 0)
      return failure(ErrorCode::io, "{}: {}", next.string(), std::strerror(errno));
    if (!S_ISLNK(status.st_mode)) {
      at = next;
      continue;
    }
    if (++links > kLinksMax) return failure(ErrorCode::io, "{}: more than {} links", next.string(), kLinksMax);
    TMA_JIT_ASSIGN(const fs::path target, target_of(next, status));
    push(left, target);
    if (target.is_absolute()) at = "/";
  }
  return at;
}

Result<std::vector<fs::path>> keys_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator item(folder, error), end; !error && item != end; item.increment(error)) {
    if (item->path().extension() == ".pub") files.push_back(item->path());
  }
  if (error) return failure(ErrorCode::io, "{}: {}", folder.string(), error.message());
  if (files.empty()) return failure(ErrorCode::io, "{}: this folder of keys has no *.pub", folder.string());
  std::ranges::sort(files);
  return files;
}

Result<void> add(const fs::path& named, std::vector<fs::path>& files) {
  if (named.empty()) return failure(ErrorCode::io, "a key is named by nothing: name a file or a folder, or unset it");
  TMA_JIT_ASSIGN(const fs::path real, without_links(named));
  struct stat status {};
  if (::stat(real.c_str(), &status) != 0) return failure(ErrorCode::io, "{}: {}", real.string(), std::strerror(errno));
  std::vector<fs::path> found = {real};
  if (S_ISDIR(status.st_mode)) {
    TMA_JIT_ASSIGN(found, keys_in(real));
  }
  for (const fs::path& file : found) {
    TMA_JIT_ASSIGN(files.emplace_back(), without_links(file));
  }
  return {};
}

}  // namespace

Result<std::vector<fs::path>> key_files(const std::vector<fs::path>& named) {
  std::vector<fs::path> files;
  for (const fs::path& path : named) {
    if (const auto added = add(path, files); !added)
      return failure(added.error().code, "public key {}: {}", path.string(), added.error().message);
  }
  return files;
}

}  // namespace tma_jit::cache
