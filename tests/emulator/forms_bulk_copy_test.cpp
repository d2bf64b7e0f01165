// Forms of bulk copies and of prefetches, from PTX text to results, against loops.
#include <algorithm>
#include <bit>
#include <functional>

#include "emulator/copy_kernel.h"

using namespace tma_jit;
using namespace tma_jit::testing;
using namespace tma_jit::testing::copies;

namespace {

u32 value_at(u32 i) {
  return i * 2654435761U;
}

// Device memory whose words from kTensor on are numbered.
struct Bytes {
  Bytes() : memory(device_of("sm_100a"), kCopyBytes) {
    std::memset(memory.as<u8>(), 0xee, kCopyBytes);
    for (u32 i = 0; i < 1024; ++i) words()[i] = value_at(i);
  }
  u32* words() { return memory.as<u32>() + kTensor / 4; }
  const u32* out(u32 block = 0) { return memory.as<u32>() + (kOut + block * kRoom) / 4; }
  TestMemory memory;
};

void run_store(Bytes& bytes, const std::string& copy) {
  run_ptx(kernel_text(store_text(copy), "sm_100a", kShared), bytes.memory, {}, "sm_100a");
}

}  // namespace

TEST_CASE("Forms: bulk loads into one block, and into several") {
  for (const char* form :
       {"cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1+32], [%d8+64], 96, [bar];",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%r1+32], [%d8+64], 96, "
        "[bar], %d5;",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r1+32], [%d8+64], 96, "
        "[bar], %h1;"}) {
    CAPTURE(std::string(form));
    const u32 blocks = std::string_view(form).find("multicast") != std::string_view::npos ? 2 : 1;
    Bytes bytes;
    run_ptx(kernel_text(load_text("mov.u16 %h1, 3; createpolicy.cvt.L2.b64 %d5, 0;\n" + std::string(form), 96),
                        "sm_100a", kShared),
            bytes.memory, {.grid = blocks, .cluster = blocks}, "sm_100a");
    for (u32 block = 0; block < blocks; ++block)
      for (u32 i = 0; i < kRoom / 4; ++i)
        REQUIRE(bytes.out(block)[i] == (i >= 8 && i < 32 ? value_at(i + 8) : filler(i)));
  }
}

TEST_CASE("Forms: bulk stores, whole and by a mask of bytes") {
  Bytes whole;
  run_store(whole,
            "createpolicy.fractional.L2::evict_last.b64 %d5, 1.0; "
            "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%d8+64], [%r1+32], 96, %d5;");
  for (u32 i = 0; i < 64; ++i) CHECK(whole.words()[i] == (i >= 16 && i < 40 ? filler(i - 8) : value_at(i)));
  Bytes masked;
  run_store(masked,
            "mov.u16 %h1, 0x8421; cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%d8+64], [%r1+32], 96, "
            "%h1;");
  const auto byte_of = [](u32 word, u32 i) { return static_cast<u8>(word >> (8 * i)); };
  for (u32 i = 0; i < 256; ++i) {
    const bool written = i >= 64 && i < 160 && (0x8421 >> (i % 16) & 1) != 0;
    const u8 expected = written ? byte_of(filler((i - 32) / 4), i % 4) : byte_of(value_at(i / 4), i % 4);
    CHECK(byte_of(masked.words()[i / 4], i % 4) == expected);
  }
}

namespace {

// Reduces a value of shared memory into one of global memory, both as bits of the type, and returns the result.
u64 reduced(const std::string& operation, u64 old, u64 value) {
  CAPTURE(operation);
  Bytes bytes;
  for (int i = 0; i < 2; ++i) std::memcpy(bytes.words() + 2 * i, &old, 8);
  std::string put;
  for (int i = 0; i < 4; ++i)
    put += "mov.u32 %r4, " + std::to_string(static_cast<u32>(i % 2 == 0 ? value : value >> 32)) +
           "; st.shared.u32 [%r1+" + std::to_string(4 * i) + "], %r4;\n";
  const bool hinted = operation.starts_with("add.u");
  run_store(bytes, put +
                       "createpolicy.fractional.L2::evict_first.b64 %d5, 1.0; fence.proxy.async.shared::cta; "
                       "cp.reduce.async.bulk.global.shared::cta.bulk_group" +
                       (hinted ? ".L2::cache_hint." : ".") + operation + " [%d8], [%r1], 16" +
                       (hinted ? ", %d5;" : ";"));
  u64 result[2];
  std::memcpy(result, bytes.words(), 16);
  CHECK(result[0] == result[1]);
  return result[0];
}

u64 pair_of(u32 low, u32 high) {
  return low | u64{high} << 32;
}
u64 bits_of(float low, float high) {
  return pair_of(std::bit_cast<u32>(low), std::bit_cast<u32>(high));
}
u64 four(u64 half) {
  return half * 0x0001000100010001;
}

}  // namespace

