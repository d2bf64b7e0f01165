#include "compile/reproducer.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "base/text.h"
#include "compile/find_worker.h"
#include "core/failure.h"
#include "source/emit.h"

namespace tma_jit::compile {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kKept = 16;

Result<void> make_own_folder(const fs::path& folder) {
  std::error_code ignored;
  fs::create_directories(folder.parent_path(), ignored);
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return failure(ErrorCode::io, "cannot make {}: {}", folder.string(), std::strerror(errno));
  }
  if (!is_private_folder(folder)) {
    return failure(ErrorCode::io, "{} is not a folder of this user's that nobody else can write to", folder.string());
  }
  return {};
}

void remove_oldest(const fs::path& folder) {
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  std::error_code ignored;
  for (fs::directory_iterator it(folder, ignored), end; !ignored && it != end; it.increment(ignored)) {
    if (it->path().extension() == ".cu") files.emplace_back(it->last_write_time(ignored), it->path());
  }
  if (files.size() <= kKept) return;
  std::ranges::sort(files);
  for (std::size_t i = 0; i < files.size() - kKept; ++i) fs::remove(files[i].second, ignored);
}

// Makes a path absolute, for a command that is run later from another folder.
std::string from_anywhere(const fs::path& path) {
  std::error_code failed;
  const fs::path whole = fs::absolute(path, failed);
  return (failed ? path : whole).string();
}

}  // namespace

std::string reproducing_command(const Reproducer& crash, const fs::path& file) {
  std::vector<std::string> words = {from_anywhere(real_program(crash.program)),
                                    std::string(kWorkerFlag),
                                    "--nvrtc",
                                    from_anywhere(crash.nvrtc),
                                    "--file",
                                    from_anywhere(file)};
  words.insert(words.end(), crash.options.begin(), crash.options.end());
  for (std::string& word : words) word = quoted_for_shell(word);
  return joined(words, " ");
}

Result<fs::path> save_reproducer(const fs::path& folder, const Reproducer& crash, const Key& key) {
  TMA_JIT_CHECK(make_own_folder(folder));
  const Source& source = crash.source;
  fs::path file = folder / fmt::format("{}-{}.cu", source.kernel, key.hex().substr(0, 12));
  std::string reason = crash.reason;
  std::ranges::replace(reason, '\n', ' ');
  const std::string text =
      fmt::format("// {}\n// {}\n//   {}\n//   nvcc -arch={} -std=c++17 -cubin {}\n", reason, crash.compiler,
                  reproducing_command(crash, file), source.arch, quoted_for_shell(file.string()));
  std::error_code ignored;
  fs::remove(file, ignored);
  TMA_JIT_CHECK(write_file(file, text + source::standalone(source)));
  remove_oldest(folder);
  return file;
}

}  // namespace tma_jit::compile
