// Checks of global memory: reads of unwritten memory, and unordered accesses of blocks, warps and asynchronous engines.
// Each planted mistake must be reported with its class, and its correct variants must not be reported.
#include "emulator/ptx_kernel.h"
#include "emulator/tensor/encode.h"

using namespace tma_jit::testing;
using tma_jit::emulator::Policy;

namespace {

constexpr std::size_t kBytes = 8192;
constexpr std::size_t kUnwritten = 4096;  // unwritten from here on, in tests that use it
constexpr std::size_t kTensor = 1024;     // 8 rows of 32 u32
constexpr Policy kPolicies[] = {Policy::eager, Policy::lazy, Policy::random, Policy::split, Policy::starved};

constexpr const char* kVariables =
    ".shared .align 128 .b8 s[1024];\n.shared .align 8 .b64 m[4];\n.global .align 16 .b8 zeros[64];\n";

struct GlobalCase {
  const char* name;
  const char* report;  // prefix of the fault's text; empty: no fault
  std::string body;
  RunShape shape{};
};

// Executes the body in thread 0 alone.
std::string once(const std::string& body) {
  return "setp.ne.u32 %p8, %t, 0; @%p8 bra END;\n" + body + "\nEND:";
}
// Executes one body in thread 0 of block 0, and another in thread 0 of all other blocks.
std::string blocks(const std::string& first, const std::string& others) {
  return once("mov.u32 %r60, %ctaid.x; setp.ne.u32 %p9, %r60, 0; @%p9 bra OTHERS;\n" + first + "\nbra END;\nOTHERS:\n" +
              others);
}
std::string all(const std::string& body) {
  return blocks(body, body);
}

const std::string kBarrier =
    "mbarrier.init.shared.b64 [m], 1; fence.mbarrier_init.release.cluster; mov.b32 %r1, s; mov.b32 %r2, m;\n";
const std::string kWait = "\nAGAIN: mbarrier.try_wait.parity.shared.b64 %p2, [m], 0; @!%p2 bra AGAIN;\n";

std::string bulk_load(const std::string& from) {
  return kBarrier +
         "mbarrier.arrive.expect_tx.shared.b64 %d1, [m], 32;\n"
         "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [" +
         from + "], 32, [%r2];" + kWait;
}
std::string filled_shared() {
  return "mov.b32 %r1, s; st.shared.v4.u32 [s], {%t, %t, %t, %t}; st.shared.v4.u32 [s+16], {%t, %t, %t, %t};\n"
         "fence.proxy.async.shared::cta;\n";
}
std::string bulk_store(const std::string& to, const std::string& wait) {
  return filled_shared() + "cp.async.bulk.global.shared::cta.bulk_group [" + to +
         "], [%r1], 32; cp.async.bulk.commit_group; " + wait + "\n";
}
std::string bulk_add(const std::string& to) {
  return filled_shared() + "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [" + to +
         "], [%r1], 32; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n";
}
// Boxes of 4 rows of the tensor whose map is at the start of the memory.
std::string tensor_load(const std::string& row) {
  return kBarrier + "mov.u32 %r3, 0; mov.u32 %r4, " + row +
         "; mbarrier.arrive.expect_tx.shared.b64 %d1, [m], 512;\n"
         "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r1], [%base, {%r3, %r4}], "
         "[%r2];" +
         kWait;
}
std::string tensor_store(const std::string& row) {
  return "mov.b32 %r1, s; mov.u32 %r3, 0; mov.u32 %r4, 0;\n"
         "{ FILL: add.u32 %r5, %r1, %r3; st.shared.u32 [%r5], %r3; add.u32 %r3, %r3, 4; setp.lt.u32 %p1, %r3, 512; "
         "@%p1 bra FILL; }\n"
         "fence.proxy.async.shared::cta; mov.u32 %r3, 0; mov.u32 %r4, " +
         row +
         ";\ncp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%base, {%r3, %r4}], [%r1]; "
         "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n";
}
std::string until(const std::string& load, const std::string& value = "1") {
  return "POLL: " + load + " setp.ne.u32 %p1, %r10, " + value + "; @%p1 bra POLL;\n";
}

// The first bytes of the memory are zeros, the map is at its start and the tensor at kTensor.
void prepare(TestMemory& memory, std::size_t written) {
  std::memset(memory.as<char>(), 0, kBytes);
  tma_jit::emulator::tensor::TensorMap map;
  const std::uint64_t dims[] = {32, 8}, strides[] = {32 * 4};
  const std::uint32_t ones[] = {1, 1}, box[] = {32, 4};
  tma_jit::emulator::tensor::EncodeArguments arguments;
  arguments.data_type = CU_TENSOR_MAP_DATA_TYPE_UINT32;
  arguments.rank = 2;
  arguments.address = memory.address() + kTensor;
  arguments.dims = dims;
  arguments.strides = strides;
  arguments.element_strides = ones;
  REQUIRE(tma_jit::emulator::tensor::encode_tiled(arguments, box, map) == "");
  std::memcpy(memory.as<void>(), &map, sizeof map);
  device_of("sm_90a").memory.mark_written(memory.address(), written);
}

// Runs every case under every policy with five seeds. A fault must be reported with at least one of the five.
void check_cases(const std::vector<GlobalCase>& cases, std::size_t written) {
  auto& device = device_of("sm_90a");
  for (const GlobalCase& one : cases) {
    for (const Policy policy : kPolicies) {
      int as_wanted = 0;
      std::string last, other;
      std::vector<std::string> warnings;
      for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        TestMemory memory(device, kBytes, false);
        prepare(memory, written);
        device.settings = {};
        device.settings.policy = policy;
        device.settings.seed = seed;
        device.settings.polls_before_livelock = 100'000;
        device.settings.warn = [&warnings](std::string_view text) { warnings.emplace_back(text); };
        last = fault_of(kernel_text(one.body, "sm_90a", kVariables), memory, one.shape);
        const bool wanted = *one.report == '\0' ? last.empty() : last.starts_with(one.report);
        as_wanted += wanted ? 1 : 0;
        if (!wanted) other = last;
      }
      device.settings = {};
      CAPTURE(std::string(one.name));
      CAPTURE(static_cast<int>(policy));
      CAPTURE(other);
      CHECK(as_wanted >= (*one.report == '\0' ? 5 : 1));
      if (*one.report == '\0') CHECK(warnings == std::vector<std::string>{});
    }
  }
}

}  // namespace

