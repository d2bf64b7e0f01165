#include "command_line.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include <CLI/CLI.hpp>

namespace tma_jit::cli {
namespace {

std::vector<std::string> verb_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(verb->get_name());
  return names;
}

// Fails if the first word is neither a verb nor an option, which CLI11 would report as an unexpected argument.
Outcome<void> check_verb(const CLI::App& app, const std::string& first) {
  const std::vector<std::string> verbs = verb_names(app);
  if (first.starts_with('-') || std::find(verbs.begin(), verbs.end(), first) != verbs.end()) return {};
  const std::string known = fmt::format("verbs are {}", fmt::join(verbs, ", "));
  if (first.empty()) return usage("no verb was given; {}", known);
  return unknown_name(usage("no verb is named \"{}\"; {}", first, known), first, verbs);
}

tl::unexpected<Failure> parse_failure(const CLI::ParseError& fault, const std::string& first) {
  if (first.empty() || first.starts_with('-')) return usage("{}", fault.what());
  auto failure = usage("{}: {}", first, fault.what());
  failure.value().error.detail = fmt::format("tma-jit {} --help says what it takes", first);
  return failure;
}

std::vector<std::string> option_names(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

DeclaredVerb declared_verb(const CLI::App& app) {
  DeclaredVerb verb{app.get_name(), app.get_description(), {}, {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    const bool repeated = option->get_expected_max() > 1;
    const std::string value = option->get_type_size() == 0 ? "" : option->get_type_name();
    if (option->get_positional()) {
      verb.arguments.push_back({option->get_name(), option->get_description(), option->get_required(), repeated});
    } else {
      verb.options.push_back({option_names(*option), value, option->get_description()});
    }
  }
  for (const CLI::App* below : app.get_subcommands([](const CLI::App*) { return true; }))
    verb.verbs.push_back(declared_verb(*below));
  return verb;
}

}  // namespace

Option Option::required(bool yes) {
  declared_->required(yes);
  return *this;
}

Option Option::range(int least, int most) {
  declared_->check(CLI::Range(least, most));
  return *this;
}

Option Option::size_in_bytes() {
  declared_->transform(CLI::AsSizeValue(false));
  return *this;
}

Option Option::shows_default() {
  declared_->capture_default_str();
  return *this;
}

Option Option::needs(Option other) {
  declared_->needs(other.declared_);
  return *this;
}

Option Option::excludes(Option other) {
  declared_->excludes(other.declared_);
  return *this;
}

Option Option::joined() {
  declared_->multi_option_policy(CLI::MultiOptionPolicy::Join)->delimiter('\n');
  return *this;
}

Option Option::help(const char* text) {
  declared_->description(text);
  return *this;
}

Verb Verb::add_verb(const char* name, const char* help) {
  declared_->require_subcommand(1);
  return {declared_->add_subcommand(name, help), chosen_};
}

void Verb::runs(Action action) {
  declared_->callback([chosen = chosen_, action = std::move(action)] { *chosen = action; });
}

Option Verb::flag(const char* names, bool& value, const char* help) {
  return Option(declared_->add_flag(names, value, help));
}

Option Verb::flag(const char* names, std::optional<bool>& value, const char* help) {
  return Option(declared_->add_flag_callback(
      names, [&value] { value = true; }, help));
}

Option Verb::option(const char* names, std::string& value, const char* help) {
  return Option(declared_->add_option(names, value, help));
}

Option Verb::option(const char* names, int& value, const char* help) {
  return Option(declared_->add_option(names, value, help));
}

Option Verb::option(const char* names, unsigned& value, const char* help) {
  return Option(declared_->add_option(names, value, help));
}

Option Verb::option(const char* names, std::uint64_t& value, const char* help) {
  return Option(declared_->add_option(names, value, help));
}

Option Verb::option(const char* names, double& value, const char* help) {
  return Option(declared_->add_option(names, value, help));
}

Option Verb::option(const char* names, std::vector<std::string>& values, const char* help) {
  return Option(declared_->add_option(names, values, help));
}

Option Verb::repeated(const char* names, std::vector<std::string>& values, const char* help) {
  return Option(declared_->add_option(names, values, help)->allow_extra_args(false));
}

std::optional<Option> Verb::find(const char* name) {
  CLI::Option* option = declared_->get_option_no_throw(name);
  if (option == nullptr) return std::nullopt;
  return Option(option);
}

CommandLine::CommandLine(const char* name, const char* help, const char* footer)
    : app_(std::make_unique<CLI::App>(help, name)) {
  app_->footer(footer);
}

CommandLine::~CommandLine() = default;

Verb CommandLine::command() {
  return {app_.get(), &chosen_};
}

void CommandLine::set_version(const char* help, Action print) {
  app_->set_version_flag("--version", "", help);
  version_ = std::move(print);
}

std::string CommandLine::help() const {
  return app_->help();
}

DeclaredVerb CommandLine::declared() const {
  return declared_verb(*app_);
}

Outcome<Action> CommandLine::parse(int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "";
  CLI_CHECK(check_verb(*app_, first));
  try {
    app_->parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return [this]() -> Outcome<int> {
      fmt::print("{}", help());
      return kDone;
    };
  } catch (const CLI::CallForVersion&) {
    return version_;
  } catch (const CLI::ParseError& fault) {
    return parse_failure(fault, first);
  }
  return chosen_;
}

}  // namespace tma_jit::cli
