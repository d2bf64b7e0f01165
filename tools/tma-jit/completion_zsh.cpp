#include <fmt/format.h>

#include "completion.h"

namespace tma_jit::cli {
namespace {

constexpr const char* kScript = R"script(#compdef tma-jit
# zsh completion of tma-jit, as `tma-jit completion zsh` prints it.
_tma_jit() {{
  local verb='' kernel='' valued=''
  local -a verbs options kernels
  ((CURRENT > 2)) && verb=$words[2]
  case $verb in
    {above}) ((CURRENT > 3)) && verb+=" $words[3]" ;;
  esac
  case $verb in
{cases}  esac
  if [[ " $valued " == *" $words[CURRENT - 1] "* ]]; then
    _files
  elif [[ $words[CURRENT] == -* ]]; then
    _describe -o option options
  elif (($#verbs)); then
    _describe verb verbs
  else
    [[ -z $kernel ]] || kernels=(${{(uf)"$($words[1] list --quiet 2> /dev/null | cut -d ' ' -f 1)"}})
    (($#kernels)) && compadd -a kernels
    _files
  fi
}}
if [[ $funcstack[1] == _tma_jit ]]; then _tma_jit; else compdef _tma_jit tma-jit; fi
)script";

// Returns a candidate of _describe: NAME:HELP, quoted.
std::string described(const std::string& name, const std::string& help) {
  return " " + quoted(name + ":" + help, "'\\''");
}

std::string case_of(const VerbPath& path) {
  std::string verbs, options, valued;
  for (const DeclaredVerb& verb : path.verb->verbs) verbs += described(verb.name, verb.help);
  for (const DeclaredOption& option : path.verb->options) {
    for (const std::string& name : option.names) {
      options += described(name, option.help);
      if (!option.value.empty()) valued += " " + name;
    }
  }
  return fmt::format("    \"{}\") verbs=({} ) options=({} ) valued=\"{}\" kernel={} ;;\n", path.words, verbs, options,
                     valued, path.verb->takes_kernel() ? "1" : "");
}

}  // namespace

std::string zsh_completion(const DeclaredVerb& command) {
  std::string cases;
  for (const VerbPath& path : verb_paths(command)) cases += case_of(path);
  return fmt::format(kScript, fmt::arg("above", verbs_with_verbs(command, " | ")), fmt::arg("cases", cases));
}

}  // namespace tma_jit::cli
