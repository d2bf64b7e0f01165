// tma-jit report: what it recognises and what it refuses, the page's content, and the critical path of a timeline.
#include <fstream>
#include <sstream>

#include <doctest/doctest.h>

#include "command.h"
#include "critical_path.h"
#include "report_files.h"
#include "sweep.h"

namespace tma_jit::cli {
namespace {

using Kind = TimelineEvent::Kind;

std::string written(const std::string& name, const std::string& text) {
  const auto path = scratch_folder() / name;
  std::ofstream(path, std::ios::binary) << text;
  return path.string();
}

std::string content_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

CommandResult report(std::vector<std::string> words) {
  words.insert(words.begin(), "report");
  words.insert(words.end(), {"-o", (scratch_folder() / "page.html").string()});
  return run_command(words);
}

// The inputs that are in the page, as the page's script reads them.
nlohmann::json inputs_of_page() {
  const std::string page = content_of(scratch_folder() / "page.html");
  const std::string_view begin = R"(<script type="application/json" id="inputs">)";
  const std::size_t at = page.find(begin) + begin.size();
  return nlohmann::json::parse(page.substr(at, page.find("</script>", at) - at));
}

constexpr const char* kBench = R"({"kernel":"copy","device":"NVIDIA H200","dims":[{"name":"N","value":1024}],)"
                               R"("config":{},"median_us":2.5,"gb_per_s":3.0})";
constexpr const char* kTrace =
    R"({"traceEvents":[{"ph":"X","pid":0,"tid":0,"ts":4,"dur":2,"cat":"compute","name":"run","args":{}},)"
    R"({"ph":"b","ts":6,"pid":0,"tid":0,"id":1,"cat":"operation","name":"cp.async.bulk"},)"
    R"({"ph":"e","ts":9,"pid":0,"tid":0,"id":1,"cat":"operation","name":"cp.async.bulk"},)"
    R"({"ph":"M","pid":0,"tid":0,"name":"thread_name","args":{"name":"warp 0"}}],)"
    R"("launches":[{"kernel":"copy","arch":"sm_90a"}]})";

const TimelineEvent& named(const std::vector<TimelineEvent>& events, const std::string& name) {
  for (const TimelineEvent& event : events) {
    if (event.name == name) return event;
  }
  FAIL("no event is named " << name);
  return events.front();
}

}  // namespace

TEST_CASE("report refuses what it does not know, and names the file") {
  struct Case {
    const char* name;
    std::string text;
    const char* why;
  };
  const std::string cut(kTrace, std::string_view(kTrace).size() / 2);
  for (const Case& one : std::vector<Case>{
           {"empty.json", " \n", "it is empty"},
           {"text.json", "no JSON at all", "it is not JSON, or it is cut off"},
           {"cut.json", cut, "it is not JSON, or it is cut off"},
           {"rest.json", std::string(kBench) + "]", "it is not JSON, or it is cut off"},
           {"number.json", "17", "it is not what bench, tune, doctor or estimate print"},
           {"nothing.json", "[]", "it is not what bench, tune, doctor or estimate print"},
           {"nested.json", std::string(100'000, '[') + std::string(100'000, ']'), "it is not what bench"},
           {"foreign.json", R"({"name": "left-pad", "version": "1.0.0"})", "it is not what bench"},
           {"error.json", R"({"error":{"code":"io","message":"no device"}})",
            "the error of a command that failed: no dev"},
           {"dims.json", R"({"kernel":"copy","device":"d","median_us":1})", "bench: \"dims\" is missing"},
           {"dim.json", R"({"kernel":"copy","device":"d","median_us":1,"dims":[1]})", "bench: a part that should be"},
           {"us.json", R"({"kernel":"copy","device":"d","median_us":"1","dims":[]})", "\"median_us\" is not a number"},
           {"tune.json", R"({"records":"","results":[{"record":{}}]})", "tune: \"trials\" is missing"},
           {"results.json", R"({"records":"","results":1})", "tune: \"results\" is not an array"},
           {"estimates.json", R"({"estimates":[{"time_us":1}]})", "estimate: \"kernel\" is missing"},
           {"sweep.json", R"({"sweep":"N","results":[{}]})", "sweep: \"kernel\" is missing"},
           {"chrome.json", R"({"traceEvents":[]})", "it is a trace, but not one of the emulator"},
           {"events.json", R"({"traceEvents":[{"ph":"X"}],"launches":[{}]})", "an event is not as the emulator writes"},
           {"ends.json", R"({"traceEvents":[{"ph":"e","pid":0,"tid":0,"ts":1,"id":1}],"launches":[{}]})",
            "an event is"}}) {
    CAPTURE(one.name);
    const std::string file = written(one.name, one.text);
    const CommandResult result = report({file});
    CHECK(result.exit == 1);
    CHECK(result.out.empty());
    CHECK_MESSAGE(result.err.find(file + ": ") != std::string::npos, result.err);
    CHECK_MESSAGE(result.err.find(one.why) != std::string::npos, result.err);
  }
  CHECK(report({missing_file("absent.json")}).exit == 1);
  CHECK(report({written("trace.json", kTrace), "--block", "3"}).err.find("no block 3") != std::string::npos);
  CHECK(run_command({"report"}).exit == 2);
  CHECK(run_command({"report", written("bench.json", kBench)}).exit == 2);
}

TEST_CASE("report takes files by their content, several objects a file, and keeps the page within its element") {
  if (!report_file("chart.js")) return;
  std::string hostile = kBench;
  hostile.replace(hostile.find("NVIDIA"), 6, "</script><b>");
  const CommandResult result =
      report({written("trace.txt", kTrace), written("some.log", std::string(kBench) + "\n" + hostile),
              written("list.json", "[" + std::string(kBench) + "]"), "--title", "<i>", "--json"});
  REQUIRE_MESSAGE(result.exit == 0, result.err);
  CHECK(result.json()["inputs"] == 4);
  const std::string page = content_of(scratch_folder() / "page.html");
  CHECK(page.size() == result.json()["bytes"]);
  CHECK(page.size() < 2'000'000);
  CHECK(page.find("</script><b>") == std::string::npos);
  CHECK(page.find("<h1>&lt;i&gt;</h1>") != std::string::npos);
  CHECK(page.find("Permission is hereby granted") != std::string::npos);
  for (const char* left : {"@TITLE@", "@DATA@", "@SCRIPT@", "src=\"http", "url(http"})
    CHECK(page.find(left) == std::string::npos);
  const nlohmann::json inputs = inputs_of_page();
  CHECK(inputs[0]["kind"] == "timeline");
  CHECK(inputs[0]["data"]["rows"] == nlohmann::json({"warp 0", "warp 0: copies"}));
  CHECK(inputs[0]["data"]["events"][1] == nlohmann::json({1, 2, 5, 3, 1, 1}));
  CHECK(inputs[1]["kind"] == "bench");
  CHECK(inputs[2]["data"]["device"] == "</script><b> H200");
}

TEST_CASE("report takes what estimate prints, with candidates") {
  if (!report_file("chart.js")) return;
  const CommandResult estimate = run_command({"estimate", "scale", "N=1000000", "--candidates", "3", "--device", "h100",
                                              "--templates", template_folder(), "--json"});
  REQUIRE_MESSAGE(estimate.exit == 0, estimate.err);
  CHECK(estimate.json()["peak_gb_per_s"] > 1000);
  CHECK(report({written("estimate.json", estimate.out)}).exit == 0);
  CHECK(inputs_of_page()[0]["data"]["candidates"].size() >= 1);
}

TEST_CASE("the critical path leads from the last instruction through what ended each stall") {
  std::vector<TimelineEvent> events = {
      {.kind = Kind::run, .track = 4, .begin = 0, .end = 10, .name = "set up"},
      {.kind = Kind::issue, .track = 4, .begin = 10, .end = 11, .name = "copy"},
      {.kind = Kind::run, .track = 3, .begin = 11, .end = 15, .name = "early"},
      {.kind = Kind::copy, .track = 4, .begin = 11, .end = 40, .name = "copied"},
      {.kind = Kind::copy, .track = 4, .begin = 11, .end = 30, .name = "copied before"},
      {.kind = Kind::stall, .track = 3, .begin = 15, .end = 41, .name = "mbarrier.try_wait"},
      {.kind = Kind::product, .track = 3, .begin = 42, .end = 60, .name = "product"},
      {.kind = Kind::issue, .track = 3, .begin = 41, .end = 42, .name = "mma"},
      {.kind = Kind::stall, .track = 0, .begin = 42, .end = 60, .name = "wgmma.wait_group"},
      {.kind = Kind::run, .track = 0, .begin = 60, .end = 70, .name = "last"},
  };
  mark_critical_path(events);
  for (const char* name : {"last", "product", "mma", "copied", "copy", "set up"}) {
    CAPTURE(name);
    CHECK(named(events, name).critical);
  }
  for (const char* name : {"early", "copied before", "wgmma.wait_group", "mbarrier.try_wait"}) {
    CAPTURE(name);
    CHECK_FALSE(named(events, name).critical);
  }
  std::vector<TimelineEvent> barrier = {{.kind = Kind::run, .track = 1, .begin = 0, .end = 20, .name = "other"},
                                        {.kind = Kind::stall, .track = 0, .begin = 2, .end = 20, .name = "bar.sync"},
                                        {.kind = Kind::run, .track = 0, .begin = 20, .end = 21, .name = "after"}};
  mark_critical_path(barrier);
  CHECK(barrier[0].critical);
  CHECK(barrier[2].critical);
  std::vector<TimelineEvent> none;
  mark_critical_path(none);
}

TEST_CASE("a sweep doubles, or adds its step, up to its last value") {
  const auto values = [](const char* word) { return read_sweep(word)->values; };
  CHECK(values("M=64..512") == std::vector<std::int64_t>{64, 128, 256, 512});
  CHECK(values("M=64..500") == std::vector<std::int64_t>{64, 128, 256});
  CHECK(values("M=10..40:15") == std::vector<std::int64_t>{10, 25, 40});
  CHECK(values("M=7..7") == std::vector<std::int64_t>{7});
  CHECK(values("M=9223372036854775807..9223372036854775807").size() == 1);
  CHECK(read_sweep("M,N=1..2")->names == std::vector<std::string>{"M", "N"});
  for (const char* word : {"M", "M=", "M,=1..2", "=1..2", "M=1", "M=..2", "M=2..", "M=2..1", "M=0..4", "M=1..4:0",
                           "M=1..4:", "M=1..x", "M=1..9999:1"}) {
    CAPTURE(word);
    CHECK_FALSE(read_sweep(word).has_value());
  }
}

TEST_CASE("bench --sweep measures each value, and its refusals are those of a word") {
  CHECK(run_command({"bench", "copy", "--sweep", "N=2..1", "--device", "emulator:sm_90a"}).exit == 2);
  if (!kHasEmulator || !has_compiler()) return;
  const CommandResult result =
      run_command({"bench", "copy", "--sweep", "N=1024..4096", "--device", "emulator:sm_90a", "--json"});
  REQUIRE_MESSAGE(result.exit == 0, result.err);
  CHECK(result.json()["sweep"] == "N");
  CHECK(result.json()["results"].size() == 3);
  CHECK(result.json()["results"][2]["dims"][0]["value"] == 4096);
}

}  // namespace tma_jit::cli
