#include "cache/share.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>
#include <memory>
#include <string>

#include "base/descriptor.h"
#include "cache/folder.h"
#include "cache/root.h"

namespace tma_jit::cache {
namespace {

void share_file(const FileSystem& files, int folder, const char* name) {
  const Descriptor file(files.open(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0));
  struct stat status {};
  const bool ours = file && files.stat(file.get(), status) == 0 && status.st_uid == ::geteuid();
  if (ours && S_ISREG(status.st_mode)) (void)files.set_mode(file.get(), file_mode(true));
}

void share_folder(const FileSystem& files, int format, const std::string& name) {
  const int opened = files.open(format, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
  if (opened < 0) return;
  const std::unique_ptr<DIR, int (*)(DIR*)> items(::fdopendir(opened), ::closedir);
  if (!items) {
    ::close(opened);
    return;
  }
  while (const dirent* item = ::readdir(items.get())) {
    if (item->d_name[0] != '.') share_file(files, format, (name + "/" + std::string(item->d_name)).c_str());
  }
  (void)files.set_mode(opened, folder_mode(true));
}

}  // namespace

// Changes the outermost folder last, so that nobody sees a partly shared cache.
void share(const FileSystem& files, int root, int format) {
  for (unsigned shard = 0; shard < kShards; ++shard) share_folder(files, format, shard_name(shard));
  share_folder(files, format, std::string(kCompilersName));
  share_file(files, format, kIndexName);
  share_file(files, root, kBackupTagName);
  (void)files.set_mode(format, folder_mode(true));
  (void)files.set_mode(root, folder_mode(true));
}

}  // namespace tma_jit::cache