TEST_CASE("Forms: bulk reductions into global memory, of every type") {
  const u64 a = pair_of(5, 0xfffffff0), b = pair_of(7, 0x20);
  CHECK(reduced("add.u32", a, b) == pair_of(12, 0x10));
  CHECK(reduced("add.s32", a, b) == pair_of(12, 0x10));
  CHECK(reduced("add.u64", a, b) == a + b);
  CHECK(reduced("min.u32", a, b) == pair_of(5, 0x20));
  CHECK(reduced("min.s32", a, b) == pair_of(5, 0xfffffff0));
  CHECK(reduced("max.u64", a, b) == a);
  CHECK(reduced("max.s64", a, b) == b);
  CHECK(reduced("min.u64", a, b) == b);
  CHECK(reduced("inc.u32", pair_of(5, 9), pair_of(7, 9)) == pair_of(6, 0));
  CHECK(reduced("dec.u32", pair_of(5, 0), pair_of(7, 9)) == pair_of(4, 9));
  CHECK(reduced("and.b32", a, b) == pair_of(5 & 7, 0x20));
  CHECK(reduced("or.b64", a, b) == (a | b));
  CHECK(reduced("xor.b32", a, b) == (a ^ b));
  CHECK(reduced("add.f32", bits_of(1.5F, -2), bits_of(2.25F, 3)) == bits_of(3.75F, 1));
  CHECK(reduced("add.f64", std::bit_cast<u64>(1.5), std::bit_cast<u64>(-4.0)) == std::bit_cast<u64>(-2.5));
  CHECK(reduced("add.noftz.f16", four(0x3c00), four(0x4000)) == four(0x4200));   // 1 + 2
  CHECK(reduced("min.f16", four(0x3c00), four(0xbc00)) == four(0xbc00));         // 1 and -1
  CHECK(reduced("add.noftz.bf16", four(0x3f80), four(0x4000)) == four(0x4040));  // 1 + 2
  CHECK(reduced("max.bf16", four(0x3f80), four(0xbf80)) == four(0x3f80));
}

TEST_CASE("Forms: bulk copies and reductions into another block's shared memory") {
  struct Kind {
    const char* name;  // "" copies
    u32 (*combine)(u32 old, u32 value);
  };
  for (const Kind& kind :
       {Kind{"", [](u32, u32 v) { return v; }},
        {".add.u32", [](u32 o, u32 v) { return o + v; }},
        {".min.s32", [](u32 o, u32 v) { return static_cast<u32>(std::min(static_cast<s32>(o), static_cast<s32>(v))); }},
        {".max.u32", [](u32 o, u32 v) { return std::max(o, v); }},
        {".inc.u32", [](u32 o, u32 v) { return o >= v ? 0 : o + 1; }},
        {".dec.u32", [](u32 o, u32 v) { return o == 0 || o > v ? v : o - 1; }},
        {".and.b32", [](u32 o, u32 v) { return o & v; }},
        {".or.b32", [](u32 o, u32 v) { return o | v; }},
        {".xor.b32", [](u32 o, u32 v) { return o ^ v; }}}) {
    const std::string form = std::string(*kind.name == '\0' ? "cp" : "cp.reduce") +
                             ".async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes" + kind.name +
                             " [%r6+32], [%r1+64], 96, [%r7];";
    CAPTURE(form);
    Bytes bytes;
    // Block 0 copies to block 1 and completes its own mbarrier by a copy of as many bytes.
    const std::string copy =
        "mapa.shared::cluster.u32 %r6, %r1, 1; mov.u32 %r7, bar; mapa.shared::cluster.u32 %r7, "
        "%r7, 1;\n" +
        form +
        "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1+1024], [%d8], "
        "96, [bar];";
    run_ptx(kernel_text(load_text(copy, 96), "sm_100a", kShared), bytes.memory, {.grid = 2, .cluster = 2}, "sm_100a");
    for (u32 i = 0; i < kRoom / 4; ++i)
      REQUIRE(bytes.out(1)[i] == (i >= 8 && i < 32 ? kind.combine(filler(i), filler(i + 8)) : filler(i)));
  }
}

