// tma-jit manifest: merges, filters and shows what applications recorded; each line once.
#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "list_file.h"
#include "output_file.h"
#include "verbs.h"

namespace tma_jit::cli {
namespace {

struct Words {
  std::vector<std::string> files;
  std::vector<std::string> kernels;
  std::string out;
};

struct Merged {
  std::vector<std::string> lines;  // in the order of their first occurrence
  std::map<std::string, std::size_t> kernels;
  std::size_t read = 0;
  std::size_t faults = 0;
};

void merge_line(const std::string& place, const std::string& text, const Words& words, std::set<std::string>& known,
                Merged& merged) {
  const auto line = parse_warm_line(text);
  if (!line) {
    ++merged.faults;
    fmt::print(stderr, "{}: left out: {}\n", place, line.error().line());
    return;
  }
  ++merged.read;
  const std::string& kernel = line->request.kernel;
  const bool wanted = words.kernels.empty() || std::count(words.kernels.begin(), words.kernels.end(), kernel) != 0;
  // The same object is the same line, however it is spaced and whatever the order of its fields.
  if (!wanted || !known.insert(nlohmann::json::parse(text).dump()).second) return;
  merged.lines.push_back(text);
  ++merged.kernels[kernel];
}

Outcome<Merged> merge(const Words& words) {
  Merged merged;
  std::set<std::string> known;
  for (const std::string& file : words.files) {
    CLI_ASSIGN(const std::vector<ListedLine> lines, listed_lines(file));
    for (const ListedLine& line : lines) {
      merge_line(fmt::format("{}:{}", file, line.number), line.text, words, known, merged);
    }
  }
  return merged;
}

Outcome<int> manifest(const Settings& settings, const Words& words) {
  CLI_ASSIGN(const Merged merged, merge(words));
  Json kernels = Json::object();
  for (const auto& [kernel, count] : merged.kernels) kernels[kernel] = count;
  if (!words.out.empty()) {
    std::string text;
    for (const std::string& line : merged.lines) text.append(line).append("\n");
    CLI_CHECK(replace_text(words.out, text));
    settings.console.report("{}: {} of {} lines, {} kernels\n", words.out, merged.lines.size(), merged.read,
                            merged.kernels.size());
  } else {
    for (const std::string& line : merged.lines) settings.console.result("{}\n", line);
  }
  settings.console.object({{"read", merged.read},
                           {"lines", merged.lines.size()},
                           {"faults", merged.faults},
                           {"kernels", std::move(kernels)}});
  return merged.faults == 0 ? kDone : kFailed;
}

}  // namespace

void add_manifest(Verb command, Settings& settings) {
  Verb verb =
      command.add_verb("manifest", "merge what applications recorded with TMA_JIT_RECORD_REQUESTS, each line once");
  add_console_options(verb, settings);
  auto words = std::make_shared<Words>();
  verb.option("files", words->files, "files of a JSON object a line; a line that cannot be read is told and left out")
      .required();
  verb.repeated("--kernel", words->kernels, "only lines of this kernel; may be repeated");
  verb.option("-o,--output", words->out, "file to write, which may be one that was read; default: stdout");
  verb.runs([&settings, words] { return manifest(settings, *words); });
}

}  // namespace tma_jit::cli
