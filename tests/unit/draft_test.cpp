// Drafts: sources whose keys are known before the texts of their headers are read.
#include "source/draft.h"

#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "engine/state.h"
#include "source/key.h"
#include "support/combinations.h"

namespace tma_jit {
namespace {

constexpr const char* kCompiler = "nvrtc 13.0 aa bb";

Engine planning_engine(const std::string& device) {
  return Engine({.device = Device::known(device), .use_cache = false, .log_level = LogLevel::off});
}

// The draft of a plan has the key and the texts that are emitted.
void check_draft(Engine& engine, const Plan& plan) {
  CAPTURE(plan.file);
  const Source emitted = engine.emit(plan).value();
  const source::Draft draft = EngineInternals::state_of(engine).draft(plan).value();
  CHECK(draft.key(kCompiler) == source::key_of(emitted, kCompiler));
  const Source& whole = draft.source();
  CHECK(whole.text == emitted.text);
  REQUIRE(whole.headers.size() == emitted.headers.size());
  for (std::size_t i = 0; i < whole.headers.size(); ++i) {
    CHECK(whole.headers[i].name == emitted.headers[i].name);
    CHECK(whole.headers[i].text == emitted.headers[i].text);
  }
  CHECK(draft.key(kCompiler) == source::key_of(emitted, kCompiler));
}

Key key_of_copy(Engine& engine) {
  const Plan plan = engine.plan({.kernel = "copy", .dims = {{"N", 4096}}}).value();
  return EngineInternals::state_of(engine).draft(plan).value().key(kCompiler);
}

}  // namespace

TEST_CASE("every shipped file has the key that its texts give, without reading its headers") {
  const std::vector<std::string> devices = {"h100", "b200", "gb10", "a100"};
  for (const std::string& device : testing::sampled(devices, 2)) {
    Engine engine = planning_engine(device);
    std::set<std::string> kernels, files;
    for (const auto& info : engine.kernels()) kernels.insert(info.value().kernel);
    for (const std::string& kernel : testing::sampled(std::vector(kernels.begin(), kernels.end()))) {
      for (const Request& request : engine.presets(kernel).value_or(std::vector<Request>())) {
        if (!files.insert(request.file).second) continue;
        if (const auto plan = engine.plan(request)) check_draft(engine, *plan);
      }
    }
    CHECK(files.size() > (testing::combinations() == testing::Combinations::few ? 5 : 30));
  }
}

TEST_CASE("what is included is found in the library's table, unless it has no such header or a text is refused") {
  const auto reach = [](std::string_view text) { return source::shipped_reach({{"k.cu", text}}); };
  REQUIRE(reach("#include \"device/types.cuh\"\n"));
  const auto tma = reach("#include \"device/ptx/tma.cuh\"\n");
  REQUIRE(tma);
  CHECK(tma->size() > 1);
  REQUIRE(reach("int x;\n"));
  CHECK(reach("int x;\n")->empty());
  CHECK_FALSE(reach("#include \"types.cuh\"\n"));
  CHECK_FALSE(reach("#include <cuda_bf16.h>\n"));
  CHECK_FALSE(reach("#include \"device/types.cuh\"\nint t = __TIME__;\n"));
}

TEST_CASE("an edited header is seen, and so is one that is edited again") {
  Engine shipped = planning_engine("h100"), edited = planning_engine("h100");
  const Plan plan = edited.plan({.kernel = "copy", .dims = {{"N", 4096}}}).value();
  const std::vector<Header> headers = edited.emit(plan).value().headers;
  REQUIRE_FALSE(headers.empty());
  const Key before = key_of_copy(edited);
  CHECK(before == key_of_copy(shipped));
  REQUIRE(edited.add_template(headers.front().name, headers.front().text + "// edited\n"));
  const Key once = key_of_copy(edited);
  CHECK(once != before);
  check_draft(edited, plan);
  REQUIRE(edited.add_template(headers.front().name, headers.front().text));
  CHECK(key_of_copy(edited) == before);
  CHECK(key_of_copy(shipped) == before);
}

}  // namespace tma_jit
