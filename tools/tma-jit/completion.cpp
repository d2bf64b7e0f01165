// tma-jit completion: prints a shell's completion script.
#include "completion.h"

#include <memory>

#include "verbs.h"

namespace tma_jit::cli {
namespace {

void add_paths(std::vector<VerbPath>& paths, const DeclaredVerb& verb, const std::string& words) {
  paths.push_back({words, &verb});
  for (const DeclaredVerb& below : verb.verbs)
    add_paths(paths, below, words.empty() ? below.name : words + " " + below.name);
}

Outcome<int> completion(const Console& console, const DeclaredVerb& command, const std::string& shell) {
  if (shell == "bash") {
    console.result("{}", bash_completion(command));
  } else if (shell == "zsh") {
    console.result("{}", zsh_completion(command));
  } else if (shell == "fish") {
    console.result("{}", fish_completion(command));
  } else {
    return usage("completion \"{}\": expected bash, zsh or fish", shell);
  }
  return kDone;
}

}  // namespace

std::vector<VerbPath> verb_paths(const DeclaredVerb& command) {
  std::vector<VerbPath> paths;
  add_paths(paths, command, "");
  return paths;
}

std::string verbs_with_verbs(const DeclaredVerb& command, std::string_view separator) {
  std::string names;
  for (const DeclaredVerb& verb : command.verbs) {
    if (!verb.verbs.empty()) names.append(names.empty() ? "" : separator).append(verb.name);
  }
  return names;
}

std::string quoted(std::string_view text, std::string_view quote) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += quote;
    } else {
      out += c;
    }
  }
  return out + "'";
}

void add_completion(CommandLine& line, Settings& settings) {
  Verb verb = line.command().add_verb("completion", "a script that completes this command's words in a shell");
  auto shell = std::make_shared<std::string>();
  verb.option("shell", *shell, "bash, zsh or fish").required();
  verb.runs([&line, &settings, shell] { return completion(settings.console, line.declared(), *shell); });
}

}  // namespace tma_jit::cli
