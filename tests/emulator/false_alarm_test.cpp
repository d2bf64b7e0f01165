// Correct kernels that resemble faulty ones: they must run without report or warning, and the faulty ones must be
// reported.
#include "emulator/false_alarm.h"
#include "emulator/matrix/operand.h"
#include "emulator/matrix/tcgen05_move.h"
#include "emulator/planted.h"
#include "emulator/tcgen05_gemm.h"
#include "emulator/tensor/encode.h"

using namespace tma_jit::testing;

TEST_CASE("Lanes of one store that write the same value to the same place do not race, others do") {
  const std::string address = "mov.u32 %r1, s; shr.u32 %r2, %t, 1; shl.b32 %r3, %r2, 4; add.u32 %r3, %r3, %r1;\n";
  const std::string bulk =
      "mov.u32 %r1, s; shl.b32 %r2, %t, 2; add.u32 %r3, %r1, %r2; st.shared.u32 [%r3], %t;\n"
      "fence.proxy.async.shared::cta; bar.warp.sync -1;\n";
  const std::string finish = "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n";
  check_variants({
      {"one word, which each lane reads", "", "st.shared.u32 [s], 7; ld.shared.u32 %r1, [s];"},
      {"the same byte of words that differ", "", "mad.lo.u32 %r1, %t, 256, 5; st.shared.u8 [s], %r1;"},
      {"a word for two lanes", "", address + "st.shared.u32 [%r3], %r2;"},
      {"a vector for two lanes", "", address + "st.shared.v4.u32 [%r3], {%r2, 1, %r2, 2}; ld.shared.u32 %r4, [%r3];"},
      {"through a generic address", "", "cvta.shared.u64 %d1, s; st.u32 [%d1], 7;"},
      {"bulk stores", "",
       bulk + "cp.async.bulk.global.shared::cta.bulk_group [%base], [%r1], 128; " + finish +
           "ld.global.u32 %r4, [%base+8];"},
      {"words that differ", "race", "st.shared.u32 [s], %t;"},
      {"vectors that differ in one element", "race", address + "st.shared.v4.u32 [%r3], {%r2, 1, %t, 2};"},
      {"the same value twice, one store after the other", "race",
       "setp.lt.u32 %p1, %t, 16; @%p1 st.shared.u32 [s], 7; @!%p1 st.shared.u32 [s], 7;"},
      {"a lane that writes over what all have written", "race",
       "st.shared.u32 [s], 7; setp.eq.u32 %p1, %t, 3; @%p1 st.shared.u32 [s], 8;"},
      {"warps that write the same value", "race", "st.shared.u32 [s], 7;", {.block = 64}},
      {"bulk stores from different places", "race",
       bulk +
           "and.b32 %r4, %t, 1; mad.lo.u32 %r4, %r4, 16, %r1;\n"
           "cp.async.bulk.global.shared::cta.bulk_group [%base], [%r4], 64; " +
           finish},
      {"bulk stores that are not waited for", "race",
       bulk + "cp.async.bulk.global.shared::cta.bulk_group [%base], [%r1], 128; cp.async.bulk.commit_group;\n"
              "ld.global.u32 %r4, [%base+8];"},
  });
}

TEST_CASE("The same bulk store from 32 lanes happens once, and a bulk sum from 32 lanes 32 times") {
  const std::string body =
      "mov.u32 %r1, s; shl.b32 %r2, %t, 2; add.u32 %r3, %r1, %r2; st.shared.u32 [%r3], 1;\n"
      "fence.proxy.async.shared::cta; bar.warp.sync -1; cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 "
      "[%base], [%r1], 128; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;";
  TestMemory memory(device_of("sm_90a"), 256);
  std::memset(memory.as<char>(), 0, 256);
  run_ptx(kernel_text(body, "sm_90a", ".shared .align 16 .b8 s[128];\n"), memory);
  CHECK(memory.as<u32>()[31] == 32);
}

