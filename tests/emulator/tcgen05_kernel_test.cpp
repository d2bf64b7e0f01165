// tcgen05 in kernels: a multiplication whose result comes back through registers, and what the checks say where one of
// its steps is missing.
#include <map>

#include "emulator/matrix_samples.h"
#include "emulator/ptx_kernel.h"

using namespace tma_jit;
using namespace tma_jit::testing;

namespace {

constexpr u32 kImageBytes = 6144;  // A of 128 rows by 32 bytes, then B of 64
constexpr u32 kOut = 8192;

// Lines of the kernel by name, so that a test can leave one out or put another in its place.
using Lines = std::vector<std::pair<std::string, std::string>>;

Lines gemm_lines() {
  Lines lines = {
      {"barrier", "setp.ne.u32 %p1, %t, 0;\n@!%p1 mbarrier.init.shared::cta.b64 [done], 1;\n"},
      {"announce", "fence.mbarrier_init.release.cluster;\n"},
      {"alloc",
       "setp.ge.u32 %p2, %t, 32;\n@%p2 bra allocated;\n"
       "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64;\n"
       "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\nallocated:\n"},
      {"image",
       "mul.lo.u32 %r1, %t, 48;\ncvt.u64.u32 %d1, %r1;\nadd.u64 %d1, %d1, %base;\nmov.u32 %r2, dyn;\nadd.u32 %r3, %r2, "
       "%r1;\n"},
  };
  std::string copy;
  for (int i = 0; i < 48; i += 4) {
    const std::string at = std::to_string(i);
    copy += "ld.global.u32 %r4, [%d1+" + at + "];\nst.shared.u32 [%r3+" + at + "], %r4;\n";
  }
  lines.emplace_back("copy", copy);
  lines.emplace_back("proxy", "fence.proxy.async.shared::cta;\n");
  lines.emplace_back("before", "tcgen05.fence::before_thread_sync;\n");
  lines.emplace_back("sync", "bar.sync 0;\n");
  lines.emplace_back("after", "tcgen05.fence::after_thread_sync;\n");
  lines.emplace_back("slot", "ld.shared.u32 %r5, [slot];\n");
  // No swizzle, along K: eight rows of 16 bytes after one another; A's second chunk lies 2048 on, B's 1024.
  lines.emplace_back("descriptors",
                     "shr.u32 %r6, %r2, 4;\ncvt.u64.u32 %d2, %r6;\nor.b64 %d3, %d2, 0x0000400800800000;\n"
                     "add.u64 %d4, %d2, 256;\nor.b64 %d4, %d4, 0x0000400800400000;\nmov.u32 %r7, 0x08100490;\n");
  lines.emplace_back("skip", "@%p1 bra issued;\n");
  lines.emplace_back("mma", "setp.eq.u32 %p3, %t, 1;\ntcgen05.mma.cta_group::1.kind::f16 [%r5], %d3, %d4, %r7, %p3;\n");
  lines.emplace_back("second", "");
  lines.emplace_back("commit", "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];\n");
  lines.emplace_back("issued", "issued:\n");
  lines.emplace_back("wait", "poll:\nmbarrier.try_wait.parity.shared::cta.b64 %p4, [done], 0;\n@!%p4 bra poll;\n");
  lines.emplace_back("after wait", "tcgen05.fence::after_thread_sync;\n");
  std::string registers;
  for (int i = 0; i < 64; ++i) registers += (i == 0 ? "%q" : ", %q") + std::to_string(i);
  lines.emplace_back("load", "tcgen05.ld.sync.aligned.32x32b.x64.b32 {" + registers + "}, [%r5];\n");
  lines.emplace_back("wait load", "tcgen05.wait::ld.sync.aligned;\n");
  std::string store = "shl.b32 %r8, %t, 8;\ncvt.u64.u32 %d5, %r8;\nadd.u64 %d5, %d5, %base;\n";
  for (int i = 0; i < 64; ++i)
    store +=
        "st.global.u32 [%d5+" + std::to_string(kOut + 4 * static_cast<u32>(i)) + "], %q" + std::to_string(i) + ";\n";
  lines.emplace_back("store", store);
  lines.emplace_back("before free", "tcgen05.fence::before_thread_sync;\n");
  lines.emplace_back("sync free", "bar.sync 0;\n");
  lines.emplace_back("free", "@%p2 bra freed;\ntcgen05.dealloc.cta_group::1.sync.aligned.b32 %r5, 64;\nfreed:\n");
  return lines;
}

std::string text_of(const Lines& lines) {
  std::string body = ".reg .b32 %q<64>;\n";
  for (const auto& line : lines) body += line.second;
  return kernel_text(
      body, "sm_100a",
      ".extern .shared .align 1024 .b8 dyn[];\n.shared .align 8 .b64 done;\n.shared .align 4 .b32 slot;\n");
}

// The kernel with some lines replaced.
std::string changed(const std::map<std::string, std::string>& changes) {
  Lines lines = gemm_lines();
  for (const auto& [name, text] : changes) {
    bool found = false;
    for (auto& line : lines) {
      if (line.first != name) continue;
      line.second = text;
      found = true;
    }
    REQUIRE(found);
  }
  return text_of(lines);
}

struct Data {
  Values a{128, 16}, b{64, 16};
};

Data fill(TestMemory& memory) {
  std::mt19937 random(1);
  Data data;
  data.a = sample(128, 16, Format::bf16, random);
  data.b = sample(64, 16, Format::bf16, random);
  u8* image = memory.as<u8>();
  for (u32 k = 0; k < 16; ++k) {
    for (u32 row = 0; row < 128; ++row)
      put_bits(image, (row * 16 + k / 8 * 2048 + k % 8 * 2) * 8, 16, pattern(Format::bf16, data.a.at(row, k)));
    for (u32 row = 0; row < 64; ++row)
      put_bits(image, (4096 + row * 16 + k / 8 * 1024 + k % 8 * 2) * 8, 16, pattern(Format::bf16, data.b.at(row, k)));
  }
  return data;
}

constexpr RunShape kShape = {.block = 128, .dynamic_shared = kImageBytes};

std::string fault_with(const std::map<std::string, std::string>& changes) {
  TestMemory memory(device_of("sm_100a"), kOut + 128 * 256);
  fill(memory);
  return fault_of(changed(changes), memory, kShape, "sm_100a");
}

bool begins(const std::string& text, std::string_view start) {
  INFO(text);
  return text.starts_with(start);
}

}  // namespace