TEST_CASE("Reads of global memory that nothing has written are reported") {
  const std::string use = " st.global.u32 [%base], %r1;";
  check_cases(
      {
          {"a load", "uninitialised", "ld.global.u32 %r1, [%base+4096];" + use},
          {"a vector", "uninitialised", "ld.global.v4.u32 {%r2, %r1, %r3, %r4}, [%base+4096];" + use},
          {"the last lane of a row", "uninitialised",
           "mul.wide.u32 %d1, %t, 4; add.s64 %d2, %base, %d1; ld.global.u32 %r1, [%d2+3972];" + use},
          {"lanes far from each other", "uninitialised",
           "mul.wide.u32 %d1, %t, 136; add.s64 %d2, %base, %d1; ld.global.u8 %r1, [%d2];" + use},
          {"an atomic sum", "uninitialised", "atom.global.add.u32 %r1, [%base+4096], 1;"},
          {"a reduction", "uninitialised", "red.global.add.u32 [%base+4096], 1;"},
          {"cp.async", "uninitialised", once("cp.async.ca.shared.global [s], [%base+4096], 16; cp.async.wait_all;")},
          {"a bulk copy", "uninitialised", once(bulk_load("%base+4096"))},
          {"the end of a bulk copy", "uninitialised", once(bulk_load("%base+4080"))},
          {"a bulk reduction", "uninitialised", once(bulk_add("%base+4096"))},
      },
      kUnwritten);
  check_cases({{"a box of a tensor", "uninitialised", once(tensor_load("4"))}}, kTensor + 4 * 128);
  check_cases({{"a tensor map", "uninitialised", once(tensor_load("0"))}}, 64);
}

