#include "compile/report.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "compile/resources.h"
#include "compile/source_map.h"

namespace tma_jit::compile {
namespace {

using Severity = Diagnostic::Severity;
constexpr int kShown = 20;
constexpr std::int64_t kPortableStaticShared = 48 << 10;  // bytes a block, which every device has

void append(std::string& text, const std::string& lines) {
  if (lines.empty()) return;
  if (!text.empty()) text.push_back('\n');
  text += lines;
}

// Returns whether the same error is known already: a hook's text may be compiled several times, for several types.
bool is_repeated(const Diagnostic& diagnostic, const std::vector<Diagnostic>& known) {
  if (diagnostic.severity != Severity::error || !diagnostic.file.starts_with("hook ")) return false;
  return std::ranges::any_of(known, [&](const Diagnostic& other) { return headline(other) == headline(diagnostic); });
}

// Returns the errors and the notes that belong to them.
std::vector<Diagnostic> of_interest(std::vector<Diagnostic> diagnostics, const Source& source) {
  const SourceMap map(source);
  std::vector<Diagnostic> kept;
  bool in_error = false;
  for (Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.severity != Severity::note) in_error = diagnostic.severity == Severity::error;
    if (!in_error || diagnostic.summary) continue;
    if (diagnostic.file.empty() && !diagnostic.assembler) diagnostic.file = source.name;
    map.settle(diagnostic);
    if (is_repeated(diagnostic, kept)) {
      in_error = false;
      continue;
    }
    kept.push_back(std::move(diagnostic));
  }
  return kept;
}

// ptxas says what a kernel uses, but NVRTC drops what ptxas says of too much shared memory.
std::string silent_refusal(const Source& source, const std::string& log) {
  const std::int64_t bytes = parse_resources(log, source.entry, {}).static_shared_bytes;
  if (bytes <= kPortableStaticShared) return fmt::format("{}: NVRTC refused it without saying where", source.name);
  return fmt::format(
      "{}: NVRTC refused it without saying why; its {} bytes of static shared memory may be too many for {}: every "
      "target takes {}, and what is beyond them belongs in dynamic shared memory (`smem` of `launch`)",
      source.name, bytes, source.arch, kPortableStaticShared);
}

}  // namespace

Error compile_error(const Source& source, std::vector<Diagnostic> diagnostics, const std::string& log) {
  const std::vector<Diagnostic> errors = of_interest(std::move(diagnostics), source);
  Error error{ErrorCode::compile, {}, {}};
  if (errors.empty()) {
    error.message = silent_refusal(source, log);
    error.detail = trimmed(log);
    return error;
  }
  int shown = 0, hidden = 0;
  for (const Diagnostic& diagnostic : errors) {
    if (shown >= kShown) {
      hidden += diagnostic.severity == Severity::error ? 1 : 0;
      continue;
    }
    if (shown == 0) {
      error.message = headline(diagnostic);
    } else {
      append(error.detail, headline(diagnostic));
    }
    append(error.detail, body(diagnostic));
    shown += diagnostic.severity == Severity::error ? 1 : 0;
  }
  if (hidden > 0) append(error.detail, fmt::format("and {} more errors", hidden));
  return error;
}

}  // namespace tma_jit::compile
