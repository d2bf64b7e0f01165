// The timeline of a gemm: valid JSON with consistent copies, phases and waits. Needs NVRTC.
#include <fstream>
#include <set>

#include <nlohmann/json.hpp>

#include "emulator/driver/table.h"
#include "emulator/ptx_kernel.h"
#include "emulator/replay.h"
#include "support/temporary_folder.h"

using namespace tma_jit;
using namespace tma_jit::testing;
using Json = nlohmann::json;

namespace {

Json read_json(const std::filesystem::path& file) {
  std::ifstream in(file);
  return Json::parse(in);
}

struct Gemm {
  Gemm() : engine(recording_engine("sm_90a")), replay(engine, "sm_90a", request()) {}
  static Request request() {
    return {.kernel = "gemm",
            .dims = {{"M", 128}, {"N", 128}, {"K", 512}},
            .params = {{"BM", 64}, {"BN", 128}, {"STAGES", 4}, {"CLUSTER", 1}, {"PINGPONG", 0}},
            .file = "gemm_wgmma"};
  }
  Engine engine;
  Replay replay;
};

}  // namespace

TEST_SUITE_BEGIN("kernels");

TEST_CASE("a gemm's timeline has its copies, phases and waits in order") {
  const TemporaryFolder folder;
  const auto file = folder.path() / "gemm.json";
  Gemm gemm;
  REQUIRE_MESSAGE(gemm.replay.fault().empty(), gemm.replay.fault());
  emulator::Settings settings = bounded(emulator::Policy::random, 3);
  settings.trace = file;
  REQUIRE(gemm.replay.run(settings).report.empty());
  REQUIRE(gemm.replay.run(settings).report.empty());  // appends a second launch to the same file
  const Json trace = read_json(file);
  REQUIRE(trace["launches"].size() == 2);
  const Json& summary = trace["launches"][0];
  CHECK(summary["policy"] == "random");
  CHECK(summary["seed"] == 3);

  // 2 blocks x 8 steps, one tile each of A and B: 2 x 8 x (64 + 128) x 64 x 2 bytes.
  constexpr std::int64_t kLoaded = 2 * 8 * (64 + 128) * 64 * 2;
  CHECK(summary["bytes"]["a tensor copy reads global"] == kLoaded);
  CHECK(summary["bytes"]["a tensor copy writes shared"] == kLoaded);
  CHECK(summary["bytes"]["a tensor copy writes global"] == 128 * 128 * 2);
  CHECK(summary["opcodes"].is_object());
  std::int64_t mix = 0;
  for (const auto& [name, count] : summary["mix"].items()) mix += count.get<std::int64_t>();
  CHECK(mix == summary["instructions"]);

  std::map<std::int64_t, std::int64_t> began;  // operations by id
  std::map<std::pair<int, int>, std::int64_t> end_of_track;
  int copies = 0, phases = 0, waits = 0, issues = 0;
  for (const Json& e : trace["traceEvents"]) {
    if (e["ph"] == "M" || e["pid"] >= 100'000) continue;  // skips names and the second launch
    const std::int64_t at = e["ts"];
    CHECK(at <= summary["instructions"]);
    if (e["ph"] == "b") began[e["id"]] = at;
    if (e["ph"] == "e") {
      REQUIRE(began.contains(e["id"]));
      CHECK(at >= began[e["id"]]);
      began.erase(e["id"]);
      copies += e["name"].get<std::string>().starts_with("cp.async.bulk.tensor") ? 1 : 0;
    }
    if (e["ph"] != "X") continue;
    auto& end = end_of_track[{e["pid"], e["tid"]}];
    CHECK(at >= end);  // slices of one track do not overlap
    end = at + e["dur"].get<std::int64_t>();
    phases += e["cat"] == "phase" ? 1 : 0;
    waits += e["cat"] == "wait" ? 1 : 0;
    issues += e["cat"] == "issue" ? 1 : 0;
  }
  CHECK(began.empty());
  CHECK(copies >= 2 * (8 * 2 + 1));  // loads, and at least one store per block
  CHECK(phases >= 2 * 8);            // every step fills a stage
  CHECK(waits > 0);
  CHECK(issues >= copies);
}

TEST_CASE("the summary counts bank conflicts") {
  auto& device = device_of("sm_90a");
  TestMemory memory(device, 4096);
  const TemporaryFolder folder;
  device.settings.trace = folder.path() / "banks.json";
  // Stores 4 bytes apart need one pass, 128 bytes apart 32 passes, and 8 bytes per lane two passes of 16 lanes each.
  run_ptx(kernel_text("mov.b32 %r3, s; shl.b32 %r1, %t, 2; add.s32 %r1, %r1, %r3; st.shared.u32 [%r1], %t;\n"
                      "shl.b32 %r2, %t, 7; add.s32 %r2, %r2, %r3; st.shared.u32 [%r2], %t;\n"
                      "shl.b32 %r4, %t, 3; add.s32 %r4, %r4, %r3; ld.shared.u32 %r5, [%r1];",
                      "sm_90a", ".shared .align 128 .b8 s[4096];\n"),
          memory);
  const Json trace = read_json(device.settings.trace);
  device.settings = {};
  const Json& shared = trace["launches"][0]["shared"];
  CHECK(shared["st"]["instructions"] == 2);
  CHECK(shared["st"]["wavefronts"] == 1 + 32);
  CHECK(shared["st"]["conflicts"] == 31);
  CHECK(shared["ld"]["conflicts"] == 0);
  CHECK(trace["launches"][0]["bytes"]["st shared"] == 2 * 32 * 4);
}

TEST_SUITE_END();
