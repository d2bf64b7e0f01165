#include <cstdlib>

#include <doctest/doctest.h>

#include <tma_jit/engine.h>

#include "support/engines.h"
#include "support/templates.h"

namespace tma_jit {

using namespace testing;

namespace {

// A kernel of one file that loads with plain instructions, and of one that goes through TMA by what it includes.
const std::string kPlain = R"cu(//! kernel  move  "Y = X"
//! arch    sm_90a
//! dim     N
//! param   WIDTH = 4 in {4, 8}
//! require N % WIDTH == 0  "rows are moved WIDTH elements at a time"
//! tensor  X : f32[N]
//! tensor  Y : f32[N] out
//! launch  grid 1  block 32
#include "device/types.cuh"
extern "C" __global__ void move(View<const f32, 1>, View<f32, 1>, const Dims) {}
)cu";

std::string including(const std::string& header) {
  std::string text = kPlain;
  const std::string types = "#include \"device/types.cuh\"";
  return text.replace(text.find(types), types.size(), "#include \"" + header + "\"");
}

// Without NVRTC: asking it for its architectures takes longer than all else here.
Engine engine_for(const std::string& device, std::optional<bool> disable_tma) {
  const TemporaryFolder without_nvrtc;
  Options options{.device = Device::known(device), .use_cache = false, .disable_tma = disable_tma};
  options.nvrtc = without_nvrtc.path() / "libnvrtc.so";
  Engine engine = engine_with(std::move(options), no_driver());
  REQUIRE(engine.add_template("device/ptx/bulk.cuh", "#pragma once\n#include \"device/types.cuh\"\n"));
  REQUIRE(engine.add_template("device/own.cuh", "#pragma once\n#include \"device/ptx/tma.cuh\"\n"));
  REQUIRE(engine.add_template("tile.cu", kTile));
  return engine;
}

const Request kMove{.kernel = "move", .dims = {{"N", 64}}};

class Variable {
 public:
  explicit Variable(const char* value) { ::setenv("TMA_JIT_DISABLE_TMA", value, 1); }
  ~Variable() { ::unsetenv("TMA_JIT_DISABLE_TMA"); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
};

}  // namespace

TEST_CASE("without TMA, planning passes over files that reach it by an include, however indirectly") {
  for (const char* header : {"device/ptx/tma.cuh", "device/ptx/bulk.cuh", "device/own.cuh"}) {
    Engine engine = engine_for("h100", true);
    REQUIRE(engine.add_template("move.cu", including(header)));
    REQUIRE(engine.add_template("move_plain.cu", kPlain));
    const auto plan = engine.plan(kMove);
    REQUIRE_MESSAGE(plan, plan.error().text());
    CHECK(plan->file == "move_plain.cu");
    Engine with_tma = engine_for("h100", false);
    REQUIRE(with_tma.add_template("move.cu", including(header)));
    REQUIRE(with_tma.add_template("move_plain.cu", kPlain));
    CHECK(with_tma.plan(kMove)->file == "move.cu");
  }
}

TEST_CASE("a kernel that has only files with TMA is refused with their names") {
  Engine engine = engine_for("h100", true);
  const auto plan = engine.plan({.kernel = "tile", .dims = {{"M", 64}, {"N", 64}}});
  REQUIRE(!plan);
  CHECK(plan.error().text() ==
        "unsupported: tile: TMA is disabled (by TMA_JIT_DISABLE_TMA, or by the caller), and every file of this "
        "kernel uses it: tile.cu");
  CHECK(!engine.presets("tile"));
  CHECK(!engine.enumerate({.kernel = "tile", .dims = {{"M", 64}, {"N", 64}}}));
}

TEST_CASE("an error of the files that are left says which were left out, and a bad request stays as it is") {
  Engine engine = engine_for("h100", true);
  REQUIRE(engine.add_template("move.cu", including("device/ptx/tma.cuh")));
  REQUIRE(engine.add_template("move_plain.cu", kPlain));
  const std::string left_out = "TMA is disabled (by TMA_JIT_DISABLE_TMA, or by the caller), which leaves out move.cu";
  Request odd = kMove;
  odd.dims["N"] = 63;
  const auto none = engine.plan(odd);
  REQUIRE(!none);
  CHECK(none.error().code == ErrorCode::no_config);
  CHECK(none.error().detail.ends_with(left_out));
  Request named = kMove;
  named.file = "move";
  CHECK(engine.plan(named).error().detail.ends_with(left_out));
  Request wrong = kMove;
  wrong.dims["N"] = -1;
  CHECK(engine.plan(wrong).error().detail.find("TMA is disabled") == std::string::npos);
  Engine elsewhere = engine_for("b200", true);
  REQUIRE(elsewhere.add_template("move.cu", including("device/ptx/tma.cuh")));
  REQUIRE(elsewhere.add_template("move_plain.cu", kPlain));
  const auto unserved = elsewhere.plan(kMove);
  REQUIRE(!unserved);
  CHECK(unserved.error().code == ErrorCode::unsupported);
  CHECK(unserved.error().detail.ends_with(left_out));
}

TEST_CASE("without TMA, blocks share long rows of a scan as they do with it") {
  Options options{.device = Device::known("h100"), .use_cache = false, .disable_tma = true};
  Engine engine(std::move(options));
  for (const auto& [rows, columns] : {std::pair{1, 1 << 28}, {1, 1 << 20}, {64, 1 << 20}}) {
    for (const DType type : {DType::f32, DType::bf16}) {
      const auto plan = engine.plan({.kernel = "scan", .dims = {{"M", rows}, {"N", columns}}, .types = {{"T", type}}});
      REQUIRE_MESSAGE(plan, plan.error().text());
      CHECK(plan->file == "templates/kernels/scan_tiles.cu");
    }
  }
}

TEST_CASE("the variable is read when the engine is made, and 0 means no") {
  for (const auto& [value, disabled] : {std::pair{"1", true}, {"yes", true}, {"0", false}, {"", false}}) {
    Engine engine = [&] {
      const Variable variable(value);
      return engine_for("h100", std::nullopt);
    }();
    CAPTURE(value);
    CHECK(engine.plan({.kernel = "tile", .dims = {{"M", 64}, {"N", 64}}}).has_value() == !disabled);
  }
  Engine before = engine_for("h100", false);
  const Variable variable("1");
  CHECK(before.plan({.kernel = "tile", .dims = {{"M", 64}, {"N", 64}}}));
  Engine told = engine_for("h100", false);
  CHECK(told.plan({.kernel = "tile", .dims = {{"M", 64}, {"N", 64}}}));  // an option that is set is obeyed
  CHECK(told.environment().tma_disabled);
}

}  // namespace tma_jit
