// Completion of the command's words in a shell: scripts that a shell sources, made of the declared verbs and options.
// A script calls the command itself only for the names of kernels.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "declared.h"

namespace tma_jit::cli {

std::string bash_completion(const DeclaredVerb& command);
std::string zsh_completion(const DeclaredVerb& command);
std::string fish_completion(const DeclaredVerb& command);

// A verb and the words that select it: "" for the command itself, "cache ls" for a verb of a verb.
struct VerbPath {
  std::string words;
  const DeclaredVerb* verb;
};

// The command and all verbs below it; the paths point into `command`.
std::vector<VerbPath> verb_paths(const DeclaredVerb& command);
// Returns the names of the verbs that have verbs.
std::string verbs_with_verbs(const DeclaredVerb& command, std::string_view separator);
// Returns the text as one word of a shell, in single quotes. `quote` is how that shell writes a quote within them.
std::string quoted(std::string_view text, std::string_view quote);

}  // namespace tma_jit::cli
