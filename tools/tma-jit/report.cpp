// tma-jit report: one HTML page with pictures of what bench, tune, estimate, doctor and the emulator's trace wrote.
#include <array>
#include <memory>

#include "markup.h"
#include "output_file.h"
#include "report_files.h"
#include "report_input.h"
#include "verbs.h"

namespace tma_jit::cli {
namespace {

constexpr std::size_t kMostBytes = 2'000'000;

struct Words {
  std::vector<std::string> files;
  std::string output, title = "tma-jit report";
  unsigned block = 0;
};

// Text that a browser neither ends an element at nor begins a comment at: every "<" of JSON lies in a string.
std::string script_text(const Json& value) {
  std::string out;
  for (const char c : value.dump(-1, ' ', false, Json::error_handler_t::replace)) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

// Replaces the places @NAME@ of page.html, each of which stands there once.
std::string filled(std::string_view page, const std::vector<std::pair<std::string_view, std::string>>& parts) {
  std::string out;
  for (const auto& [name, text] : parts) {  // in the order of the page
    const std::size_t at = page.find(name);
    if (at == std::string_view::npos) continue;
    out.append(page.substr(0, at)).append(text);
    page.remove_prefix(at + name.size());
  }
  return out.append(page);
}

Outcome<std::string> page_of(const std::vector<ReportInput>& inputs, const std::string& title) {
  const auto library = report_file("chart.js"), licence = report_file("licence.txt");
  if (!library || !licence) {
    return failed(
        ErrorCode::unsupported,
        "report: this command was built where chart.js was not installed: install libjs-chart.js, and build it "
        "anew");
  }
  Json list = Json::array();
  for (const ReportInput& input : inputs)
    list.push_back({{"file", input.file}, {"kind", input.kind}, {"data", input.data}});
  return filled(*report_file("page.html"), {{"@TITLE@", escaped_markup(title)},
                                            {"@STYLE@", std::string(*report_file("page.css"))},
                                            {"@HEADING@", escaped_markup(title)},
                                            {"@LICENCE@", escaped_markup(*licence)},
                                            {"@DATA@", script_text(list)},
                                            {"@LIBRARY@", std::string(*library)},
                                            {"@SCRIPT@", std::string(*report_file("page.js"))}});
}

Outcome<int> report(const Settings& settings, const Words& words) {
  if (words.output.empty()) return usage("report: name the page to write with -o");
  std::vector<ReportInput> inputs;
  for (const std::string& file : words.files) CLI_CHECK(read_report_input(file, words.block, inputs));
  if (inputs.empty()) return failed(ErrorCode::not_found, "report: there is nothing to draw in the files");
  CLI_ASSIGN(const std::string page, page_of(inputs, words.title));
  if (page.size() > kMostBytes) {
    return failed(ErrorCode::unsupported, "report: the page would have {} bytes, above {}: name fewer files",
                  page.size(), kMostBytes);
  }
  CLI_CHECK(write_text(words.output, page));
  settings.console.report("wrote {}: {} inputs, {} bytes\n", words.output, inputs.size(), page.size());
  settings.console.object({{"output", words.output}, {"inputs", inputs.size()}, {"bytes", page.size()}});
  return kDone;
}

}  // namespace

void add_report(Verb command, Settings& settings) {
  Verb verb = command.add_verb("report", "one HTML page with pictures of what other verbs printed with --json");
  add_console_options(verb, settings);
  auto words = std::make_shared<Words>();
  verb.option("files", words->files, "what bench, tune, doctor and estimate print with --json, traces of the emulator")
      .required();
  verb.option("-o,--output", words->output, "the page to write");
  verb.option("--title", words->title, "heading of the page");
  verb.option("--block", words->block, "the block of each trace that is drawn (0)");
  verb.runs([&settings, words] { return report(settings, *words); });
}

}  // namespace tma_jit::cli
