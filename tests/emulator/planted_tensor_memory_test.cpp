// Mistakes with tensor memory and tcgen05: missing steps of a multiplication, columns, lanes, fences and descriptors.
#include "emulator/planted.h"
#include "emulator/tcgen05_gemm.h"

using namespace tma_jit::testing;

namespace {

using Changes = std::map<std::string, std::string>;

struct Mistake {
  const char* name;
  const char* report;
  Changes changes;
  const char* line;        // the line of the report
  const char* other = "";  // the line of the other access
};

void check_mistakes(std::span<const Mistake> mistakes) {
  std::vector<Planted> bugs;
  for (const Mistake& mistake : mistakes) {
    const std::string other = mistake.other;
    bugs.push_back({mistake.name,
                    mistake.report,
                    tcgen05_gemm(mistake.changes),
                    tcgen05_line(mistake.line),
                    other.empty() ? 0 : tcgen05_line(other),
                    {.block = 128, .dynamic_shared = kTcgen05ImageBytes}});
  }
  check_planted("sm_100a", bugs);
}

std::string mma(const std::string& d, const std::string& accumulate = "1") {
  return "setp.eq.u32 %p3, %t, " + accumulate + "; tcgen05.mma.cta_group::1.kind::f16 [" + d + "], %d3, %d4, %r7, %p3;";
}

std::string registers() {
  std::string list;
  for (int i = 0; i < 64; ++i) list += (i == 0 ? "%q" : ", %q") + std::to_string(i);
  return "{" + list + "}";
}

std::string load(const std::string& address) {
  return "tcgen05.ld.sync.aligned.32x32b.x64.b32 " + registers() + ", [" + address + "];";
}

// Every warp fills its lanes of D, and all warps synchronise.
std::string filled(const std::string& wait = "tcgen05.wait::st.sync.aligned; ") {
  return "ld.shared.u32 %r5, [s]; tcgen05.st.sync.aligned.32x32b.x64.b32 [%r5], " + registers() + "; " + wait +
         "tcgen05.fence::before_thread_sync; bar.sync 0; tcgen05.fence::after_thread_sync;";
}

std::string alloc(const std::string& instructions) {
  return "setp.ge.u32 %p2, %t, 32; @%p2 bra allocated; " + instructions + " allocated:";
}
const std::string kAlloc = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], ";
const std::string kRelinquish = "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned; ";
const std::string kFree = "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r5, ";

constexpr const char* kRight =
    "shr.u32 %r6, %r2, 4; cvt.u64.u32 %d2, %r6; or.b64 %d3, %d2, 0x0000400800800000; add.u64 %d4, %d2, 256; "
    "or.b64 %d4, %d4, 0x0000400800400000; ";
constexpr const char* kTwoBarriers =
    "setp.ne.u32 %p1, %t, 0; @!%p1 mbarrier.init.shared::cta.b64 [m], 1; @!%p1 mbarrier.init.shared::cta.b64 [m+8], 1;";

// A second multiplication into `d`, with nothing to order it after other warps' loads.
std::string again(const std::string& d) {
  return "@%p1 bra freed_again; " + mma(d) +
         " tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [m+8]; freed_again: again: "
         "mbarrier.try_wait.parity.shared::cta.b64 %p4, [m+8], 0; @!%p4 bra again;";
}

// Multiplications of 64 rows, which take 16 of each 32 lanes, into the first of them and then into `second`, while the
// warps load the first.
Changes halves(const std::string& second) {
  std::string list;
  for (int i = 0; i < 32; ++i) list += (i == 0 ? "%q" : ", %q") + std::to_string(i);
  return {{"barrier", kTwoBarriers},
          {"descriptors", kRight + std::string("mov.u32 %r7, 0x04100490;")},
          {"load", "tcgen05.ld.sync.aligned.16x256b.x8.b32 {" + list + "}, [%r5];"},
          {"store", again(second)}};
}

}  // namespace

TEST_CASE("Planted: tensor memory, its columns, lanes and owners") {
  const Mistake mistakes[] = {
      {"columns that are never freed", "tensor memory", {{"free", ""}}, "alloc"},
      {"columns that are freed twice",
       "tensor memory",
       {{"free", "@%p2 bra freed; " + kFree + "64; " + kFree + "64; freed:"}},
       "free"},
      {"half of an allocation freed", "tensor memory", {{"free", "@%p2 bra freed; " + kFree + "32; freed:"}}, "free"},
      {"48 columns", "tensor memory", {{"alloc", alloc(kAlloc + "48; " + kRelinquish)}}, "alloc"},
      {"an allocation after the permit was given up",
       "tensor memory",
       {{"alloc", alloc(kRelinquish + kAlloc + "64;")}},
       "alloc"},
      {"more columns than there are, which nobody frees",
       "deadlock",
       {{"alloc", alloc(kAlloc + "512; " + kAlloc + "32;")}},
       "alloc"},
      {"a multiplication into columns that are not allocated", "tensor memory", {{"mma", mma("%r5+64")}}, "mma"},
      {"a multiplication into a lane where none begins", "tensor memory", {{"mma", mma("%r5+524288")}}, "mma"},
      {"a load past the last column", "tensor memory", {{"load", load("%r5+480")}}, "load"},
      {"a load of another warp's lanes", "tensor memory", {{"load", load("%r5+2097152")}}, "load"},
      {"a load from an address of each lane's own",
       "divergence",
       {{"load", "add.u32 %r9, %r5, %t; " + load("%r9")}},
       "load"},
      {"instructions of one and of two CTAs",
       "tensor memory",
       {{"commit", "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.b64 [m];"}},
       "commit"},
      {"an accumulator that nothing has written", "uninitialised", {{"mma", mma("%r5", "0")}}, "mma"},
      {"operands that nothing has written", "uninitialised", {{"copy", ""}}, "mma"},
  };
  check_mistakes(mistakes);
}

