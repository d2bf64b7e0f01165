// Programmatic launches, which may begin while those before them run: accesses that griddepcontrol.wait has to order.
#include <initializer_list>

#include "emulator/fault.h"
#include "emulator/ptx_kernel.h"

using namespace tma_jit;
using namespace tma_jit::testing;

namespace {

constexpr const char* kArch = "sm_90a";
constexpr const char* kOne = "setp.ne.u32 %p1, %t, 0; @%p1 bra E;\n";

// A launch of 64 threads, programmatic if it is not the first, and whether the host waits before it.
struct Stage {
  std::string body;
  bool programmatic = true;
  bool after_host = false;
};

void wait_on_host() {
  const driver::Api api = table_of(kArch);
  CUcontext context = nullptr;
  REQUIRE(api.device_primary_ctx_retain(&context, api.only_device) == CUDA_SUCCESS);
  REQUIRE(api.ctx_push_current(context) == CUDA_SUCCESS);
  CHECK(api.ctx_synchronize() == CUDA_SUCCESS);
  REQUIRE(api.ctx_pop_current(&context) == CUDA_SUCCESS);
  api.device_primary_ctx_release(api.only_device);
}

void launch(const Stage& stage, bool first, TestMemory& memory) {
  emulator::driver::Library library(
      device_of(kArch), kernel_text(stage.body, kArch, ".shared .align 16 .b8 s[64];\n.shared .align 8 .b64 m;\n"));
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  attribute.value.programmaticStreamSerializationAllowed = stage.programmatic && !first ? 1 : 0;
  CUlaunchConfig config{};
  config.gridDimX = config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.blockDimX = 64;
  config.attrs = &attribute;
  config.numAttrs = 1;
  std::uint64_t address = memory.address();
  void* arguments[] = {&address};
  emulator::driver::launch(*library.kernel("test"), config, arguments);
}

// Returns the report of the launches, one after the other; empty if there is none.
std::string report_of(std::initializer_list<Stage> stages) {
  TestMemory memory(device_of(kArch), 4096);
  bool first = true;
  for (const Stage& stage : stages) {
    if (stage.after_host) wait_on_host();
    try {
      launch(stage, first, memory);
    } catch (const emulator::Fault& fault) {
      return fault.text();
    }
    first = false;
  }
  return "";
}

const std::string kWrite = std::string(kOne) + "st.global.u32 [%base+8], 7;\nE:";
const std::string kRead = "ld.global.u32 %r1, [%base+8];";
const std::string kWait = "griddepcontrol.wait;\n";

}  // namespace

TEST_CASE("A launch that does not wait must not read what the one before wrote, nor write what it accessed") {
  for (const auto& [before, then] : {std::pair{kWrite, kRead}, {kRead, kWrite}, {kWrite, kWrite}}) {
    CAPTURE(before);
    CAPTURE(then);
    const std::string report = report_of({{before}, {then}});
    CHECK(report.starts_with("race: global memory at "));
    CHECK(report.find("(byte 8 of an allocation of 4096 bytes") != std::string::npos);
    CHECK(report.find(before == kRead ? "  read by test at " : "  written by test at ") != std::string::npos);
    CHECK(report.find(then == kRead ? "  then read by warp " : "  then written by warp ") != std::string::npos);
    CHECK(report.find("execute griddepcontrol.wait") != std::string::npos);
    CHECK(report_of({{before}, {kWait + then}}).empty());
    CHECK(report_of({{before}, {then, false}}).empty());
    CHECK(report_of({{before}, {then, true, true}}).empty());
  }
  CHECK(report_of({{kRead}, {kRead}}).empty());
  CHECK(report_of({{kWrite}, {"ld.global.u32 %r1, [%base+12]; ld.global.u32 %r2, [%base+4];"}}).empty());
  const std::string counts = "red.global.add.u32 [%base], 1;";
  CHECK(report_of({{counts}, {counts}}).empty());
}

TEST_CASE("The launch before the last may still run too, and waits are known to those that a barrier orders") {
  CHECK(report_of({{kWrite}, {"bar.sync 0;"}, {kRead}}).starts_with("race"));
  CHECK(report_of({{kWrite}, {kWait}, {kWait + kRead}}).empty());
  const std::string other = "setp.lt.u32 %p2, %t, 32;\n@%p2 griddepcontrol.wait;\n", second = "@%p2 bra F;\n";
  CHECK(report_of({{kWrite}, {other + second + kRead + "F:"}}).starts_with("race"));
  CHECK(report_of({{kWrite}, {other + "bar.sync 0;\n" + second + kRead + "F:"}}).empty());
}

TEST_CASE("A copy is requested after the wait") {
  const std::string copy =
      "mbarrier.init.shared.b64 [m], 1; fence.mbarrier_init.release.cluster;\n"
      "mbarrier.arrive.expect_tx.shared.b64 %d1, [m], 16;\n"
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%base], 16, [m];\n"
      "L: mbarrier.try_wait.parity.shared.b64 %p2, [m], 0; @!%p2 bra L;\nE:";
  CHECK(report_of({{kWrite}, {kOne + copy}}).starts_with("race"));
  CHECK(report_of({{kWrite}, {kOne + kWait + copy}}).empty());
}
