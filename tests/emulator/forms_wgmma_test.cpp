// Forms of wgmma, from PTX text to results, against sums in f64.
#include <fmt/format.h>

#include "emulator/register_kernel.h"
#include "emulator/wgmma_samples.h"

using namespace tma_jit::testing;
using namespace tma_jit::testing::wgmma_samples;
using registers::list_of;

namespace {

constexpr u32 kStart = 2048;  // offset of the image in the block's shared memory
constexpr u32 kOfB = 2048 + 8192;

std::string name(Format format) {
  return std::string(numeric::name_of(format));
}

std::string hex(u64 value) {
  return fmt::format("{:#x}", value);
}

// Computes D = A * B and then D += A * B, in one group each, with or without a swizzle in both descriptors.
void check_wgmma(const Wgmma& m, u32 span, const std::string& constants) {
  std::mt19937 random(m.n);
  const u32 depth = 256 / static_cast<u32>(numeric::bits_of(m.a_format));
  const Values a = sample(64, depth, m.a_format, random), b = sample(depth, m.n, m.b_format, random);
  std::vector<u8> shared(kOfB + 16384, 0xcb);
  const std::string b_descriptor = hex(place(transposed(b), m.b_format, {Major::k, span}, kOfB, shared));
  const std::string a_descriptor = hex(place(a, m.a_format, {Major::k, span}, kStart, shared));
  shared.erase(shared.begin(), shared.begin() + kStart);
  const Bank fragment = fragment_of(m.a_format, a), d(accumulator_registers(m) * 4);
  const std::string mma = "wgmma.mma_async.sync.aligned.m64n" + std::to_string(m.n) + "k" + std::to_string(depth) +
                          (m.saturate ? ".satfinite." : ".") + name(m.accumulator) + "." + name(m.a_format) + "." +
                          name(m.b_format) + " " + list_of("D", accumulator_registers(m)) + ", " +
                          (m.a_in_registers ? list_of("A", 4) : "%d10") + ", %d11, ";
  CAPTURE(mma);
  const std::string text = "setp.ne.u32 %p1, %r0, 2048; @%p1 trap; mov.u64 %d10, " + a_descriptor + "; mov.u64 %d11, " +
                           b_descriptor + "; setp.eq.u32 %p2, %r0, 0; wgmma.fence.sync.aligned;\n" + mma + "%p2" +
                           constants + "; wgmma.commit_group.sync.aligned;\n" + mma + "!%p2" + constants +
                           "; wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;";
  const Bank result =
      run_on_registers(text, {{"A", fragment}}, {"D", d}, {.arch = "sm_90a", .warps = 4, .shared = shared});
  Values expected = product(a, b);
  for (double& value : expected.data) value *= m.negate_a != m.negate_b ? -2 : 2;
  CHECK(wrong_elements(m, result, expected) == 0);
}

}  // namespace

TEST_CASE("Forms: wgmma of every type, A in shared memory and in registers") {
  struct Types {
    Format d, a, b;
    const char* shared;     // the immediates if A is in shared memory
    const char* registers;  // the immediates if A is in registers
  };
  for (const Types& t :
       {Types{Format::f32, Format::f16, Format::f16, ", 1, 1, 0, 0", ", 1, 1, 0"},
        Types{Format::f16, Format::f16, Format::f16, ", 1, 1, 0, 0", ", 1, 1, 0"},
        Types{Format::f32, Format::bf16, Format::bf16, ", 1, 1, 0, 0", ", 1, 1, 0"},
        Types{Format::f32, Format::tf32, Format::tf32, ", 1, 1", ", 1, 1"},
        Types{Format::f32, Format::e4m3, Format::e5m2, ", 1, 1", ", 1, 1"},
        Types{Format::f16, Format::e5m2, Format::e4m3, ", 1, 1", ", 1, 1"},
        Types{Format::s32, Format::s8, Format::u8, "", ""}, Types{Format::s32, Format::u8, Format::s8, "", ""}})
    for (u32 n = 8; n <= 256; n += 8)
      for (const bool in_registers : {false, true}) {
        if (n % 32 != 0 && in_registers) continue;
        Wgmma m;
        m.n = n;
        m.accumulator = t.d;
        m.a_format = t.a;
        m.b_format = t.b;
        m.a_in_registers = in_registers;
        check_wgmma(m, n == 40 ? 32 : 16, in_registers ? t.registers : t.shared);
      }
}

TEST_CASE("Forms: wgmma with a negated operand, and saturating") {
  Wgmma m;
  m.n = 16;
  m.accumulator = Format::f32;
  m.a_format = m.b_format = Format::bf16;
  m.negate_a = true;
  check_wgmma(m, 16, ", -1, 1, 0, 0");
  m.negate_b = true;
  check_wgmma(m, 16, ", -1, -1, 0, 0");
  Wgmma integers;
  integers.n = 32;
  integers.accumulator = Format::s32;
  integers.a_format = integers.b_format = Format::s8;
  integers.saturate = true;
  check_wgmma(integers, 16, "");
}