TEST_CASE("Fences before a relaxed arrival at the cluster's barrier release what they cover") {
  const RunShape pair{.grid = 2, .cluster = 2};
  const std::string init = "setp.eq.u32 %p1, %t, 0; @%p1 mbarrier.init.shared.b64 [m], 1;\n";
  const std::string relaxed = "barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.acquire.aligned;\n";
  const std::string released = "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;\n";
  const std::string peer = "mov.u32 %r1, %cluster_ctarank; xor.b32 %r1, %r1, 1;\n";
  const std::string use = peer +
                          "mov.u32 %r2, m; mapa.shared::cluster.u32 %r3, %r2, %r1;\n"
                          "@%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r3];\n"
                          "L: mbarrier.try_wait.parity.shared.b64 %p2, [m], 0; @!%p2 bra L;\n" +
                          released;
  const std::string write = "setp.eq.u32 %p1, %t, 0; @%p1 st.shared.u32 [s], 5;\n";
  const std::string read = peer +
                           "mov.u32 %r2, s; mapa.shared::cluster.u32 %r3, %r2, %r1;\n"
                           "@%p1 ld.shared::cluster.u32 %r4, [%r3];\n" +
                           released;
  check_variants({
      {"an mbarrier behind fence.mbarrier_init", "", init + "fence.mbarrier_init.release.cluster; " + relaxed + use,
       pair},
      {"a word behind fence.acq_rel.cluster", "", write + "fence.acq_rel.cluster; " + relaxed + read, pair},
      {"a word and a releasing arrival", "", write + released + read, pair},
      {"an mbarrier with no fence", "race|proxy", init + relaxed + use, pair},
      {"an mbarrier that is initialised behind the fence", "race|proxy",
       "fence.mbarrier_init.release.cluster; " + init + relaxed + use, pair},
      {"a word with no fence", "race", write + relaxed + read, pair},
      {"a word behind the fence of mbarriers", "race", write + "fence.mbarrier_init.release.cluster; " + relaxed + read,
       pair},
      {"a word that is written behind the fence", "race", "fence.acq_rel.cluster; " + write + relaxed + read, pair},
  });
}

TEST_CASE("A launch without a cluster has clusters of one block, which reaches itself as another one") {
  const std::string begin =
      "setp.eq.u32 %p1, %t, 0; mov.u32 %r1, s; mov.u32 %r2, m; mov.u16 %h1, 1;\n"
      "mapa.shared::cluster.u32 %r3, %r1, 0; mapa.shared::cluster.u32 %r4, %r2, 0;\n"
      "@%p1 mbarrier.init.shared.b64 [m], 1; fence.mbarrier_init.release.cluster;\n"
      "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [m], 16;\n"
      "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;\n@%p1 ";
  const std::string end =
      "\nL: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [m], 0; @!%p2 bra L;\nld.shared.u32 %r5, "
      "[s];";
  const std::string sent = ".shared::cluster.mbarrier::complete_tx::bytes";
  check_variants({
      {"a store", "", "mov.u32 %r1, s; mapa.shared::cluster.u32 %r3, %r1, 0; st.shared::cluster.u32 [%r3], 7;"},
      {"an asynchronous store", "", begin + "st.async.weak" + sent + ".v4.u32 [%r3], {1, 2, 3, 4}, [%r4];" + end},
      {"an asynchronous store to an address of the block", "",
       begin + "st.async.weak" + sent + ".v4.u32 [%r1], {1, 2, 3, 4}, [%r2];" + end},
      {"a multicast to the block alone", "",
       begin +
           "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r3], [%base], "
           "16, [%r4], %h1;" +
           end},
      {"an arrival", "",
       "setp.eq.u32 %p1, %t, 0; mov.u32 %r2, m; mapa.shared::cluster.u32 %r4, %r2, 0;\n"
       "@%p1 mbarrier.init.shared.b64 [m], 1; bar.warp.sync -1;\n"
       "@%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r4];" +
           end},
  });
}

