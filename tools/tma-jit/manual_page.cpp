#include "manual_page.h"

#include <fmt/format.h>

namespace tma_jit::cli {
namespace {

// Escapes what troff would read as its own: a backslash, a hyphen that must stay one, and a first "." or "'".
std::string escaped(std::string_view text) {
  std::string out;
  if (text.starts_with('.') || text.starts_with('\'')) out = "\\&";
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

std::string bold(std::string_view text) {
  return "\\fB" + escaped(text) + "\\fR";
}

std::string italic(std::string_view text) {
  return "\\fI" + escaped(text) + "\\fR";
}

std::string synopsis(const DeclaredVerb& verb, const std::string& path) {
  std::string out = bold(path);
  for (const DeclaredArgument& argument : verb.arguments) {
    const std::string name = italic(argument.name) + (argument.repeated ? "..." : "");
    out += argument.required ? " " + name : " [" + name + "]";
  }
  return out;
}

void add_item(std::string& page, const std::string& head, std::string_view help) {
  page += ".TP\n" + head + "\n" + escaped(help) + "\n";
}

void add_option(std::string& page, const DeclaredOption& option) {
  std::string head;
  for (const std::string& name : option.names) head += (head.empty() ? "" : ", ") + bold(name);
  if (!option.value.empty()) head += " " + italic(option.value);
  add_item(page, head, option.help);
}

void add_verb(std::string& page, const DeclaredVerb& verb, const std::string& above) {
  const std::string path = above + " " + verb.name;
  page += ".SS \"" + synopsis(verb, path) + "\"\n" + escaped(verb.help) + "\n";
  for (const DeclaredArgument& argument : verb.arguments) add_item(page, italic(argument.name), argument.help);
  for (const DeclaredOption& option : verb.options) add_option(page, option);
  for (const DeclaredVerb& below : verb.verbs) add_verb(page, below, path);
}

}  // namespace

std::string manual_page(const DeclaredVerb& command, std::string_view version) {
  std::string page = fmt::format(".TH TMA\\-JIT 1 \"\" \"tma\\-jit {}\" \"User Commands\"\n", escaped(version));
  page += fmt::format(".SH NAME\n{} \\- {}\n", escaped(command.name), escaped(command.help));
  page += fmt::format(".SH SYNOPSIS\n{} {} [{}] [{}]\n", bold(command.name), italic("VERB"), italic("WORDS"),
                      italic("OPTIONS"));
  page += ".SH OPTIONS\n";
  for (const DeclaredOption& option : command.options) add_option(page, option);
  page += ".SH VERBS\n";
  for (const DeclaredVerb& verb : command.verbs) add_verb(page, verb, command.name);
  page += ".SH EXIT STATUS\n";
  add_item(page, bold("0"), "done");
  add_item(page, bold("1"), "failed");
  add_item(page, bold("2"), "the command line is wrong");
  return page;
}

}  // namespace tma_jit::cli
