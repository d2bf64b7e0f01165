// The list of what was pushed to a server, and of the compilers that made it, kept there as an entry of its own: the
// four verbs cannot list. The keys lie one after the other in place of a cubin; the metadata is a line for each
// compiler.
#pragma once

#include <set>
#include <string>
#include <vector>

#include <tma_jit/artifact.h>

#include "cache/entry.h"

namespace tma_jit::cache {

struct Catalogue {
  std::set<Key> keys;
  std::vector<std::string> compilers;
};

// Returns the key under which it is kept, which is the key of no kernel.
Key catalogue_key();
Entry to_entry(const Catalogue& catalogue);
// Ignores an incomplete key at the end.
Catalogue catalogue_in(const Entry& entry);

}  // namespace tma_jit::cache
