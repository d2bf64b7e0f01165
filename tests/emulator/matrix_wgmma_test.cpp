// wgmma against sums in f64, for every type, width and layout of its operands.
#include "emulator/fault.h"
#include "emulator/wgmma_samples.h"

using namespace tma_jit::emulator;
using namespace tma_jit::emulator::matrix;
using namespace tma_jit::testing;
using namespace tma_jit::testing::wgmma_samples;

namespace {

struct Case {
  Wgmma instruction;
  Layout a{Major::k, 128};
  Layout b{Major::k, 128};
};

void run_case(const Case& c, std::mt19937& random) {
  Wgmma instruction = c.instruction;
  instruction.a_major = c.a.major;
  instruction.b_major = c.b.major;
  const u32 depth = 256 / static_cast<u32>(numeric::bits_of(instruction.a_format));
  REQUIRE(depth_of(instruction) == depth);
  const Values a = sample(64, depth, instruction.a_format, random);
  const Values b = sample(depth, instruction.n, instruction.b_format, random);
  std::vector<u8> shared(160 * 1024, 0xcb);
  Bank fragment(16);
  if (instruction.a_in_registers) {
    fragment = fragment_of(instruction.a_format, a);
  } else {
    instruction.a_descriptor = place(a, instruction.a_format, c.a, 1024, shared);
  }
  instruction.b_descriptor = place(transposed(b), instruction.b_format, c.b, 65536, shared);
  std::vector<ByteRange> spans;
  append_common_footprint(instruction, static_cast<u32>(shared.size()), spans);
  for (u32 warp = 0; warp < 4; ++warp) append_own_footprint(instruction, warp, static_cast<u32>(shared.size()), spans);
  u32 read = 0;
  for (const ByteRange& span : spans) read += span.bytes;
  CHECK(read == (instruction.a_in_registers ? 0 : 64 * 32) + instruction.n * 32);
  Bank d(accumulator_registers(instruction) * 4);
  const Registers a_registers = instruction.a_in_registers ? fragment.registers() : Registers{};
  Values expected = product(a, b);
  if (instruction.negate_a != instruction.negate_b)
    for (double& value : expected.data) value = -value;
  instruction.accumulate = false;
  execute(instruction, shared.data(), a_registers, d.registers());
  CHECK(wrong_elements(instruction, d, expected) == 0);
  instruction.accumulate = true;
  execute(instruction, shared.data(), a_registers, d.registers());
  for (double& value : expected.data) value *= 2;
  CHECK(wrong_elements(instruction, d, expected) == 0);
}

}  // namespace

TEST_CASE("wgmma: every number of columns") {
  std::mt19937 random(1);
  for (u32 n = 8; n <= 256; n += 8) {
    CAPTURE(n);
    run_case({.instruction = {.n = n}}, random);
    run_case({.instruction = {.n = n, .a_in_registers = true}}, random);
  }
}

TEST_CASE("wgmma: every type") {
  std::mt19937 random(2);
  for (const Format a : {Format::bf16, Format::f16, Format::tf32, Format::e4m3, Format::e5m2, Format::s8, Format::u8}) {
    for (const Format b :
         {Format::bf16, Format::f16, Format::tf32, Format::e4m3, Format::e5m2, Format::s8, Format::u8}) {
      const auto family = [](Format f) { return f == Format::e5m2 ? Format::e4m3 : f == Format::u8 ? Format::s8 : f; };
      if (family(a) != family(b)) continue;
      CAPTURE(numeric::name_of(a));
      CAPTURE(numeric::name_of(b));
      const bool integers = !numeric::is_float(a);
      for (const Format d : {Format::f32, Format::f16, Format::s32}) {
        if (integers != (d == Format::s32) || (d == Format::f16 && (a == Format::bf16 || a == Format::tf32))) continue;
        for (const bool registers : {false, true})
          for (const u32 span : {16U, 32U, 64U, 128U})
            run_case(
                {.instruction = {.n = 72, .a_format = a, .b_format = b, .accumulator = d, .a_in_registers = registers},
                 .a = {Major::k, span},
                 .b = {Major::k, span}},
                random);
      }
    }
  }
}

TEST_CASE("wgmma: every layout of 16-bit operands") {
  std::mt19937 random(3);
  for (const Major a_major : {Major::k, Major::mn})
    for (const Major b_major : {Major::k, Major::mn})
      for (const u32 a_span : {16U, 32U, 64U, 128U})
        for (const u32 b_span : {16U, 32U, 64U, 128U}) {
          CAPTURE(a_span);
          CAPTURE(b_span);
          run_case({.instruction = {.n = 128}, .a = {a_major, a_span}, .b = {b_major, b_span}}, random);
        }
}

TEST_CASE("wgmma: negation") {
  std::mt19937 random(4);
  for (const bool a : {false, true})
    for (const bool b : {false, true}) run_case({.instruction = {.n = 16, .negate_a = a, .negate_b = b}}, random);
}

TEST_CASE("wgmma: saturating integers clamp, others wrap") {
  Wgmma instruction = {.n = 8, .a_format = Format::u8, .b_format = Format::u8, .accumulator = Format::s32};
  std::vector<u8> shared(8192, 255);
  instruction.a_descriptor = descriptor_of(0, 0, 1024, 128);
  instruction.b_descriptor = descriptor_of(0, 0, 1024, 128);
  for (const bool saturate : {false, true}) {
    instruction.saturate = saturate;
    Bank d(16);
    for (u32 i = 0; i < 16; ++i)
      for (u32 lane = 0; lane < 32; ++lane) d.put(i, lane, 0, 32, 0x7fffffff);
    execute(instruction, shared.data(), {}, d.registers());
    CHECK(d.word(5, 7) == (saturate ? 0x7fffffffU : 0x7fffffffU + 32U * 255U * 255U));
  }
}

TEST_CASE("wgmma: an operand beyond shared memory, and bad descriptors, are named") {
  std::vector<ByteRange> spans;
  const auto fault_of = [&](const Wgmma& instruction) {
    try {
      append_common_footprint(instruction, 4096, spans);
      append_own_footprint(instruction, 3, 4096, spans);
    } catch (const Fault& fault) {
      return fault.kind;
    }
    return FaultKind::trap;
  };
  Wgmma instruction = {.n = 8};
  CHECK(fault_of(instruction) == FaultKind::trap);  // offsets of 0 are valid
  instruction.b_descriptor = descriptor_of(4096, 0, 1024, 128);
  CHECK(fault_of(instruction) == FaultKind::bounds);
  instruction.b_descriptor = u64{1} << 46;
  CHECK(fault_of(instruction) == FaultKind::descriptor);
  instruction = {.n = 12};
  CHECK(fault_of(instruction) == FaultKind::unsupported);
}
