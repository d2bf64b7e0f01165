// The command line: verbs with their options and arguments, which are declared in each verb's file and parsed here.
// Only command_line.cpp includes CLI11, whose headers are slow to compile.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "declared.h"
#include "outcome.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's
class App;
class Option;
}  // namespace CLI

namespace tma_jit::cli {

using Action = std::function<Outcome<int>()>;  // prints, and returns the exit code

// An option or argument of a verb. A handle: the command line owns the option.
class Option {
 public:
  explicit Option(CLI::Option* declared) : declared_(declared) {}

  Option required(bool yes = true);
  Option range(int least, int most);
  // Accepts a unit after the number: 500M, 2G.
  Option size_in_bytes();
  // Adds the variable's present value to the help.
  Option shows_default();
  Option needs(Option other);
  Option excludes(Option other);
  // May be given several times; the variable gets the values, separated by newlines.
  Option joined();
  // Replaces the help.
  Option help(const char* text);

 private:
  CLI::Option* declared_;
};

// A verb, or the command itself. A handle: the command line owns the verb. `names` are "--name", "-n,--name" or, of a
// positional argument, "name". A variable gets what the user gives, else keeps its value; it must live until the parse.
class Verb {
 public:
  Verb(CLI::App* declared, Action* chosen) : declared_(declared), chosen_(chosen) {}

  // A verb with verbs of its own needs one of them.
  Verb add_verb(const char* name, const char* help);
  // Makes a parse that finds this verb return `action`.
  void runs(Action action);

  Option flag(const char* names, bool& value, const char* help);
  Option flag(const char* names, std::optional<bool>& value, const char* help);  // unset unless given
  Option option(const char* names, std::string& value, const char* help);
  Option option(const char* names, int& value, const char* help);
  Option option(const char* names, unsigned& value, const char* help);
  Option option(const char* names, std::uint64_t& value, const char* help);
  Option option(const char* names, double& value, const char* help);
  // Takes every word that follows and is not an option.
  Option option(const char* names, std::vector<std::string>& values, const char* help);
  // Takes one value at each occurrence.
  Option repeated(const char* names, std::vector<std::string>& values, const char* help);

  // The option declared with this name; nullopt if there is none.
  std::optional<Option> find(const char* name);

 private:
  CLI::App* declared_;
  Action* chosen_;
};

class CommandLine {
 public:
  CommandLine(const char* name, const char* help, const char* footer);
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;
  ~CommandLine();

  // The command itself, to which verbs are added.
  Verb command();
  void set_version(const char* help, Action print);

  // Returns what the words ask for: the verb's action, or that of --help or --version. It is valid as long as this
  // object. Fails (usage) if a verb or option is unknown or a value cannot be read.
  [[nodiscard]] Outcome<Action> parse(int argc, char** argv);

  std::string help() const;
  DeclaredVerb declared() const;

 private:
  std::unique_ptr<CLI::App> app_;
  Action chosen_;
  Action version_;
};

}  // namespace tma_jit::cli