TEST_CASE("a tcgen05 multiplication comes back through tcgen05.ld") {
  TestMemory memory(device_of("sm_100a"), kOut + 128 * 256);
  const Data data = fill(memory);
  run_ptx(text_of(gemm_lines()), memory, kShape, "sm_100a");
  u32 wrong = 0;
  for (u32 row = 0; row < 128; ++row)
    for (u32 column = 0; column < 64; ++column) {
      double sum = 0;
      for (u32 k = 0; k < 16; ++k) sum += data.a.at(row, k) * data.b.at(column, k);
      wrong += memory.as<float>()[kOut / 4 + row * 64 + column] != static_cast<float>(sum) ? 1 : 0;
    }
  CHECK(wrong == 0);
}

TEST_CASE("a missing step of a tcgen05 multiplication is reported in its class") {
  CHECK(begins(fault_with({{"proxy", ""}}), "proxy"));
  CHECK(begins(fault_with({{"wait load", ""}}), "in flight"));
  CHECK(begins(fault_with({{"free", ""}}), "tensor memory"));
  CHECK(begins(fault_with({{"commit", ""}}), "deadlock"));
  CHECK(begins(fault_with({{"after wait", ""}}), "proxy"));
  // Accumulating into what nothing has written.
  CHECK(begins(
      fault_with({{"mma", "setp.eq.u32 %p3, %t, 0;\ntcgen05.mma.cta_group::1.kind::f16 [%r5], %d3, %d4, %r7, %p3;\n"}}),
      "uninitialised"));
  CHECK(begins(
      fault_with(
          {{"mma", "setp.eq.u32 %p3, %t, 1;\ntcgen05.mma.cta_group::1.kind::f16 [%r5+64], %d3, %d4, %r7, %p3;\n"}}),
      "tensor memory"));
  CHECK(begins(fault_with({{"free",
                            "@%p2 bra freed;\ntcgen05.dealloc.cta_group::1.sync.aligned.b32 %r5, 64;\n"
                            "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r5, 64;\nfreed:\n"}}),
               "tensor memory"));
  CHECK(begins(
      fault_with({{"commit", "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.b64 [done];\n"}}),
      "tensor memory"));
  CHECK(begins(fault_with({{"descriptors",
                            "shr.u32 %r6, %r2, 4;\ncvt.u64.u32 %d2, %r6;\nmov.u64 %d3, %d2;\nmov.u64 %d4, "
                            "%d2;\nmov.u32 %r7, 0x08100490;\n"}}),
               "descriptor"));
}

TEST_CASE("a load that races with a multiplication, and one that overtakes another warp's, are reported") {
  // An arrival by a thread instead of the core: what is read may not be there yet.
  const std::string plain = fault_with({{"commit", "mbarrier.arrive.shared::cta.b64 %d6, [done];\n"}});
  INFO(plain);
  CHECK((plain.starts_with("race") || plain.starts_with("uninitialised")));
}

TEST_CASE("a second multiplication may not overwrite what a warp still loads") {
  // Warp 0 issues another mma after its own load, with no word from the other warps.
  const std::string again =
      "@%p1 bra freed_again;\ntcgen05.mma.cta_group::1.kind::f16 [%r5], %d3, %d4, %r7, %p3;\n"
      "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];\nfreed_again:\n"
      "again:\nmbarrier.try_wait.parity.shared::cta.b64 %p4, [done], 1;\n@!%p4 bra again;\n";
  const std::string text = fault_with({{"store", again}});
  INFO(text);
  CHECK(text.starts_with("race"));
}
