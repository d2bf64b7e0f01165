#include <fmt/format.h>

#include "completion.h"

namespace tma_jit::cli {
namespace {

constexpr const char* kScript = R"script(# fish completion of tma-jit, as `tma-jit completion fish` prints it.
function __tma_jit_at # whether the selected verb is $argv; of two words after a verb that has verbs
  set -l words (commandline --tokenize --current-process --cut-at-cursor) ''
  set -l verb $words[2]
  contains -- "$verb" {above}; and set verb (string trim -- "$verb $words[3]")
  test "$verb" = "$argv"
end
function __tma_jit_kernels
  tma-jit list --quiet 2> /dev/null | string match --regex '^\\S+'
end
)script";

void add_line(std::string& script, const VerbPath& path, const std::string& what) {
  script += fmt::format("complete -c tma-jit -n '__tma_jit_at {}' {}\n", path.words, what);
}

std::string help_text(const std::string& help) {
  std::string escaped;  // a backslash escapes within fish's single quotes
  for (const char c : help) escaped += c == '\\' ? "\\\\" : std::string(1, c);
  return "-d " + quoted(escaped, "\\'");
}

void add_option(std::string& script, const VerbPath& path, const DeclaredOption& option) {
  std::string what;
  for (const std::string& name : option.names)
    what += name.starts_with("--") ? "-l " + name.substr(2) + " " : "-s " + name.substr(1) + " ";
  add_line(script, path, what + (option.value.empty() ? "" : "-r ") + help_text(option.help));
}

}  // namespace

std::string fish_completion(const DeclaredVerb& command) {
  std::string script = fmt::format(kScript, fmt::arg("above", verbs_with_verbs(command, " ")));
  for (const VerbPath& path : verb_paths(command)) {
    for (const DeclaredVerb& verb : path.verb->verbs)
      add_line(script, path, "-f -a " + verb.name + " " + help_text(verb.help));
    if (path.verb->takes_kernel()) add_line(script, path, "-a '(__tma_jit_kernels)' -d kernel");
    for (const DeclaredOption& option : path.verb->options) add_option(script, path, option);
  }
  return script;
}

}  // namespace tma_jit::cli
