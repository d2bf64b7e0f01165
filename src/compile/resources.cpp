#include "compile/resources.h"

#include <charconv>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/text.h"

namespace tma_jit::compile {
namespace {

// Returns the number before `unit`: 12 in "..., 12 bytes spill stores, ...".
std::optional<std::int64_t> number_before(std::string_view line, std::string_view unit) {
  const std::size_t at = line.find(unit);
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  const std::size_t last = line.find_last_not_of(' ', at - 1);
  if (last == std::string_view::npos) return std::nullopt;
  const std::size_t before = line.find_last_not_of("0123456789", last);
  const std::size_t first = before == std::string_view::npos ? 0 : before + 1;
  std::int64_t value = 0;
  const auto parsed = std::from_chars(line.data() + first, line.data() + last + 1, value);
  return parsed.ptr == line.data() + last + 1 && first <= last ? std::optional(value) : std::nullopt;
}

std::string_view after(std::string_view line, std::string_view words) {
  const std::size_t at = line.find(words);
  return at == std::string_view::npos ? std::string_view() : trimmed(line.substr(at + words.size()));
}

std::string_view quoted(std::string_view text) {
  if (!text.starts_with('\'')) return text;
  return text.substr(1, text.find('\'', 1) - 1);
}

// Parses the report line by line. "Compiling entry function 'X'" starts an entry, "Function properties for Y" a
// function, "Used N registers" ends the entry's numbers.
class Report {
 public:
  explicit Report(std::string_view entry) : entry_(entry) {}

  void read(std::string_view line) {
    if (const std::string_view name = after(line, "Compiling entry function "); !name.empty()) {
      current_ = quoted(name);
      entries_.insert(current_);
    } else if (const std::string_view function = after(line, "Function properties for "); !function.empty()) {
      function_ = quoted(function);
    } else if (line.find("bytes stack frame") != std::string_view::npos) {
      frame(line);
    } else if (line.find("Used ") != std::string_view::npos && current_ == entry_) {
      used(line);
    }
  }

  Resources resources;

 private:
  void frame(std::string_view line) {
    const bool other_entry = function_ != entry_ && entries_.contains(function_);
    if (other_entry) return;
    resources.spill_store_bytes += number_before(line, "bytes spill stores").value_or(0);
    resources.spill_load_bytes += number_before(line, "bytes spill loads").value_or(0);
    if (function_ == entry_) resources.stack_bytes = number_before(line, "bytes stack frame").value_or(0);
  }

  void used(std::string_view line) {
    resources.registers = static_cast<int>(number_before(line, "registers").value_or(0));
    resources.static_shared_bytes = number_before(line, "bytes smem").value_or(0);
    const std::int64_t cumulative = number_before(line, "bytes cumulative stack").value_or(0);
    resources.stack_bytes = std::max(resources.stack_bytes, cumulative);
  }

  std::string_view entry_, current_, function_;
  std::set<std::string_view> entries_;
};

std::string warning_text(const Diagnostic& diagnostic) {
  if (!diagnostic.assembler) return headline(diagnostic);
  const std::string where = diagnostic.line > 0 ? fmt::format(" (PTX line {})", diagnostic.line) : "";
  return fmt::format("ptxas: {}{}{}{}", diagnostic.number, diagnostic.number.empty() ? "" : " ", diagnostic.message,
                     where);
}

// An advisory is an info line with a number: C7508 setmaxnreg ignored, C7510 wgmma serialised.
bool is_warning(const Diagnostic& diagnostic) {
  if (diagnostic.severity == Diagnostic::Severity::warning) return true;
  return diagnostic.assembler && diagnostic.severity == Diagnostic::Severity::info && !diagnostic.number.empty();
}

}  // namespace

Resources parse_resources(std::string_view log, std::string_view entry, const std::vector<Diagnostic>& diagnostics) {
  Report report(entry);
  for (const std::string_view line : split(log, '\n')) {
    if (line.starts_with("ptxas ")) report.read(line);
  }
  for (const Diagnostic& diagnostic : diagnostics) {
    if (is_warning(diagnostic)) report.resources.warnings.push_back(warning_text(diagnostic));
  }
  return std::move(report.resources);
}

}  // namespace tma_jit::compile