TEST_CASE("Planted: tcgen05, its fences, waits and commits") {
  const std::string init = "mbarrier.init.shared::cta.b64 [m], 1; ", is_other = "setp.ne.u32 %p1, %t, 0; ";
  const std::string late =
      "@%p1 bra late; tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [m]; late: "
      "mbarrier.try_wait.parity.shared::cta.b64 %p4, [m], 1; @!%p4 bra late;";
  const Mistake mistakes[] = {
      {"operands written with no proxy fence", "proxy", {{"proxy", ""}}, "mma", "copy"},
      {"operands overwritten before the commit", "race", {{"second", "st.shared.u32 [%r2], %t;"}}, "second", "mma"},
      {"an mbarrier whose init no fence made known",
       "proxy",
       {{"barrier", is_other}, {"announce", ""}, {"before", "@!%p1 " + init + "tcgen05.fence::before_thread_sync;"}},
       "commit",
       "before"},
      {"a multiplication that is not committed", "deadlock", {{"commit", ""}}, "wait"},
      {"a thread's arrival in the place of a commit",
       "race",
       {{"slot", filled()}, {"commit", "mbarrier.arrive.shared::cta.b64 %d6, [m];"}, {"store", late}},
       "load",
       "mma"},
      {"no fence after the wait", "proxy", {{"after wait", ""}}, "load", "mma"},
      {"registers of a load used before its wait", "in flight", {{"wait load", ""}}, "store", "load"},
      {"a store that is not waited for", "race", {{"slot", filled("")}, {"mma", mma("%r5", "0")}}, "mma", "slot"},
      {"a second multiplication while a warp still loads",
       "race",
       {{"barrier", kTwoBarriers}, {"store", again("%r5")}},
       "store",
       "load"},
      {"a second multiplication into half of the lanes while a warp still loads it", "race", halves("%r5"), "store",
       "load"},
      {"columns freed with no fence after the loads", "race", {{"before free", ""}}, "free", "load"},
  };
  check_mistakes(mistakes);
}

TEST_CASE("Planted: descriptors of tcgen05") {
  const auto with = [](const std::string& instruction, const std::string& more = "") {
    return Changes{{"descriptors", kRight + ("mov.u32 %r7, " + instruction + "; " + more)}};
  };
  const std::string good = "0x08100490";
  const Mistake mistakes[] = {
      {"no version in a matrix descriptor", "descriptor", with(good, "mov.u64 %d3, %d2;"), "mma"},
      {"reserved bits of a matrix descriptor", "descriptor", with(good, "or.b64 %d4, %d4, 0x0020000000000000;"), "mma"},
      {"a swizzle that there is not", "descriptor", with(good, "or.b64 %d3, %d3, 0x6000000000000000;"), "mma"},
      {"a matrix beyond shared memory", "out of bounds", with(good, "or.b64 %d3, %d3, 0x3f00;"), "mma"},
      {"no columns", "descriptor", with("0x08000490"), "mma"},
      {"96 rows", "descriptor", with("0x06100490"), "mma"},
      {"a type of D that the kind does not know", "descriptor", with("0x081004a0"), "mma"},
      {"a type of A that the kind does not know", "descriptor", with("0x08100690"), "mma"},
      {"reserved bits of an instruction descriptor", "descriptor", with("0x28100490"), "mma"},
      {"a sum of floats that saturates", "descriptor", with("0x08100498"), "mma"},
  };
  check_mistakes(mistakes);
}

TEST_CASE("Planted: a multiplication by two CTAs in a block that has no peer") {
  std::string body = tcgen05_gemm();
  for (std::size_t at = body.find("cta_group::1"); at != std::string::npos; at = body.find("cta_group::1", at))
    body.replace(at, 12, "cta_group::2");
  const Planted bugs[] = {
      {"no peer", "cluster", body, tcgen05_line("mma"), 0, {.block = 128, .dynamic_shared = kTcgen05ImageBytes}}};
  check_planted("sm_100a", bugs);
}

TEST_CASE("a tcgen05 multiplication may write one half of the lanes while the other is loaded") {
  TestMemory memory(device_of("sm_100a"), kTcgen05Out + 128 * 256);
  CHECK_NOTHROW(run_ptx(planted_text(tcgen05_gemm(halves("%r5+1048576")), "sm_100a"), memory,
                        {.block = 128, .dynamic_shared = kTcgen05ImageBytes}, "sm_100a"));
}