TEST_CASE("Fences around relaxed accesses to an mbarrier carry order") {
  const RunShape two{.block = 64};
  const auto text = [](const char* before, const char* arrive, const char* wait, const char* after) {
    return std::string(
               "setp.eq.u32 %p1, %t, 0; setp.ge.u32 %p3, %t, 32; @%p1 mbarrier.init.shared.b64 [m], 1;\n"
               "bar.sync 0; @%p3 bra READ; @!%p1 bra END; st.shared.u32 [s], 5; ") +
           before + " mbarrier.arrive" + arrive + ".shared.b64 %d1, [m]; bra END;\nREAD: mbarrier.try_wait.parity" +
           wait + ".shared.b64 %p2, [m], 0; @!%p2 bra READ; " + after + " ld.shared.u32 %r1, [s];\nEND:";
  };
  const char *relaxed = ".relaxed.cta", *fence = "fence.acq_rel.cta;";
  check_variants({
      {"a fence before the arrival", "", text(fence, relaxed, "", ""), two},
      {"a fence behind the wait", "", text("", "", relaxed, fence), two},
      {"both", "", text(fence, relaxed, relaxed, fence), two},
      {"neither", "race", text("", relaxed, relaxed, ""), two},
      {"a fence on the other side alone", "race", text("", relaxed, "", fence), two},
      {"a fence before a wait that is relaxed", "race", text(fence, relaxed, relaxed, ""), two},
  });
}

TEST_CASE("Values computed from registers of tcgen05.ld before its wait are no mistake until something acts on them") {
  auto& device = device_of("sm_100a");
  const std::string wait = "tcgen05.wait::ld.sync.aligned; ";
  const std::string compute =
      "mov.b32 %r20, %q0; mul.f32 %f1, %q1, 0f40000000; fma.rn.f32 %f2, %f1, %f1, %f1; cvt.rn.bf16x2.f32 %r21, %f2, "
      "%f1; setp.gt.f32 %p5, %f2, 0f00000000; selp.b32 %r22, %r20, %r21, %p5; mov.b64 %d20, {%r22, %r21}; ";
  const auto run = [&](const std::string& lines) {
    TestMemory memory(device, kTcgen05Out + 128 * 256);
    std::memset(memory.as<u8>(), 0, kTcgen05ImageBytes);
    return fault_of(planted_text(tcgen05_gemm({{"wait load", lines}}), "sm_100a"), memory,
                    {.block = 128, .dynamic_shared = kTcgen05ImageBytes}, "sm_100a");
  };
  CHECK(run(wait) == "");
  CHECK(run(compute + wait + "st.shared.b64 [%r3], %d20; @%p5 st.shared.u32 [%r3+8], %r22;") == "");
  CHECK(run(compute + "mov.b32 %r22, 0; st.shared.u32 [%r3], %r22; " + wait) == "");
  for (const char* use : {"st.global.b64 [%d1], %d20;", "st.shared.u32 [%r3], %r20;",
                          "@%p5 bra SKIP; SKIP:", "@%p5 mov.u32 %r23, 1;", "shfl.sync.idx.b32 %r23, %f2, 0, 31, -1;",
                          "ld.global.u32 %r23, [%d20];", "mov.b32 %q2, 0;", "red.global.add.f32 [%d1], %f2;"}) {
    const std::string fault = run(compute + use + " " + wait);
    CAPTURE(fault);
    CHECK(fault.starts_with("in flight"));
    CHECK(fault.find("owned by the operation at planted.cu:" + std::to_string(tcgen05_line("load"))) !=
          std::string::npos);
  }
}

