// tma-jit emit: the CUDA text of one problem.
#include <memory>

#include "describe.h"
#include "output_file.h"
#include "placement.h"
#include "request.h"
#include "verbs.h"

namespace tma_jit::cli {
namespace {

struct Words {
  RequestWords request;
  PlacementWords placement;
  bool standalone = false;
  std::string output;
};

Json to_json(const Source& source) {
  Json headers = Json::array();
  for (const Header& header : source.headers) headers.push_back(header.name);
  return {{"kernel", source.kernel}, {"entry", source.entry},     {"arch", source.arch},
          {"name", source.name},     {"options", source.options}, {"headers", headers}};
}

Outcome<void> deliver(const Console& console, const std::string& text, const std::string& output) {
  if (output.empty()) {
    console.result("{}", text);
    return {};
  }
  CLI_CHECK(write_text(output, text));
  console.report("wrote {}\n", output);
  return {};
}

Outcome<int> emit(const Settings& settings, const Words& words) {
  CLI_ASSIGN(Engine engine, make_engine(settings));
  CLI_ASSIGN(const KernelRequest asked, read_request(engine, words.request));
  CLI_ASSIGN(const Placement placement, read_placement(asked.kernel, words.placement));
  CLI_ASSIGN(const Plan plan, plan_placed(engine, asked.request, placement));
  CLI_ASSIGN(const Source source, engine.emit(plan));
  Json object = to_json(source);
  std::string text = source.text;
  if (words.standalone) {
    CLI_ASSIGN(text, engine.emit_standalone(plan));
  }
  CLI_CHECK(deliver(settings.console, text, words.output));
  object["standalone"] = words.standalone;
  object[words.output.empty() ? "text" : "output"] = words.output.empty() ? text : words.output;
  settings.console.object(object);
  return kDone;
}

}  // namespace

void add_emit(Verb command, Settings& settings) {
  Verb verb = command.add_verb("emit", "the CUDA text for one problem");
  add_settings(verb, settings);
  auto words = std::make_shared<Words>();
  add_request_options(verb, words->request);
  add_placement_options(verb, words->placement);
  verb.flag("--standalone", words->standalone, "one file with the headers in it, which nvcc compiles as it is");
  verb.option("-o,--output", words->output, "file to write instead of stdout");
  verb.runs([&settings, words] { return emit(settings, *words); });
}

}  // namespace tma_jit::cli