TEST_CASE("What has been written by anything, or is not read, is not reported") {
  check_cases(
      {
          {"the host's bytes", "", "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%base+4080];"},
          {"a variable of the module", "", "ld.global.u32 %r1, [zeros+16];"},
          {"the warp's own stores", "",
           "mul.wide.u32 %d1, %t, 4; add.s64 %d2, %base, %d1; st.global.u32 [%d2+4096], %t; ld.global.u32 %r1, "
           "[%d2+4096]; red.global.add.u32 [%d2+4096], 1;"},
          {"stores far from each other", "",
           "mul.wide.u32 %d1, %t, 64; add.s64 %d2, %base, %d1; st.global.u8 [%d2+4096], %t; ld.global.u8 %r1, "
           "[%d2+4096];"},
          {"cp.async that reads a part", "",
           once("cp.async.ca.shared.global [s], [%base+4088], 8, 8; cp.async.ca.shared.global [s+8], [%base+4092], 4, "
                "4; "
                "cp.async.ca.shared.global [s+32], [%base+4080], 16, 16; cp.async.ca.shared.global [s+48], "
                "[%base+4096], 8, 0; cp.async.ca.shared.global [s+16], [%base+4096], "
                "16, 0; cp.async.wait_all;")},
          {"prefetches", "",
           once("prefetch.global.L2 [%base+4096]; cp.async.bulk.prefetch.L2.global [%base+4096], 64; mov.u32 %r3, 0;\n"
                "cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%base, {%r3, %r3}];")},
          {"a bulk store, read when it is over", "",
           once(bulk_store("%base+4096", "cp.async.bulk.wait_group 0;") + "ld.global.u32 %r1, [%base+4100];")},
          {"bytes of a masked bulk store", "",
           once("mov.b32 %r1, s; st.shared.v4.u32 [s], {%t, %t, %t, %t}; fence.proxy.async.shared::cta; mov.u16 %h1, "
                "15;\ncp.async.bulk.global.shared::cta.bulk_group.cp_mask [%base+4096], [%r1], 16, %h1; "
                "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ld.global.u32 %r2, [%base+4096];")},
      },
      kUnwritten);
  check_cases({{"the box that is there", "", once(tensor_load("0"))}}, kTensor + 4 * 128);
  check_cases({{"a tensor that a copy has written", "",
                once(tensor_store("4") + "ld.global.u32 %r10, [%base+1536]; ld.global.u32 %r10, [%base+2044];")}},
              kTensor);
}

TEST_CASE("A vector of which some bytes are written is warned about once") {
  auto& device = device_of("sm_90a");
  TestMemory memory(device, kBytes, false);
  device.memory.mark_written(memory.address(), 4);
  std::vector<std::string> warnings;
  device.settings.warn = [&warnings](std::string_view text) { warnings.emplace_back(text); };
  CHECK(fault_of(kernel_text("ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%base]; ld.global.v4.u32 {%r1, %r2, %r3, %r4}, "
                             "[%base];"),
                 memory) == "");
  device.settings = {};
  CHECK(warnings.size() == 1);
}

TEST_CASE("The report of an unwritten byte says where it is, and switched off there is none, then or later") {
  auto& device = device_of("sm_90a");
  TestMemory memory(device, kBytes, false);
  const std::string text = kernel_text("ld.global.u32 %r1, [%base+64]; st.global.u32 [%base], %r1;");
  const std::string fault = fault_of(text, memory);
  CAPTURE(fault);
  CHECK(fault.find(fmt::format("bytes 64 to 67 of an allocation of 8192 bytes at {:#x}", memory.address())) !=
        std::string::npos);
  CHECK(fault.find("ld.global.u32 (PTX line") != std::string::npos);
  device.settings.checks = false;
  CHECK(fault_of(text, memory) == "");
  device.settings = {};
  CHECK(fault_of(text, memory) == "");  // writes of that launch were not tracked
}

