#include "console.h"

#include <tma_jit/json.h>

namespace tma_jit::cli {

void Console::write(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void Console::object(const Json& value) const {
  if (!json) return;
  // Replaces bytes that are not valid UTF-8, as in a file name or a compiler's log, instead of throwing.
  write(value.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

void Console::error(const Error& error) const {
  const std::string text = error.text();
  std::fflush(stdout);
  fmt::print(stderr, "{}{}", text, text.ends_with('\n') ? "" : "\n");
  object(Json{{"error", to_json(error)}});
}

Json to_json(const Error& error) {
  return parse_json(json_of(error));
}

}  // namespace tma_jit::cli