TEST_CASE("Values that nothing has written are no mistake until something acts on them") {
  const std::string read =
      "mov.u32 %r1, s; mad.lo.u32 %r2, %t, 4, %r1; setp.lt.u32 %p1, %t, 31; @%p1 st.shared.u32 [%r2], %t;\n"
      "bar.warp.sync -1; ld.shared.u32 %r3, [%r2]; setp.gt.u32 %p2, %r3, 5;\n";  // lane 31 reads beyond the end
  const std::string own = " mul.wide.u32 %d1, %t, 4; add.u64 %d1, %d1, %base; ";
  check_variants({
      {"a word that is not used", "", read},
      {"a word that is computed with and overwritten", "",
       read + "add.u32 %r3, %r3, 1; mov.u32 %r3, 0; st.global.u32 [%base], %r3;"},
      {"a word that is not chosen", "",
       read + "selp.u32 %r4, %r3, 0, %p1; add.u32 %r4, %r4, 1;" + own + "st.global.u32 [%d1], %r4;"},
      {"a comparison that another one decides", "",
       read + "and.pred %p3, %p1, %p2; @%p3 st.global.u32 [%base], 7; not.pred %p4, %p1; or.pred %p5, %p4, %p2;\n"
              "@!%p5 st.global.u32 [%base+4], 7; setp.gt.and.u32 %p6, %r3, 5, %p1; @%p6 st.global.u32 [%base+8], 7;"},
      {"an element of a vector that is not used",
       "",
       "st.shared.v2.u32 [s], {%t, 1}; ld.shared.v4.u32 {%r3, %r4, %r5, %r6}, [s]; st.global.u32 [%base], %r4;",
       {.block = 1}},
      {"a word that is stored", "uninitialised", read + own + "st.global.u32 [%d1], %r3;"},
      {"a branch", "uninitialised", read + "@%p2 bra L; L:"},
      {"a comparison that decides", "uninitialised",
       read + "or.pred %p3, %p2, %p1; xor.pred %p3, %p2, %p3; @%p3 st.global.u32 [%base], 7;"},
      {"a choice by it", "uninitialised", read + "selp.u32 %r4, 1, 2, %p2; st.global.u32 [%base], %r4;"},
      {"an address", "uninitialised", read + "cvt.u64.u32 %d1, %r3; add.u64 %d1, %d1, %base; ld.global.u8 %r4, [%d1];"},
      {"another lane's value", "uninitialised", read + "shfl.sync.bfly.b32 %r4, %r3, 1, 31, -1;"},
      {"an operand of mma", "uninitialised",
       read + "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%f1, %f2, %f3, %f4}, {%r3, %r1}, {%r1}, {%f1, %f2, "
              "%f3, %f4};"},
      {"an element of a vector",
       "uninitialised",
       "st.shared.v2.u32 [s], {%t, 1}; ld.shared.v4.u32 {%r3, %r4, %r5, %r6}, [s]; st.global.u32 [%base], %r5;",
       {.block = 1}},
  });
}

TEST_CASE("Padding that the unit ignores need not be written") {
  using namespace tma_jit::emulator::matrix;
  const std::string rows = "mov.u32 %r1, s; mad.lo.u32 %r1, %t, 16, %r1; mov.b64 %d1, 0;\n";
  const std::string row4 = rows + "st.shared.b64 [%r1], %d1; bar.warp.sync -1;\n";
  const std::string row6 = rows + "st.shared.b64 [%r1], %d1; st.shared.b32 [%r1+8], 0; bar.warp.sync -1;\n";
  const std::string load = "ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.";
  check_variants(
      {
          {"4-bit elements", "", row4 + load + "b4x16_p64 {%r2}, [%r1];"},
          {"6-bit elements", "", row6 + load + "b6x16_p32 {%r2}, [%r1];"},
          {"6-bit elements of which the last are missing", "uninitialised", row4 + load + "b6x16_p32 {%r2}, [%r1];"},
          {"whole rows", "uninitialised", row4 + "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r1];"},
      },
      "sm_100a");
  using tma_jit::emulator::numeric::Format;
  struct Padded {
    Format format;
    u32 bytes;  // of 16
  };
  for (const Padded& one : {Padded{Format::e2m1, 8}, Padded{Format::e3m2, 12}, Padded{Format::e4m3, 16}}) {
    std::vector<tma_jit::emulator::ByteRange> spans;
    append_footprint({.descriptor = {.start = 1024, .leading = 128, .stride = 256},
                      .format = one.format,
                      .rows = 8,
                      .depth = 32,
                      .padded = true},
                     8192, spans);
    u32 total = 0;
    for (const tma_jit::emulator::ByteRange& span : spans) total += span.bytes;
    CHECK(total == 16 * one.bytes);
  }
  const TensorCopy copy{.decompression = Decompression::b4x16_p64, .descriptor = u64{1} << 46};
  for (const tma_jit::emulator::ByteRange& span : plan(copy, 1U << 18).reads) CHECK(span.bytes == 8);
}

