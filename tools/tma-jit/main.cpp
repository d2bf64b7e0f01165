// tma-jit: the command. Parses the command line, runs one verb, prints its error and returns its exit code.
#include <fcntl.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tma_jit/compile_worker.h>

#include <CLI/CLI.hpp>

#include "verbs.h"
#include "version.h"

namespace tma_jit::cli {
namespace {

std::vector<std::string> names_below(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(verb->get_name());
  return names;
}

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
  add_tune(app, invocation);
  add_warm(app, invocation);
  add_cache(app, invocation);
  app.add_subcommand("help", "what a verb does and takes: VERB --help");
}

// Returns the error for an unknown verb, which CLI11 would report as an unexpected argument; nullopt if it is known or
// an option.
std::optional<Error> unknown_verb(const CLI::App& app, int argc, char** argv) {
  const std::vector<std::string> verbs = names_below(app);
  const std::string first = argc > 1 ? argv[1] : "";
  if (first.starts_with('-') || std::find(verbs.begin(), verbs.end(), first) != verbs.end()) return std::nullopt;
  const std::string known = fmt::format("verbs are {}", fmt::join(verbs, ", "));
  if (first.empty()) return Error{ErrorCode::invalid_argument, "no verb was given; " + known};
  return unknown_name(usage("no verb is named \"{}\"; {}", first, known), first, verbs).value().error;
}

Error usage_error(const CLI::ParseError& fault, int argc, char** argv) {
  const std::string first = argc > 1 && argv[1][0] != '-' ? argv[1] : "";
  if (first.empty()) return {ErrorCode::invalid_argument, fault.what()};
  return {ErrorCode::invalid_argument, fmt::format("{}: {}", first, fault.what()),
          fmt::format("tma-jit {} --help says what it takes", first)};
}

bool has_word(int argc, char** argv, std::string_view word) {
  return std::any_of(argv + 1, argv + argc, [&](const char* given) { return given == word; });
}

// Converts `help VERB` to `VERB --help`, and `help` to `--help`.
std::vector<char*> words_of(int argc, char** argv) {
  static char option[] = "--help";
  std::vector<char*> words(argv, argv + argc);
  if (argc < 2 || std::string_view(argv[1]) != "help") return words;
  words.erase(words.begin() + 1);
  words.push_back(option);
  return words;
}

int parse_and_run(int argc, char** argv) {
  CLI::App app("TMA kernels from templates, compiled when they are needed.", "tma-jit");
  app.require_subcommand(1);
  app.set_version_flag("--version", "", "library, compiler and cache format; --json as an object");
  app.footer("Exit codes: 0 done, 1 failed, 2 the command line is wrong. tma-jit VERB --help says more.");
  Invocation invocation;
  add_verbs(app, invocation);
  Console& console = invocation.settings.console;
  const auto refused = [&](const Error& error) {
    console.json = has_word(argc, argv, "--json");
    console.error(error);
    return kUsage;
  };
  if (const auto unknown = unknown_verb(app, argc, argv)) return refused(*unknown);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::CallForVersion&) {
    console.json = has_word(argc, argv, "--json");
    return print_version(console);
  } catch (const CLI::ParseError& fault) {
    return refused(usage_error(fault, argc, argv));
  }
  const Outcome<int> outcome = invocation.run();
  if (outcome) return *outcome;
  console.error(outcome.error().error);
  return outcome.error().exit;
}

}  // namespace

// Opens closed standard descriptors, so that no file gets their number and thereby the program's output. Ignores
// SIGXFSZ, so that exceeding a file's size limit is an error instead of a signal.
void prepare_process() {
  for (int standard = 0; standard <= 2; ++standard) {
    if (::fcntl(standard, F_GETFD) == -1) (void)::open("/dev/null", O_RDWR);
  }
  ::signal(SIGXFSZ, SIG_IGN);
}

int written_whole(int status) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  std::fprintf(stderr, "tma-jit: cannot write the output: %s\n", std::strerror(errno));
  return kFailed;
}

}  // namespace tma_jit::cli

int main(int argc, char** argv) {
  try {
    tma_jit::cli::prepare_process();
    if (const auto status = tma_jit::run_compile_worker(argc, argv)) return *status;
    std::vector<char*> words = tma_jit::cli::words_of(argc, argv);
    return tma_jit::cli::written_whole(tma_jit::cli::parse_and_run(static_cast<int>(words.size()), words.data()));
  } catch (const std::exception& fault) {  // out of memory, or a defect: reported as an error
    std::fprintf(stderr, "tma-jit: %s\n", fault.what());
    return tma_jit::cli::kFailed;
  }
}
