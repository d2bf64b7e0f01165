// tma-jit: the command. Parses the line, runs one verb, prints its error and ends with its exit code.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <string_view>
#include <vector>

#include <tma_jit/compile_worker.h>

#include "text.h"
#include "verbs.h"

namespace tma_jit::cli {
namespace {

void add_verbs(CLI::App& app, Invocation& invocation) {
  add_doctor(app, invocation);
  add_list(app, invocation);
  add_show(app, invocation);
  add_plan(app, invocation);
  add_emit(app, invocation);
  add_build(app, invocation);
  add_run(app, invocation);
  add_bench(app, invocation);
  add_check(app, invocation);
  add_warm(app, invocation);
  add_cache(app, invocation);
}

std::vector<std::string> names_below(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(verb->get_name());
  return names;
}

// CLI11 calls an unknown verb "an argument that was not expected". Say what it is, and what was probably meant.
Error usage_error(const CLI::App& app, const CLI::ParseError& fault, int argc, char** argv) {
  const std::vector<std::string> verbs = names_below(app);
  const std::string first = argc > 1 ? argv[1] : "";
  const bool known = std::find(verbs.begin(), verbs.end(), first) != verbs.end();
  std::string message;
  if (first.empty()) {
    message = fmt::format("no verb was given; verbs are {}", fmt::join(verbs, ", "));
  } else if (!known && !first.starts_with('-')) {
    message =
        fmt::format("no verb is named \"{}\"; verbs are {}{}", first, fmt::join(verbs, ", "), suggestion(first, verbs));
  } else {
    message = fmt::format("{}{}", known ? first + ": " : "", fault.what());
  }
  return {ErrorCode::invalid_argument, message,
          known ? fmt::format("tma-jit {} --help says what it takes", first) : ""};
}

int parse_and_run(int argc, char** argv) {
  CLI::App app("TMA kernels from templates, compiled when they are needed.", "tma-jit");
  app.require_subcommand(1);
  app.footer("Exit codes: 0 done, 1 failed, 2 the command line is wrong. tma-jit VERB --help says more.");
  Invocation invocation;
  add_verbs(app, invocation);
  Console& console = invocation.settings.console;
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& fault) {
    console.json = std::any_of(argv, argv + argc, [](const char* word) { return std::string_view(word) == "--json"; });
    console.error(usage_error(app, fault, argc, argv));
    return kUsage;
  }
  const Outcome<int> outcome = invocation.run();
  if (outcome) return *outcome;
  console.error(outcome.error().error);
  return outcome.error().exit;
}

}  // namespace
}  // namespace tma_jit::cli

int main(int argc, char** argv) {
  try {
    if (const auto status = tma_jit::run_compile_worker(argc, argv)) return *status;
    return tma_jit::cli::parse_and_run(argc, argv);
  } catch (const std::exception& fault) {  // out of memory, or a defect: said, never a crash
    std::fprintf(stderr, "tma-jit: %s\n", fault.what());
    return tma_jit::cli::kFailed;
  }
}
