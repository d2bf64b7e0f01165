// Makes a private cache folder readable for every user.
#pragma once

#include "cache/file_system.h"

namespace tma_jit::cache {

// Changes a folder and its v1, both open, the shards and this user's files in them. What cannot be changed is left
// unchanged. Locks and the records of crashes stay private.
void share(const FileSystem& files, int root, int format);

}  // namespace tma_jit::cache
