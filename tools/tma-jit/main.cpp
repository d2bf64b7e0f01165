// tma-jit: the command. Parses the command line, runs one verb, prints its error and returns its exit code.
#include <fcntl.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include <tma_jit/compile_worker.h>

#include "verbs.h"
#include "version.h"

namespace tma_jit::cli {
namespace {

struct VerbEntry {
  std::string_view name;
  void (*add)(Verb command, Settings& settings);
};

// Those whose declarations do not depend on the others.
constexpr VerbEntry kVerbs[] = {
    {"doctor", add_doctor},     {"list", add_list},         {"show", add_show},   {"plan", add_plan},
    {"emit", add_emit},         {"build", add_build},       {"run", add_run},     {"bench", add_bench},
    {"estimate", add_estimate}, {"check", add_check},       {"tune", add_tune},   {"report", add_report},
    {"warm", add_warm},         {"manifest", add_manifest}, {"cache", add_cache},
};

// Adds only the verb that `word` names, so that a start does not declare the options of the others; all verbs if it
// names none of these.
void add_verbs(CommandLine& line, Settings& settings, std::string_view word) {
  const bool one = std::ranges::find(kVerbs, word, &VerbEntry::name) != std::end(kVerbs);
  for (const VerbEntry& verb : kVerbs) {
    if (!one || verb.name == word) verb.add(line.command(), settings);
  }
  if (one) return;
  add_completion(line, settings);
  add_help(line, settings);
}

bool has_word(int argc, char** argv, std::string_view word) {
  return std::any_of(argv + 1, argv + argc, [&](const char* given) { return given == word; });
}

// Converts `help VERB` to `VERB --help`, and `help` to `--help`; not `help --man`.
std::vector<char*> words_of(int argc, char** argv) {
  static char option[] = "--help";
  std::vector<char*> words(argv, argv + argc);
  if (argc < 2 || std::string_view(argv[1]) != "help" || has_word(argc, argv, "--man")) return words;
  words.erase(words.begin() + 1);
  words.push_back(option);
  return words;
}

int report(const Console& console, const Failure& failure) {
  console.error(failure.error);
  return failure.exit;
}

int parse_and_run(int argc, char** argv) {
  const bool json = has_word(argc, argv, "--json");  // for what ends the parse before the option has its value
  Settings settings;
  Console& console = settings.console;
  CommandLine line("tma-jit", "TMA kernels from templates, compiled when they are needed.",
                   "Exit codes: 0 done, 1 failed, 2 the command line is wrong. tma-jit VERB --help says more.");
  line.set_version("library, compiler and cache format; --json as an object", [&] {
    console.json = json;
    return print_version(console);
  });
  add_verbs(line, settings, argc > 1 ? argv[1] : "");
  const auto action = line.parse(argc, argv);
  if (!action) {
    console.json = json;
    return report(console, action.error());
  }
  const auto outcome = (*action)();
  return outcome ? *outcome : report(console, outcome.error());
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
