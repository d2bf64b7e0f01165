// The manual page and the shells' completion scripts have what --help has, and the programs that read them accept them.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>
#include <string_view>

#include "command.h"

namespace tma_jit::cli {
namespace {

bool has_program(const std::string& name) {
  return std::system(("command -v " + name + " > /dev/null").c_str()) == 0;
}

std::string printed(const std::vector<std::string>& words) {
  const CommandResult result = run_command(words);
  REQUIRE(result.exit == 0);
  return result.out;
}

std::string written(const std::string& name, const std::string& text) {
  std::string path = (scratch_folder() / name).string();
  std::ofstream(path) << text;
  return path;
}

// Runs a line of bash; returns its exit code and what it printed, to both streams.
CommandResult bash(const std::string& line) {
  const std::string out = (scratch_folder() / "bash.out").string();
  const int status = std::system(("bash -c '" + line + "' > '" + out + "' 2>&1").c_str());
  std::ostringstream text;
  text << std::ifstream(out).rdbuf();
  return {status, text.str(), {}};
}

// The first words of the lines of --help below `heading`: verbs, or options.
std::vector<std::string> listed(const std::string& help, const std::string& heading) {
  std::vector<std::string> names;
  std::istringstream lines(help.substr(std::min(help.size(), help.find("\n" + heading + ":\n") + 1)));
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line) && line.starts_with("  ")) {
    std::istringstream words(line.substr(2, line.find(' ', 2) - 2));
    for (std::string name; std::getline(words, name, ',');) names.push_back(name);
  }
  return names;
}

std::string without_escapes(const std::string& page) {
  return std::regex_replace(page, std::regex(R"(\\f[BIR]|\\(?=-)|\\&)"), "");
}

std::string completed(const std::string& script, const std::vector<std::string>& words) {
  std::string line = "source " + script + "; COMP_WORDS=(" TMA_JIT_COMMAND;
  for (const std::string& word : words) line += " \"" + word + "\"";
  line += "); COMP_CWORD=" + std::to_string(words.size()) + "; _tma_jit; echo \"${COMPREPLY[@]}\"";
  const CommandResult result = bash(line);
  CHECK_MESSAGE(result.exit == 0, result.out);
  return result.out;
}

TEST_CASE("the manual page and every completion name each verb and option of --help") {
  const std::string page = without_escapes(printed({"help", "--man"})), fish = printed({"completion", "fish"});
  const std::string bash_script = printed({"completion", "bash"}), zsh = printed({"completion", "zsh"});
  const std::vector<std::string> verbs = listed(printed({"--help"}), "Subcommands");
  CHECK(verbs.size() > 12);
  for (const std::string& verb : verbs) {
    INFO(verb);
    CHECK(page.find(".SS \"tma-jit " + verb) != std::string::npos);
    for (const std::string& script : {bash_script, zsh, fish}) CHECK(script.find(verb) != std::string::npos);
    const std::vector<std::string> options = listed(printed({verb, "--help"}), "Options");
    CHECK_FALSE(options.empty());
    for (const std::string& option : options) {
      INFO(option);
      CHECK(page.find(option) != std::string::npos);
      CHECK(bash_script.find(" " + option) != std::string::npos);
      CHECK(zsh.find("'" + option + ":") != std::string::npos);
      CHECK(fish.find(option.starts_with("--") ? "-l " + option.substr(2) : "-s " + option.substr(1)) !=
            std::string::npos);
    }
  }
}

TEST_CASE("bash completes verbs, options, kernels, and leaves the values of options to file names") {
  if (!has_program("bash")) return;
  const std::string script = written("completion.bash", printed({"completion", "bash"}));
  CHECK(completed(script, {"do"}) == "doctor\n");
  CHECK(completed(script, {"cache", "un"}) == "unpack\n");
  CHECK(completed(script, {"cache", "trim", "--max"}) == "--max-entries --max-size\n");
  CHECK(completed(script, {"bench", "--host"}) == "--host-launches\n");
  CHECK(completed(script, {"run", "soft"}).find("softmax") != std::string::npos);
  CHECK(completed(script, {"cache", "explain", "layer_n"}).find("layer_norm") != std::string::npos);
  CHECK(completed(script, {"run", "copy", "--in", ""}) == "\n");
  CHECK(completed(script, {"doctor", "soft"}) == "\n");
}

TEST_CASE("zsh and fish can read their scripts") {
  for (const char* shell : {"zsh", "fish"}) {
    if (!has_program(shell)) continue;
    const std::string script = written(std::string("completion.") + shell, printed({"completion", shell}));
    const CommandResult read = bash(std::string(shell) + " -n " + script);
    CHECK_MESSAGE(read.exit == 0, read.out);
  }
}

TEST_CASE("man finds no fault in the manual page") {
  if (!has_program("man")) return;
  const std::string page = written("tma-jit.1", printed({"help", "--man"}));
  const CommandResult formatted = bash("LC_ALL=C man --warnings -l " + page + " 2>&1 > /dev/null");
  CHECK(formatted.out == "");
  CHECK(bash("LC_ALL=C man -l " + page + " | cat").out.find("EXIT STATUS") != std::string::npos);
}

TEST_CASE("another shell is refused") {
  const CommandResult refused = run_command({"completion", "tcsh"});
  CHECK(refused.exit == 2);
  CHECK(refused.err == "invalid_argument: completion \"tcsh\": expected bash, zsh or fish\n");
}

}  // namespace
}  // namespace tma_jit::cli
