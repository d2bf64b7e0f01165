#include "command_line.h"
#include "text.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <limits>
#include <type_traits>
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

// The verb that the command line names, below which there is none; `words` are those behind it.
struct NamedVerb {
  const CLI::App* app;
  std::string path;  // the verbs, e.g. "cache show"; empty: the command itself
  std::vector<std::string> words;
};

bool asks_for_text(const std::string& word) {
  return word == "-h" || word == "--help" || word == "--version";
}

// Finds the verb. Fails if a word in a verb's place is none, which CLI11 would not name.
Outcome<NamedVerb> find_verb(const CLI::App& app, std::vector<std::string> words) {
  NamedVerb named{&app, "", std::move(words)};
  while (true) {
    const std::vector<std::string> verbs = verb_names(*named.app);
    if (verbs.empty()) return named;
    const std::string before = named.path.empty() ? "" : named.path + ": ";
    const std::string known = fmt::format("verbs are {}", fmt::join(verbs, ", "));
    const std::string word = named.words.empty() ? "" : named.words.front();
    const bool has_verb = !word.empty() && !word.starts_with('-');
    if (!has_verb && std::any_of(named.words.begin(), named.words.end(), asks_for_text)) return named;
    if (word.empty()) return usage("{}no verb was given; {}", before, known);
    if (!has_verb) return usage("{}{} stands before the verb; options stand behind it", before, word);
    if (std::find(verbs.begin(), verbs.end(), word) == verbs.end())
      return unknown_name(usage("{}no verb is named \"{}\"; {}", before, word, known), word, verbs);
    named.app = named.app->get_subcommand(word);
    named.path += (named.path.empty() ? "" : " ") + word;
    named.words.erase(named.words.begin());
  }
}

