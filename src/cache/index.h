// The index of a folder, <root>/v1/index: the marks of its entries, so that explaining a miss need not read every
// entry. It is only an optimisation: a key's marks never change, so that a record is never stale, and what the index
// lacks is read from the entries and added.
#pragma once

#include "cache/file_system.h"
#include "cache/nearest.h"

namespace tma_jit::cache {

inline constexpr std::size_t kIndexBytesMax = std::size_t{64} << 20;

// A cache folder's <root>/v1 as an open descriptor.
struct IndexedFolder {
  const FileSystem& files;
  int folder;
  bool writable = false;
  bool shared = false;  // whether every user may read the index
};

// Appends records with a single write. An index beyond its size limit is started anew. Failures are ignored; they only
// make a later explanation slower.
void add_to_index(const IndexedFolder& place, const std::vector<IndexRecord>& records);

// Lists the folder's entries and compares their marks. Reads the metadata of those that the index lacks, as far as time
// allows, and adds them to it; rewrites the index if more than half of it is outdated.
Nearest nearest_in(const IndexedFolder& place, const Question& question);

}  // namespace tma_jit::cache
