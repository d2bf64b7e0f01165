#include <fmt/format.h>

#include "completion.h"

namespace tma_jit::cli {
namespace {

// The selected verb is the first word, and the second one too after a verb that has verbs. Where nothing is listed,
// `-o default` has bash complete file names.
constexpr const char* kScript = R"script(# bash completion of tma-jit, as `tma-jit completion bash` prints it.
_tma_jit() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} verb='' words='' valued='' kernel=''
  ((COMP_CWORD > 1)) && verb=${{COMP_WORDS[1]}}
  case $verb in
    {above}) ((COMP_CWORD > 2)) && verb+=" ${{COMP_WORDS[2]}}" ;;
  esac
  case $verb in
{cases}  esac
  COMPREPLY=()
  [[ " $valued " != *" $before "* ]] || return 0
  [[ -z $kernel || $word == -* ]] || words+=" $("${{COMP_WORDS[0]}}" list --quiet 2> /dev/null | cut -d ' ' -f 1)"
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word" | sort -u)
}}
complete -o default -F _tma_jit tma-jit
)script";

std::string case_of(const VerbPath& path) {
  std::string words, valued;
  for (const DeclaredVerb& verb : path.verb->verbs) words += " " + verb.name;
  for (const DeclaredOption& option : path.verb->options) {
    for (const std::string& name : option.names) {
      words += " " + name;
      if (!option.value.empty()) valued += " " + name;
    }
  }
  return fmt::format("    \"{}\") words=\"{}\" valued=\"{}\" kernel={} ;;\n", path.words, words, valued,
                     path.verb->takes_kernel() ? "1" : "");
}

}  // namespace

std::string bash_completion(const DeclaredVerb& command) {
  std::string cases;
  for (const VerbPath& path : verb_paths(command)) cases += case_of(path);
  return fmt::format(kScript, fmt::arg("above", verbs_with_verbs(command, " | ")), fmt::arg("cases", cases));
}

}  // namespace tma_jit::cli