TEST_CASE("A swizzled tile need not begin where its pattern begins") {
  auto& device = device_of("sm_90a");
  constexpr u32 kTensor = 1024, kOut = 4096, kWords = 8 * 32;
  TestMemory memory(device, kOut + 4 * kWords);
  for (u32 i = 0; i < kWords; ++i) memory.as<u32>()[kTensor / 4 + i] = i;
  tma_jit::emulator::tensor::TensorMap map{};
  const u64 dims[] = {32, 8}, strides[] = {128};
  const u32 ones[] = {1, 1}, box[] = {32, 8};
  tma_jit::emulator::tensor::EncodeArguments arguments;
  arguments.data_type = CU_TENSOR_MAP_DATA_TYPE_UINT32;
  arguments.rank = 2;
  arguments.address = memory.address() + kTensor;
  arguments.dims = dims;
  arguments.strides = strides;
  arguments.element_strides = ones;
  arguments.swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
  REQUIRE(tma_jit::emulator::tensor::encode_tiled(arguments, box, map) == "");
  std::memcpy(memory.as<u8>(), &map, sizeof map);
  std::vector<std::string> warnings;
  device.settings = {};
  device.settings.warn = [&warnings](std::string_view text) { warnings.emplace_back(text); };
  const std::string fault = fault_of(
      kernel_text("mov.u32 %r1, s; add.u32 %r1, %r1, 384; mov.u32 %r2, m; setp.ne.u32 %p1, %t, 0;\n"
                  "@!%p1 mbarrier.init.shared.b64 [m], 1; fence.mbarrier_init.release.cluster; bar.warp.sync -1;\n"
                  "@!%p1 mbarrier.arrive.expect_tx.shared.b64 %d1, [m], 1024;\n"
                  "@!%p1 cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%base, {0, "
                  "0}], [%r2];\nW: mbarrier.try_wait.parity.shared.b64 %p2, [m], 0; @!%p2 bra W;\n"
                  "mul.wide.u32 %d1, %t, 4; add.u64 %d1, %d1, %base; mad.lo.u32 %r3, %t, 4, %r1; mov.u32 %r4, 0;\n"
                  "L: ld.shared.u32 %r5, [%r3]; st.global.u32 [%d1+4096], %r5; add.u32 %r3, %r3, 128; add.u64 %d1, "
                  "%d1, 128; add.u32 %r4, %r4, 1; setp.lt.u32 %p3, %r4, 8; @%p3 bra L;",
                  "sm_90a", ".shared .align 1024 .b8 s[2048];\n.shared .align 8 .b64 m;\n"),
      memory);
  device.settings = {};
  CHECK(fault == "");
  CHECK(warnings == std::vector<std::string>{});
  u32 wrong = 0;
  for (u32 line = 0; line < 8;
       ++line)  // bits 4 to 6 of an address are changed by bits 7 to 9; the tile begins at line 3
    for (u32 word = 0; word < 32; ++word)
      wrong += memory.as<u32>()[kOut / 4 + line * 32 + word] != line * 32 + (word ^ (line + 3) % 8 * 4) ? 1 : 0;
  CHECK(wrong == 0);
}
