#include "list_file.h"

#include <sstream>

#include "input_text.h"
#include "text.h"

namespace tma_jit::cli {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // of UTF-8, as some editors write it

}  // namespace

Error placed_at(const std::string& place, Error error) {
  if (!place.empty()) error.message = fmt::format("{}: {}", place, error.message);
  return error;
}

Outcome<std::vector<ListedLine>> listed_lines(const std::string& path) {
  CLI_ASSIGN(std::string whole, read_text(path));
  if (whole.starts_with(kByteOrderMark)) whole.erase(0, kByteOrderMark.size());
  std::istringstream stream(std::move(whole));
  std::vector<ListedLine> lines;
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    const std::string_view text = trimmed(line);
    if (!text.empty() && !text.starts_with('#')) lines.push_back({number, std::string(text)});
  }
  return lines;
}

Outcome<void> read_list(const std::string& path, std::vector<ListEntry>& entries) {
  CLI_ASSIGN(const std::vector<ListedLine> lines, listed_lines(path));
  for (const ListedLine& one : lines) {
    auto line = parse_warm_line(one.text);
    if (!line) return failed(ErrorCode::parse, "{}:{}: {}", path, one.number, line.error().line());
    entries.push_back({std::move(*line), fmt::format("{}:{}", path, one.number)});
  }
  return {};
}

}  // namespace tma_jit::cli
