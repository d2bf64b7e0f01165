// The kernel a command names: every template file that declares it, and what their declarations say in text.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <tma_jit/engine.h>

#include "outcome.h"

namespace tma_jit::cli {

struct Kernel {
  std::string name;
  std::vector<KernelInfo> files;  // at least one

  // All the names of one sort that any file declares.
  using Items = std::vector<KernelInfo::Item> KernelInfo::*;
  std::vector<std::string> names(Items items) const;
  bool declares(Items items, std::string_view wanted) const;
  // The declarations of a tensor or hook, one a file that has it.
  std::vector<std::string> declarations(Items items, std::string_view wanted) const;
};

// "gemm" of "templates/kernels/gemm.cu"
std::string stem_of(const std::string& file);

// `word` is a kernel's name, or the path of a template file ending in ".cu", which is added to the engine. `stem`
// narrows the files to one; empty: all.
Outcome<Kernel> find_kernel(Engine& engine, const std::string& word, const std::string& stem);

// What one tensor's declaration says of its type and shape: T[M, K + 1] -> "T", {"M", "K + 1"}.
struct TensorDeclaration {
  std::string type;
  std::vector<std::string> shape;
};
std::optional<TensorDeclaration> read_tensor(std::string_view declaration);

// The names in the `when` of a tensor, or of one parameter of a hook; empty when it has none.
std::vector<std::string> names_in_tensor_when(std::string_view declaration);
std::map<std::string, std::vector<std::string>> names_in_hook_whens(std::string_view declaration);

// A text for every hook that has none of its own: its first argument, so that the kernel can be built and proved.
std::map<std::string, std::string> placeholder_hooks(const Kernel& kernel);

}  // namespace tma_jit::cli
