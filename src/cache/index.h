// The index of a folder, <root>/v1/index: the marks of its entries, so that explaining a miss need not read them all.
// Only a help: a key's marks never change, so a record is never stale; what the index lacks is read from the entries,
// and added.
#pragma once

#include "cache/files.h"
#include "cache/nearest.h"

namespace tma_jit::cache {

inline constexpr std::size_t kIndexBytesMax = std::size_t{64} << 20;

// A cache folder's <root>/v1, held open.
struct IndexedFolder {
  const Files& files;
  int folder;
  bool writable = false;
  bool shared = false;  // the index is for everyone to read
};

// One write to the end of the file. An index that has grown beyond its limit begins anew. It never fails its caller: a
// failure costs a later explanation some time.
void add_to_index(const IndexedFolder& place, const std::vector<IndexRecord>& records);

// Lists the folder's entries and compares the marks of each. Reads the metadata of those that the index lacks, as far
// as time allows, and adds them to it; writes it anew where more than half of it is outdated.
Nearest nearest_in(const IndexedFolder& place, const Question& question);

}  // namespace tma_jit::cache
