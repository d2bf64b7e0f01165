// Multicasts of .cta_group::2: the bytes for each destination are completed on the mbarrier of one block of its pair,
// the one whose rank has the parity of the mbarrier operand's rank. Two pairs of blocks share tiles as 2-SM kernels do.
#include "emulator/ptx_kernel.h"
#include "emulator/tensor/encode.h"

using namespace tma_jit;
using namespace tma_jit::testing;

namespace {

constexpr u32 kBlocks = 4, kRows = 8, kColumns = 32, kTile = kRows * kColumns * 4;
constexpr u32 kTensor = 4096, kOut = kTensor + kBlocks * kTile;

// Block r copies tile r to both blocks of its parity, r % 2 and r % 2 + 2, into slot r / 2 of each. Each block thus has
// two tiles, and the leader of each pair (of rank parity `leader`) expects four. It signals its peer, and every block
// stores its tiles.
std::string text_of(u32 leader, const std::string& group, u32 counted) {
  const std::string bytes = std::to_string(kTile);
  return "setp.ne.u32 %p1, %t, 0; mov.u32 %r1, room; mov.u32 %r9, %cluster_ctarank; and.b32 %r8, %r9, 1;\n"
         "@!%p1 mbarrier.init.shared::cta.b64 [full], 1; @!%p1 mbarrier.init.shared::cta.b64 [told], 1;\n"
         "fence.mbarrier_init.release.cluster; bar.warp.sync -1;\n"
         "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;\n"
         "@%p1 bra END; setp.eq.u32 %p2, %r8, " +
         std::to_string(leader) + "; " + (group.ends_with("2") ? "@%p2 " : "") +
         "mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], " + std::to_string(counted * kTile) +
         ";\nshr.u32 %r2, %r9, 1; mad.lo.u32 %r3, %r2, " + bytes +
         ", %r1; shl.b32 %r4, 5, %r8; cvt.u16.u32 %h1, %r4; mul.lo.u32 %r5, %r9, 8; mov.u32 %r6, full;\n" +
         (group.ends_with("2") ? leader == 0 ? "and.b32 %r6, %r6, 0xfeffffff;\n" : "or.b32 %r6, %r6, 0x1000000;\n"
                               : "") +
         "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster" + group +
         " [%r3], [%base, {0, %r5}], [%r6], %h1;\n" +
         (group.ends_with("2")
              ? "@!%p2 bra PEER; L: mbarrier.try_wait.parity.shared::cta.b64 %p3, [full], 0; @!%p3 bra L;\n"
                "mov.u32 %r7, told; xor.b32 %r10, %r9, 1; mapa.shared::cluster.u32 %r11, %r7, %r10;\n"
                "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r11]; bra READY;\n"
                "PEER: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [told], 0; @!%p3 bra PEER;\n"
              : "L: mbarrier.try_wait.parity.shared::cta.b64 %p3, [full], 0; @!%p3 bra L;\n") +
         "READY: mul.wide.u32 %d1, %r9, " + std::to_string(2 * kTile) +
         "; add.u64 %d1, %d1, %base; add.u64 %d1, %d1, " + std::to_string(kOut) +
         ";\nmov.u32 %r2, 0; KEEP: add.u32 %r3, %r1, %r2; ld.shared.u32 %r4, [%r3]; cvt.u64.u32 %d2, %r2;\n"
         "add.u64 %d2, %d2, %d1; st.global.u32 [%d2], %r4; add.u32 %r2, %r2, 4; setp.lt.u32 %p4, %r2, " +
         std::to_string(2 * kTile) +
         "; @%p4 bra KEEP;\nEND: bar.warp.sync -1; barrier.cluster.arrive.release.aligned; "
         "barrier.cluster.wait.acquire.aligned;";
}

std::string run(TestMemory& memory, const std::string& body, emulator::Policy policy, u64 seed) {
  auto& device = device_of("sm_100a");
  device.settings = {};
  device.settings.policy = policy;
  device.settings.seed = seed;
  device.settings.polls_before_livelock = 100'000;
  const std::string fault = fault_of(kernel_text(body, "sm_100a",
                                                 ".shared .align 1024 .b8 room[2048];\n.shared .align 8 .b64 full;\n"
                                                 ".shared .align 8 .b64 told;\n"),
                                     memory, {.grid = kBlocks, .cluster = kBlocks}, "sm_100a");
  device.settings = {};
  return fault;
}

void prepare(TestMemory& memory) {
  std::memset(memory.as<u8>(), 0, kOut + kBlocks * 2 * kTile);
  for (u32 i = 0; i < kBlocks * kTile / 4; ++i) memory.as<u32>()[kTensor / 4 + i] = i * 2654435761U;
  const u64 dims[] = {kColumns, kBlocks * kRows}, strides[] = {kColumns * 4};
  const u32 ones[] = {1, 1}, box[] = {kColumns, kRows};
  emulator::tensor::TensorMap map{};
  emulator::tensor::EncodeArguments arguments;
  arguments.data_type = CU_TENSOR_MAP_DATA_TYPE_UINT32;
  arguments.rank = 2;
  arguments.address = memory.address() + kTensor;
  arguments.dims = dims;
  arguments.strides = strides;
  arguments.element_strides = ones;
  REQUIRE(emulator::tensor::encode_tiled(arguments, box, map) == "");
  std::memcpy(memory.as<u8>(), &map, sizeof map);
}

u32 wrong_words(TestMemory& memory) {
  u32 wrong = 0;
  for (u32 block = 0; block < kBlocks; ++block)
    for (u32 i = 0; i < 2 * kTile / 4; ++i) {
      const u32 tile = block % 2 + 2 * (i / (kTile / 4));
      const u32 expected = (tile * (kTile / 4) + i % (kTile / 4)) * 2654435761U;
      wrong += memory.as<u32>()[(kOut + block * 2 * kTile) / 4 + i] != expected ? 1 : 0;
    }
  return wrong;
}

constexpr emulator::Policy kPolicies[] = {emulator::Policy::eager, emulator::Policy::lazy, emulator::Policy::random,
                                          emulator::Policy::split, emulator::Policy::starved};

}  // namespace

TEST_CASE("A multicast of .cta_group::2 signals the block of each pair that has the parity of the mbarrier's block") {
  for (const emulator::Policy policy : kPolicies)
    for (const u32 leader : {0U, 1U})
      for (u64 seed = 1; seed <= 3; ++seed) {
        CAPTURE(leader);
        CAPTURE(seed);
        TestMemory memory(device_of("sm_100a"), kOut + kBlocks * 2 * kTile);
        prepare(memory);
        CHECK(run(memory, text_of(leader, ".cta_group::2", 4), policy, seed) == "");
        CHECK(wrong_words(memory) == 0);
      }
}

TEST_CASE(
    "A multicast of .cta_group::1, or of none, signals each destination, and a leader of pairs that expects too "
    "little or too much is reported") {
  for (const emulator::Policy policy : kPolicies) {
    TestMemory memory(device_of("sm_100a"), kOut + kBlocks * 2 * kTile);
    for (const char* group : {"", ".cta_group::1"}) {
      prepare(memory);
      CHECK(run(memory, text_of(0, group, 2), policy, 1) == "");
      CHECK(wrong_words(memory) == 0);
    }
    prepare(memory);
    CHECK(run(memory, text_of(0, ".cta_group::2", 2), policy, 1) != "");
    CHECK(run(memory, text_of(0, ".cta_group::2", 5), policy, 1).starts_with("deadlock"));
  }
}