TEST_CASE("Copies and fills of the host count as writing, and reading by the host as nothing") {
  const auto api = table_of("sm_90a");
  auto& device = device_of("sm_90a");
  REQUIRE(tma_jit::emulator::driver::context_stack().push(&device));
  TestMemory memory(device, kBytes, false);
  std::vector<unsigned char> bytes(128);
  CHECK(api.memcpy_device_to_host(bytes.data(), memory.address(), bytes.size()) == CUDA_SUCCESS);
  CHECK(fault_of(kernel_text("ld.global.u32 %r1, [%base]; st.global.u32 [%base+256], %r1;"), memory)
            .starts_with("uninitialised"));
  CHECK(api.memcpy_host_to_device(memory.address(), bytes.data(), bytes.size()) == CUDA_SUCCESS);
  CHECK(fault_of(kernel_text("ld.global.u32 %r1, [%base+124];"), memory) == "");
  CHECK(api.memset_d8_async(memory.address() + 128, 7, 100, nullptr) == CUDA_SUCCESS);
  CHECK(fault_of(kernel_text("ld.global.u32 %r1, [%base+224];"), memory) == "");
  CHECK(fault_of(kernel_text("ld.global.u32 %r1, [%base+228]; st.global.u32 [%base+256], %r1;"), memory)
            .starts_with("uninitialised"));
  tma_jit::emulator::driver::context_stack().pop();
}

TEST_CASE("Accesses to global memory that nothing orders are reported") {
  const RunShape two_blocks{.grid = 2}, two_warps{.block = 64};
  const std::string store = "st.global.u32 [%base+1024], 7;", load = "ld.global.u32 %r11, [%base+1024];";
  const std::string publish = "st.release.gpu.global.u32 [%base+512], 1;";
  const std::string publish_relaxed = "st.relaxed.gpu.global.u32 [%base+512], 1;";
  const std::string seen = until("ld.acquire.gpu.global.u32 %r10, [%base+512];");
  const std::string seen_relaxed = until("ld.relaxed.gpu.global.u32 %r10, [%base+512];");
  const std::string fence = "fence.acq_rel.gpu;", wait = "cp.async.bulk.wait_group 0;";
  check_cases(
      {
          {"two blocks store to one word", "race", all(store), two_blocks},
          {"blocks whose rows overlap",
           "race",
           "mov.u32 %r1, %ctaid.x; mad.lo.u32 %r1, %r1, 31, %t; mul.wide.u32 %d1, %r1, 4; add.s64 %d2, %base, %d1; "
           "st.global.u32 [%d2+1024], %t;",
           {.grid = 4}},
          {"two warps store to one word", "race", store, two_warps},
          {"a block reads what another one writes", "race", blocks(store, load), two_blocks},
          {"a warp reads what another one writes", "race", "setp.lt.u32 %p1, %t, 32; @%p1 " + store + " @!%p1 " + load,
           two_warps},
          {"an atomic sum and a store", "race", blocks(store, "red.global.add.u32 [%base+1024], 1;"), two_blocks},
          {"an atomic sum and a load", "race", blocks("red.global.add.u32 [%base+1024], 1;", load), two_blocks},
          {"a flag with nothing before it", "race", blocks(store + publish_relaxed, seen + load), two_blocks},
          {"a flag with nothing after it", "race", blocks(store + fence + publish_relaxed, seen_relaxed + load),
           two_blocks},
          {"a flag before the data", "race", blocks(publish + store, seen + load), two_blocks},
          {"a weak flag", "race", blocks(store + fence + "st.global.u32 [%base+512], 1;", seen + load), two_blocks},
          {"a bulk store, read with no wait", "race", once(bulk_store("%base+1024", "") + load)},
          {"a bulk store, read when only its source is free", "race",
           once(bulk_store("%base+1024", "cp.async.bulk.wait_group.read 0;") + load)},
          {"a bulk store that is published before it is over", "race",
           blocks(bulk_store("%base+1024", "") + fence + publish_relaxed + wait, seen + load), two_blocks},
          {"two bulk stores of a thread with no wait between", "race",
           once(bulk_store("%base+1024", "") +
                "cp.async.bulk.global.shared::cta.bulk_group [%base+1040], [%r1], 32; "
                "cp.async.bulk.commit_group; " +
                wait)},
          {"bulk stores of two blocks", "race", all(bulk_store("%base+1024", wait)), two_blocks},
          {"a bulk store and another block's store", "race", blocks(bulk_store("%base+1024", wait), store), two_blocks},
          {"a bulk reduction and another block's store", "race", blocks(bulk_add("%base+1024"), store), two_blocks},
          {"boxes that overlap", "race", blocks(tensor_store("0"), tensor_store("3")), two_blocks},
          {"a bulk load of what another block stores", "race", blocks(store, bulk_load("%base+1024")), two_blocks},
          {"a bulk load of what the thread stores", "proxy", once(store + bulk_load("%base+1024"))},
          {"a fence for shared memory", "proxy",
           once(store + "fence.proxy.async.shared::cta;" + bulk_load("%base+1024"))},
          {"a published store, loaded in bulk with no proxy fence", "proxy",
           blocks(store + publish, seen + bulk_load("%base+1024")), two_blocks},
          {"the source of cp.async overwritten", "race",
           once("cp.async.ca.shared.global [s], [%base+1024], 16; " + store + " cp.async.wait_all;")},
      },
      kBytes);
}

