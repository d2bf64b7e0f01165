// The verbs and options of the command line as data, of which the manual page and the shells' completions are made.
#pragma once

#include <string>
#include <vector>

namespace tma_jit::cli {

struct DeclaredArgument {
  std::string name, help;
  bool required = false, repeated = false;
};

struct DeclaredOption {
  std::vector<std::string> names;  // "-o", "--output"
  std::string value;               // what it takes, e.g. "TEXT"; empty for a flag
  std::string help;
};

struct DeclaredVerb {
  std::string name, help;
  std::vector<DeclaredArgument> arguments;
  std::vector<DeclaredOption> options;
  std::vector<DeclaredVerb> verbs;

  bool takes_kernel() const {
    for (const DeclaredArgument& argument : arguments)
      if (argument.name == "kernel" || argument.name == "kernels") return true;
    return false;
  }
};

}  // namespace tma_jit::cli
