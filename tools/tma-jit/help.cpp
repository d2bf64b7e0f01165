// tma-jit help: what a verb takes, which is also `VERB --help`, or the manual page.
#include <memory>

#include <tma_jit/version.h>

#include "manual_page.h"
#include "verbs.h"

namespace tma_jit::cli {

void add_help(CommandLine& line, Settings& settings) {
  Verb verb = line.command().add_verb("help", "what a verb does and takes: VERB --help");
  auto manual = std::make_shared<bool>(false);
  verb.flag("--man", *manual, "print the manual page as troff source");
  verb.runs([&line, &settings, manual]() -> Outcome<int> {
    settings.console.result("{}", *manual ? manual_page(line.declared(), version().library) : line.help());
    return kDone;
  });
}

}  // namespace tma_jit::cli
