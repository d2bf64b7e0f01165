#include "list_file.h"

#include <sstream>

#include "input_text.h"

namespace tma_jit::cli {

Outcome<void> read_list(const std::string& path, std::vector<ListEntry>& entries) {
  CLI_ASSIGN(std::string whole, read_text(path));
  std::istringstream lines(std::move(whole));
  std::string text;
  for (int number = 1; std::getline(lines, text); ++number) {
    const std::size_t first = text.find_first_not_of(" \t\r");
    if (first == std::string::npos || text[first] == '#') continue;
    auto line = parse_warm_line(text);
    if (!line) return failed(ErrorCode::parse, "{}:{}: {}", path, number, line.error().line());
    entries.push_back({std::move(*line), fmt::format("{}:{}", path, number)});
  }
  return {};
}

}  // namespace tma_jit::cli