std::vector<std::string> option_names(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

// Whether `word` is an option of this name with a value behind "=".
bool has_value_of(const std::string& word, const std::string& name) {
  return word.starts_with(name + "=");
}

tl::unexpected<Failure> unexpected_word(const NamedVerb& verb, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  if (!name.starts_with('-')) return usage("{}: the word \"{}\" is one too many", verb.path, word);
  std::vector<std::string> names;
  for (const CLI::Option* option : verb.app->get_options()) {
    for (const std::string& known : option->get_lnames()) names.push_back("--" + known);
  }
  auto failure = usage("{}: there is no option {}", verb.path, name);
  return name.starts_with("--") ? unknown_name(std::move(failure), name, names) : failure;
}

// An option without a value, or that was given twice.
tl::unexpected<Failure> mismatched(const NamedVerb& verb, const std::string& text) {
  const std::string name = text.substr(0, text.find(':'));
  const CLI::Option* const option = verb.app->get_option_no_throw(name);
  if (option == nullptr) return usage("{}: {}", verb.path, text);
  return option->count() > 1 ? usage("{}: {} is given twice", verb.path, name)
                             : usage("{}: {} needs a value", verb.path, name);
}

// A value that an option does not take. The values of options that have one are checked as Verb::option says.
tl::unexpected<Failure> unreadable(const NamedVerb& verb, const std::string& text) {
  for (const CLI::Option* option : verb.app->get_options()) {
    for (const std::string& name : option_names(*option)) {
      const auto given = [&](const std::string& word) { return has_value_of(word, name); };
      if (option->get_items_expected_max() == 0 && std::any_of(verb.words.begin(), verb.words.end(), given))
        return usage("{}: {} takes no value", verb.path, name);
    }
  }
  return usage("{}: {}", verb.path, text);
}

tl::unexpected<Failure> parse_failure(const CLI::App& app, const NamedVerb& verb, const CLI::ParseError& fault) {
  if (verb.path.empty()) return usage("{}", fault.what());
  const auto told = [&]() -> tl::unexpected<Failure> {
    const std::vector<std::string> left = app.remaining(true);
    if (dynamic_cast<const CLI::ExtrasError*>(&fault) != nullptr && !left.empty())
      return unexpected_word(verb, left.front());
    if (dynamic_cast<const CLI::ArgumentMismatch*>(&fault) != nullptr) return mismatched(verb, fault.what());
    if (dynamic_cast<const CLI::ConversionError*>(&fault) != nullptr) return unreadable(verb, fault.what());
    return usage("{}: {}", verb.path, fault.what());
  };
  auto failure = told();
  failure.value().error.detail = fmt::format("tma-jit {} --help says what it takes", verb.path);
  return failure;
}

// Returns a text of what is wrong with a value, or an empty one.
using Check = std::string (*)(std::string&);

std::string check_text(std::string& text) {
  return text.empty() ? "the value is empty" : "";
}

template <class Number> std::string check_number(std::string& text) {
  if (read_number<Number>(text)) return "";
  if constexpr (std::is_floating_point_v<Number>) return fmt::format("\"{}\" is not a number", text);
  return fmt::format("\"{}\" is not a whole number from {} to {}", text, std::numeric_limits<Number>::min(),
                     std::numeric_limits<Number>::max());
}

CLI::Option* checked(CLI::Option* option, Check check) {
  return option->check(CLI::Validator(check, ""));
}

// Replaces a size such as 500M or 2GiB, in powers of 1024, by its bytes.
std::string replace_size(std::string& text) {
  constexpr std::string_view kUnits = "KMGTPE";
  const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  std::string unit = text.substr(end);
  std::transform(unit.begin(), unit.end(), unit.begin(), [](unsigned char c) { return std::toupper(c); });
  const std::size_t at = unit.empty() ? std::string_view::npos : kUnits.find(unit.front());
  const unsigned shift = at == std::string_view::npos ? 0 : 10 * (static_cast<unsigned>(at) + 1);
  const std::string rest = shift == 0 ? unit : unit.substr(1);
  const auto number = read_number<std::uint64_t>(text.substr(0, end));
  const bool known = rest.empty() || rest == "B" || (shift > 0 && rest == "IB");
  if (!number || !known)
    return fmt::format("\"{}\" is not a size; write bytes, or a number with a unit: 500M, 2G", text);
  if (*number > std::numeric_limits<std::uint64_t>::max() >> shift)
    return fmt::format("\"{}\" is more bytes than fit into 64 bits", text);
  text = std::to_string(*number << shift);
  return "";
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
  // Before what is checked of every number.
  declared_->transform(CLI::Validator(
      [least, most](std::string& text) -> std::string {
        const auto value = read_number<int>(text);
        if (value && *value >= least && *value <= most) return "";
        return fmt::format("\"{}\" is not a whole number from {} to {}", text, least, most);
      },
      fmt::format("{} to {}", least, most)));
  return *this;
}

Option Option::size_in_bytes() {
  declared_->transform(CLI::Validator(replace_size, ""));
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
  return Option(checked(declared_->add_option(names, value, help), check_text));
}

Option Verb::option(const char* names, int& value, const char* help) {
  return Option(checked(declared_->add_option(names, value, help), check_number<int>));
}

Option Verb::option(const char* names, unsigned& value, const char* help) {
  return Option(checked(declared_->add_option(names, value, help), check_number<unsigned>));
}

Option Verb::option(const char* names, std::uint64_t& value, const char* help) {
  return Option(checked(declared_->add_option(names, value, help), check_number<std::uint64_t>));
}

Option Verb::option(const char* names, double& value, const char* help) {
  return Option(checked(declared_->add_option(names, value, help), check_number<double>));
}

Option Verb::option(const char* names, std::vector<std::string>& values, const char* help) {
  return Option(checked(declared_->add_option(names, values, help), check_text));
}

Option Verb::repeated(const char* names, std::vector<std::string>& values, const char* help) {
  return Option(checked(declared_->add_option(names, values, help)->allow_extra_args(false), check_text));
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
  CLI_ASSIGN(const NamedVerb verb, find_verb(*app_, {argv + std::min(argc, 1), argv + argc}));
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
    return parse_failure(*app_, verb, fault);
  }
  return chosen_;
}

}  // namespace tma_jit::cli
