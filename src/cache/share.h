// Making a private cache folder one that everyone may read.
#pragma once

#include "cache/files.h"

namespace tma_jit::cache {

// Of a folder and its v1, both open: they, the shards and what this user has in them. What cannot be changed stays as
// it is. Locks, and what is kept about crashes, stay private.
void share(const Files& files, int root, int format);

}  // namespace tma_jit::cache
