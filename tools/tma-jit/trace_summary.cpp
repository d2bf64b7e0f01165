#include "trace_summary.h"

#include "input_text.h"

namespace tma_jit::cli {
namespace {

double share_of(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

Outcome<Json> trace_summary(const std::string& file) {
  CLI_ASSIGN(const std::string text, read_text(file));
  const Json trace = try_parse_json(text);
  if (trace.is_discarded() || !trace.contains("launches") || trace["launches"].empty())
    return failed(ErrorCode::io, "--trace {}: the emulator wrote no launch there", file);
  return trace["launches"][0];
}

std::string describe_trace(const std::string& file, const Json& summary) {
  const auto total = summary["instructions"].get<std::uint64_t>();
  std::string text = fmt::format("  trace     {}: {} instructions of warps (policy {}, seed {})\n", file, total,
                                 summary["policy"].get<std::string>(), summary["seed"].get<std::uint64_t>());
  for (const auto& [name, count] : summary["mix"].items()) {
    const auto instructions = count.get<std::uint64_t>();
    text += fmt::format("            {:<22} {:>12}  {:5.1f} %\n", name, instructions, share_of(instructions, total));
  }
  text += "  moved     bytes\n";
  for (const auto& [name, bytes] : summary["bytes"].items())
    text += fmt::format("            {:<36} {:>14}\n", name, bytes.get<std::uint64_t>());
  if (summary["shared"].empty()) return text;
  text += "  banks     of shared memory: passes beyond the fewest possible\n";
  for (const auto& [name, use] : summary["shared"].items()) {
    text += fmt::format("            {:<12} {:>12} instructions, {} passes, {} of them conflicts\n", name,
                        use["instructions"].get<std::uint64_t>(), use["wavefronts"].get<std::uint64_t>(),
                        use["conflicts"].get<std::uint64_t>());
  }
  return text;
}

}  // namespace tma_jit::cli