TEST_CASE("Accesses to global memory that something orders, and atomic ones, are not reported") {
  const RunShape two_blocks{.grid = 2}, three_blocks{.grid = 3};
  const std::string store = "st.global.u32 [%base+1024], 7;", load = "ld.global.u32 %r11, [%base+1024];";
  const std::string publish = "st.release.gpu.global.u32 [%base+512], 1;";
  const std::string publish_relaxed = "st.relaxed.gpu.global.u32 [%base+512], 1;";
  const std::string seen = until("ld.acquire.gpu.global.u32 %r10, [%base+512];");
  const std::string seen_volatile = until("ld.volatile.global.u32 %r10, [%base+512];");
  const std::string fence = "fence.acq_rel.gpu;", wait = "cp.async.bulk.wait_group 0;";
  const std::string fence_proxy = "fence.proxy.async.global;";
  check_cases(
      {
          {"a flag", "", blocks(store + publish, seen + load), two_blocks},
          {"a flag between fences", "", blocks(store + fence + publish_relaxed, seen_volatile + fence + load),
           two_blocks},
          {"an atomic flag", "",
           blocks(store + "fence.sc.gpu; red.relaxed.gpu.global.add.u32 [%base+512], 1;", seen + load), two_blocks},
          {"a flag for a whole block",
           "",
           "mov.u32 %r60, %ctaid.x; setp.ne.u32 %p9, %r60, 0; mul.wide.u32 %d1, %t, 4; add.s64 %d2, %base, %d1;\n"
           "@%p9 bra OTHERS; st.global.u32 [%d2+1024], %t; bar.sync 0; setp.eq.u32 %p3, %t, 0; @%p3 " +
               publish + " bra END;\nOTHERS: setp.ne.u32 %p4, %t, 0; @%p4 bra JOIN; " + seen +
               "JOIN: bar.sync 0; ld.global.u32 %r11, [%d2+1024]; st.global.u32 [%d2+1024], %r11; END:",
           {.grid = 2, .block = 96}},
          {"a chain of flags", "",
           once("mov.u32 %r60, %ctaid.x; setp.ne.u32 %p9, %r60, 0; @%p9 bra OTHERS; " + store + publish +
                " bra END;\nOTHERS: setp.eq.u32 %p4, %r60, 2; @%p4 bra LAST; " + seen +
                "st.release.gpu.global.u32 [%base+516], 1; bra END;\n"
                "LAST: ld.acquire.gpu.global.u32 %r10, [%base+516]; setp.ne.u32 %p1, %r10, 1; @%p1 bra LAST; " +
                load),
           three_blocks},
          {"the last block reads what all have written",
           "",
           once("mov.u32 %r1, %ctaid.x; mul.wide.u32 %d1, %r1, 4; add.s64 %d2, %base, %d1; st.global.u32 [%d2+1024], "
                "7; fence.acq_rel.gpu; atom.global.add.u32 %r2, [%base+512], 1; setp.ne.u32 %p1, %r2, 8; @%p1 bra "
                "END; fence.acq_rel.gpu; mov.u32 %r3, 0; mov.u64 %d3, %base; NEXT: ld.global.u32 %r4, [%d3+1024]; "
                "add.s64 %d3, %d3, 4; add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 9; @%p2 bra NEXT;"),
           {.grid = 9}},
          {"atomic sums of all",
           "",
           "red.global.add.u32 [%base+1024], 1; atom.global.add.u32 %r1, [%base+1024], 1;",
           {.grid = 9, .block = 64}},
          {"bulk and atomic sums of all",
           "",
           all(bulk_add("%base+1024") + "red.global.add.u32 [%base+1024], 1;"),
           {.grid = 9}},
          {"bytes of one word, a block each",
           "",
           once("mov.u32 %r1, %ctaid.x; cvt.u64.u32 %d1, %r1; add.s64 %d2, %base, %d1; ld.global.u8 %r2, [%d2+1027]; "
                "st.global.u8 [%d2+1027], %r1; ld.global.u8 %r2, [%d2+1027]; st.global.u8 [%d2+1027], %r2;"),
           {.grid = 9}},
          {"warps with a barrier between",
           "",
           "mul.wide.u32 %d1, %t, 4; add.s64 %d2, %base, %d1; xor.b32 %r1, %t, 33; mul.wide.u32 %d3, %r1, 4; add.s64 "
           "%d4, %base, %d3; st.global.u32 [%d2+1024], %t; bar.sync 0; ld.global.u32 %r2, [%d4+1024]; bar.sync 0; "
           "st.global.u32 [%d2+1024], %r2;",
           {.block = 64}},
          {"blocks of a cluster with its barrier between",
           "",
           "mov.u32 %r60, %ctaid.x; setp.eq.u32 %p1, %r60, 0; setp.eq.u32 %p2, %t, 0; and.pred %p1, %p1, %p2; "
           "@%p1 " +
               store + " barrier.cluster.arrive; barrier.cluster.wait; " + load,
           {.grid = 2, .cluster = 2}},
          {"loads by all", "", load, {.grid = 9, .block = 64}},
          {"a bulk store, then a load", "", once(bulk_store("%base+1024", wait) + load)},
          {"two bulk stores of a thread, one after the other", "",
           once(bulk_store("%base+1024", wait) + bulk_store("%base+1024", wait))},
          {"a published bulk store", "",
           blocks(bulk_store("%base+1024", wait) + fence_proxy + publish, seen + fence_proxy + load), two_blocks},
          {"a store, then a bulk load", "", once(store + fence_proxy + bulk_load("%base+1024"))},
          {"a published store, then a bulk load", "",
           blocks(store + publish, seen + fence_proxy + bulk_load("%base+1024")), two_blocks},
          {"a published store, fenced by its writer", "",
           blocks(store + "fence.proxy.async;" + publish, seen + bulk_load("%base+1024")), two_blocks},
          {"boxes beside each other", "", blocks(tensor_store("0"), tensor_store("4")), two_blocks},
          {"the source of cp.async overwritten when it is over", "",
           once("cp.async.ca.shared.global [s], [%base+1024], 16; cp.async.wait_all; " + store)},
      },
      kBytes);
}