TEST_CASE("Forms: bulk sums of 64 bits into another block's shared memory") {
  Bytes bytes;
  const std::string copy =
      "mapa.shared::cluster.u32 %r6, %r1, 1; mov.u32 %r7, bar; mapa.shared::cluster.u32 %r7, %r7, 1;\n"
      "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u64 [%r6+32], [%r1+64], 96, "
      "[%r7];\ncp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1+1024], [%d8], 96, [bar];";
  run_ptx(kernel_text(load_text(copy, 96), "sm_100a", kShared), bytes.memory, {.grid = 2, .cluster = 2}, "sm_100a");
  for (u32 i = 0; i < 24; i += 2) {
    const auto wide = [](u32 word) { return filler(word) | u64{filler(word + 1)} << 32; };
    u64 got = 0;
    std::memcpy(&got, bytes.out(1) + 8 + i, 8);
    CHECK(got == wide(8 + i) + wide(16 + i));
  }
}

TEST_CASE("Forms: prefetches and discards leave data as it was, and want what they would touch to be right") {
  Bytes bytes;
  const std::array<u64, 1> dims{64};
  const std::array<u32, 1> box{32}, steps{1};
  emulator::tensor::TensorMap map{};
  REQUIRE(emulator::tensor::encode_tiled({.data_type = 2,
                                          .rank = 1,
                                          .address = bytes.memory.address() + kTensor,
                                          .dims = dims.data(),
                                          .element_strides = steps.data()},
                                         box.data(), map) == "");
  std::memcpy(bytes.memory.as<u8>(), &map, sizeof map);
  const auto fault = [&](const std::string& body) {
    return fault_of(kernel_text("add.u64 %d8, %base, 4096;\n" + body, "sm_100a",
                                std::string(kShared) + ".const .align 64 .b8 none[128];\n"),
                    bytes.memory, {}, "sm_100a");
  };
  CHECK(fault("cp.async.bulk.prefetch.tensor.1d.L2.global.tile [%base, {4}]; prefetch.tensormap [%base];") == "");
  CHECK(fault("cp.async.bulk.prefetch.tensor.1d.L2.global.L2::cache_hint [%base, {0}], %d8;") == "");
  CHECK(fault("cp.async.bulk.prefetch.tensor.2d.L2.global [%base, {0, 0}];")
            .starts_with("tensor map"));  // of 1 dimension
  CHECK(fault("cp.async.bulk.prefetch.L2.global.L2::cache_hint [%d8], 64, %d8; discard.global.L2 [%d8+1024], 128;") ==
        "");
  CHECK(fault("prefetch.tensormap [%d8];").starts_with("tensor map"));
  CHECK(fault("prefetch.const.tensormap [none];").starts_with("tensor map"));
  CHECK(fault("cp.async.bulk.prefetch.tensor.1d.L2.global [%d8, {0}];").starts_with("tensor map"));
  CHECK(fault("cp.async.bulk.prefetch.L2.global [%d8+4], 64;").starts_with("misaligned"));
  for (u32 i = 0; i < 64; ++i) CHECK(bytes.words()[i] == value_at(i));
}

TEST_CASE("Forms: a tensor map among the parameters is prefetched there") {
  const std::string text =
      ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry test(.param .align 64 .b8 m[128])\n{\n"
      "prefetch.param.tensormap [m];\nret;\n}\n";
  emulator::driver::Library library(device_of("sm_90a"), text);
  emulator::tensor::TensorMap map{};
  const std::array<u64, 1> dims{64};
  const std::array<u32, 1> box{32}, steps{1};
  alignas(64) static u8 tensor[256];
  REQUIRE(emulator::tensor::encode_tiled({.data_type = 2,
                                          .rank = 1,
                                          .address = reinterpret_cast<u64>(tensor),
                                          .dims = dims.data(),
                                          .element_strides = steps.data()},
                                         box.data(), map) == "");
  CUlaunchConfig config{};
  config.gridDimX = config.gridDimY = config.gridDimZ = config.blockDimX = config.blockDimY = config.blockDimZ = 1;
  void* arguments[] = {&map};
  emulator::driver::launch(*library.kernel("test"), config, arguments);
  map.magic = 0;
  CHECK_THROWS_AS(emulator::driver::launch(*library.kernel("test"), config, arguments), emulator::Fault);
}
