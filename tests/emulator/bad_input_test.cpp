// Text that is not PTX, PTX of absurd size, and launches that no device supports must cause descriptive errors, not
// crashes.
#include "emulator/ptx_kernel.h"

using namespace tma_jit;
using namespace tma_jit::testing;

namespace {

// Loads the text, decodes its kernels and returns the report; "" if there is none.
std::string report_of(const std::string& text) {
  try {
    emulator::driver::Library library(device_of("sm_100a"), text);
    for (const auto& function : library.module->functions) library.kernel(function->name);
  } catch (const emulator::Fault& fault) {
    return fault.text();
  }
  return "";
}

bool reports(const std::string& text, const char* words) {
  const std::string report = report_of(text);
  CAPTURE(report);
  return report.find(words) != std::string::npos;
}

const char kSample[] =
    ".shared .align 16 .b8 room[64];\n.global .align 8 .u64 table[2] = {7, generic(table)};\n"
    ".func (.param .b32 r) f(.param .b32 a)\n{\n.reg .b32 %x<2>;\nld.param.b32 %x1, [a];\nst.param.b32 [r], "
    "%x1;\nret;\n}\n";
const char kBody[] =
    "proto: .callprototype (.param .b32 _) _ (.param .b32 _) .noreturn;\n{ .param .b32 p0; .param .b32 p1; mov.u64 "
    "%d1, f; "
    "@%p3 call (p1), %d1, (p0), proto; }\n"
    "ways: .branchtargets A, B;\nand.b32 %r1, %t, 1;\nbrx.idx %r1, ways;\nA: mov.u32 %r2, room;\n.loc 1 2 3\n"
    "B: { .param .b32 p0; .param .b32 p1; st.param.b32 [p0], %t; call.uni (p1), f, (p0); ld.param.b32 %r3, [p1]; }\n"
    "setp.eq.s32 %p1|%p2, %r3, -7; @!%p1 add.f32 %f1, %f2, 0f3F800000; ld.global.v2.u32 {%r4, _}, [%base+16];\n"
    "mov.f64 %g1, 1.5e0; mbarrier.init.shared::cta.b64 [room], 1;";

}  // namespace

TEST_CASE("PTX cut off anywhere is an error with a line, or a smaller module") {
  const std::string whole = kernel_text(kBody, "sm_100a", kSample);
  CHECK(report_of(whole).empty());
  std::size_t faults = 0;
  for (std::size_t length = 0; length < whole.size(); ++length) {
    CAPTURE(length);
    const std::string report = report_of(whole.substr(0, length));
    if (!report.empty()) ++faults;
  }
  CHECK(faults > whole.size() * 9 / 10);  // a module may end between its functions
}

TEST_CASE("PTX with any byte replaced never does worse than report") {
  const std::string whole = kernel_text(kBody, "sm_100a", kSample);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char c : {'\0', '{', ';', '9', '\xff', '"'}) {
      std::string text = whole;
      text[at] = c;
      report_of(text);
    }
  }
}

TEST_CASE("Absurd declarations are refused before they cost memory or time") {
  CHECK(reports(".version 9.0\n.version 9.0\n", "a second .version"));
  CHECK(reports(".version 999999999999.0\n.target sm_90a\n", "version 999999999999.0"));
  CHECK(reports(".version 9.0\n", "names no .target"));
  CHECK(reports("", "names no .target"));
  CHECK(reports(kernel_text(".reg .b32 %many<4000000000>;"), "count of registers"));
  CHECK(reports(kernel_text(".reg .b64 %a<1000000>; .reg .b64 %b<48000>;"), "more than"));
  CHECK(reports(kernel_text(".local .b8 frame[1000000];"), "local memory a thread"));
  CHECK(reports(kernel_text("", "sm_90a", ".global .b8 x[4];\n.const .b32 x;\n"), "variable x is there already"));
  CHECK(reports(kernel_text("", "sm_90a", ".shared .b8 room[100000000];\n"), "does not fit in shared memory"));
  CHECK(reports(kernel_text("", "sm_90a", ".global .b8 x[4] = " + std::string(100000, '{')), "nested too deep"));
  CHECK(reports(kernel_text("ld.global.u32 %r1, " + std::string(100000, '[')), "nested too deep"));
  CHECK(reports(".version 9.0\n.target sm_90a\n.address_size 64\n.global .attribute(", "expected"));
  CHECK(reports(".version 9.0\n.target sm_90a\n.visible .entry k(.param .b8 a[32760], .param .b8 b[32760]) { ret; }",
                "parameters have more than"));
  // 2^20 calls, each inlined separately.
  std::string chain = ".func f0()\n{\nret;\n}\n";
  for (int i = 1; i < 21; ++i) {
    const std::string inner = "call.uni f" + std::to_string(i - 1) + ";\n";
    chain += ".func f" + std::to_string(i) + "()\n{\n" + inner + inner + "ret;\n}\n";
  }
  CHECK(reports(kernel_text("call.uni f20;", "sm_90a", chain), "each taken in anew"));
}

TEST_CASE("Launches that no device does are refused, whatever the kernel") {
  TestMemory memory(device_of("sm_90a"), 4096);
  const std::string text = kernel_text("mov.u32 %r1, 1;");
  CHECK(fault_of(text, memory, {.grid = 0}).find("launch") != std::string::npos);
  CHECK(fault_of(text, memory, {.block = 0}).find("launch") != std::string::npos);
  CHECK(fault_of(text, memory, {.block = 1025}).find("from 1 to 1024") != std::string::npos);
  CHECK(fault_of(text, memory, {.block = ~0U}).find("from 1 to 1024") != std::string::npos);
  CHECK(fault_of(text, memory, {.grid = 3, .cluster = 2}).find("not a multiple of the cluster") != std::string::npos);
  CHECK(fault_of(text, memory, {.grid = 32, .cluster = 32}).find("cluster") != std::string::npos);
  CHECK(fault_of(text, memory, {.dynamic_shared = 1U << 30}).find("shared memory a block") != std::string::npos);
}
