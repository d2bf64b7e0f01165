#include "console.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include <tma_jit/json.h>

#include "progress.h"

namespace tma_jit::cli {
namespace {

// The codes of SGR, ECMA-48: bold red and bold yellow.
constexpr const char* kRed = "1;31";
constexpr const char* kYellow = "1;33";

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

// Colours only a terminal's stderr, and none where NO_COLOR has a value (no-color.org) or the terminal has no colours.
bool has_colours() {
  const char* terminal = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) == 1 && !is_set("NO_COLOR") && terminal != nullptr &&
         std::string_view(terminal) != "dumb";
}

std::string coloured(std::string_view text, const char* colour) {
  return has_colours() ? fmt::format("\x1b[{}m{}\x1b[0m", colour, text) : std::string(text);
}

}  // namespace

void Console::write_note(std::string_view text) {
  Progress::erase();
  fmt::print(stderr, "{} {}\n", coloured("note:", kYellow), text);
}

void Console::write(std::string_view text) {
  Progress::erase();
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void Console::object(const Json& value) const {
  if (!json) return;
  // Replaces bytes that are not valid UTF-8, as in a file name or a compiler's log, instead of throwing.
  write(value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

void Console::tell(const Error& error) const {
  const std::string text = error.text();
  std::fflush(stdout);
  Progress::erase();
  const std::size_t code = std::min(text.find(':'), text.size());
  fmt::print(stderr, "{}{}{}", coloured(text.substr(0, code), kRed), text.substr(code),
             text.ends_with('\n') ? "" : "\n");
}

void Console::error(const Error& error) const {
  tell(error);
  object(Json{{"error", to_json(error)}});
}

Json to_json(const Error& error) {
  return parse_json(json_of(error));
}

}  // namespace tma_jit::cli