TEST_CASE("Launches are ordered, and the report of a race names both sides, blocks that are gone included") {
  auto& device = device_of("sm_90a");
  TestMemory memory(device, kBytes);
  const std::string store = kernel_text(all("st.global.u32 [%base+64], 7;"));
  CHECK(fault_of(store, memory, {.grid = 1}) == "");
  CHECK(fault_of(store, memory, {.grid = 1}) == "");
  const std::string gone = kernel_text(
      once("mov.u32 %r60, %ctaid.x; setp.eq.u32 %p1, %r60, 0; setp.eq.u32 %p2, %r60, 40; or.pred %p1, %p1, %p2; @%p1 "
           "st.global.u32 [%base+64], 7;"));
  const std::string fault = fault_of(gone, memory, {.grid = 50});
  CAPTURE(fault);
  CHECK(fault.starts_with("race: two accesses to global memory"));
  CHECK(fault.find("(byte 64 of an allocation of 8192 bytes") != std::string::npos);
  CHECK(fault.find("first, written by warp 0 of block (0, 0, 0) at st.global.u32 (PTX line") != std::string::npos);
  CHECK(fault.find("then written by warp 0 of block (40, 0, 0) at st.global.u32 (PTX line") != std::string::npos);
  device.settings.checks = false;
  CHECK(fault_of(gone, memory, {.grid = 50}) == "");
  device.settings = {};
}
