// The kernel that a command names: every template file that declares it, and their declarations.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <tma_jit/engine.h>

#include "outcome.h"

namespace tma_jit::cli {

struct Kernel {
  std::string name;
  std::vector<KernelInfo> files;  // at least one

  // Returns all names of one kind that any file declares.
  template <class Item> std::vector<std::string> names(std::vector<Item> KernelInfo::*items) const {
    std::vector<std::string> found;
    for (const KernelInfo& info : files) {
      for (const Item& item : info.*items)
        if (std::find(found.begin(), found.end(), item.name) == found.end()) found.push_back(item.name);
    }
    return found;
  }
  template <class Item> bool declares(std::vector<Item> KernelInfo::*items, std::string_view wanted) const {
    const std::vector<std::string> all = names(items);
    return std::find(all.begin(), all.end(), wanted) != all.end();
  }
};

// Returns e.g. "gemm_wgmma" for "templates/kernels/gemm_wgmma.cu".
std::string stem_of(const std::string& file);

// `word` is a kernel's name, or the path of a template file ending in ".cu", which is added to the engine. `stem`
// selects one file; empty: all.
[[nodiscard]] Outcome<Kernel> find_kernel(Engine& engine, const std::string& word, const std::string& stem);

}  // namespace tma_jit::cli
