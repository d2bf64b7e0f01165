// wgmma against sums in f64, for every type, width and layout of its operands.
#include "emulator/matrix_samples.h"

#include "emulator/fault.h"
#include "emulator/matrix/wgmma.h"

using namespace tma_jit::emulator;
using namespace tma_jit::emulator::matrix;
using namespace tma_jit::testing;

namespace {

struct Layout {
  Major major;
  u32 span;  // of the swizzle; 16 for none
};

constexpr u64 descriptor_of(u32 start, u32 leading, u32 stride, u32 span) {
  const u64 mode = span == 128 ? 1 : span == 64 ? 2 : span == 32 ? 3 : 0;
  return u64{start >> 4} | u64{leading >> 4} << 16 | u64{stride >> 4} << 32 | mode << 62;
}

// Puts rows by depth of `values` at `start`, as a chain of tiles one after the other, and gives the descriptor.
// Along K: 8 rows of a span each make a tile; along M or N: 8 values of k.
u64 place(const Values& values, Format format, Layout layout, u32 start, std::vector<u8>& shared) {
  const auto bits = static_cast<u32>(number::bits_of(format));
  const u32 tile = 8 * layout.span;
  const u32 per_span = layout.span * 8 / bits;  // elements
  const bool k_major = layout.major == Major::k;
  const u32 groups = (k_major ? values.rows : values.columns) / 8;
  for (u32 row = 0; row < values.rows; ++row) {
    for (u32 k = 0; k < values.columns; ++k) {
      const u32 line = k_major ? row : k;
      const u32 along = k_major ? k : row;
      const u32 address =
          start + (along / per_span * groups + line / 8) * tile + line % 8 * layout.span + along % per_span * bits / 8;
      put_bits(shared.data(), u64{swizzled_byte(address, layout.span, 16)} * 8, static_cast<int>(bits),
               pattern(format, values.at(row, k)));
    }
  }
  const u32 next_span = groups * tile;
  // Without a swizzle, MN-major operands exchange the two offsets.
  if (!k_major && layout.span == 16) return descriptor_of(start, tile, next_span, layout.span);
  return descriptor_of(start, next_span, tile, layout.span);
}

Values transposed(const Values& values) {
  Values out(values.columns, values.rows);
  for (u32 i = 0; i < values.rows; ++i)
    for (u32 j = 0; j < values.columns; ++j) out.at(j, i) = values.at(i, j);
  return out;
}

// The fragment of D by its figure: of thread t of the warpgroup, element i.
struct Place {
  u32 row, column;
};
Place d_place(u32 thread, u32 i) {
  const u32 warp = thread / 32;
  const u32 lane = thread % 32;
  return {warp * 16 + lane / 4 + (i / 2 % 2) * 8, i / 4 * 8 + lane % 4 * 2 + i % 2};
}

void check_d(const Wgmma& instruction, const Bank& d, const Values& expected) {
  const u32 per_warp = accumulator_registers(instruction);
  u32 wrong = 0;
  for (u32 thread = 0; thread < 128; ++thread) {
    for (u32 i = 0; i < instruction.n / 2; ++i) {
      const Place at = d_place(thread, i);
      double value = 0;
      if (instruction.accumulator == Format::f16) {
        const u64 word = d.word(thread / 32 * per_warp + i / 2, thread % 32);
        value = number::value_of(Format::f16, (word >> (16 * (i % 2))) & 0xffff);
      } else {
        value = number::value_of(instruction.accumulator, d.word(thread / 32 * per_warp + i, thread % 32));
      }
      if (value != expected.at(at.row, at.column)) ++wrong;
    }
  }
  CHECK(wrong == 0);
}

struct Case {
  Wgmma instruction;
  Layout a{Major::k, 128};
  Layout b{Major::k, 128};
};

void run_case(const Case& c, std::mt19937& random) {
  Wgmma instruction = c.instruction;
  instruction.a_major = c.a.major;
  instruction.b_major = c.b.major;
  const u32 depth = 256 / static_cast<u32>(number::bits_of(instruction.a_format));
  REQUIRE(depth_of(instruction) == depth);
  const Values a = sample(64, depth, instruction.a_format, random);
  const Values b = sample(depth, instruction.n, instruction.b_format, random);
  std::vector<u8> shared(160 * 1024, 0xcb);
  Bank fragment(16);
  if (instruction.a_in_registers) {
    const u32 bits = static_cast<u32>(number::bits_of(instruction.a_format));
    const u32 each = 32 / bits;
    for (u32 thread = 0; thread < 128; ++thread)
      for (u32 i = 0; i < 4 * each; ++i) {  // element i of the thread, by the figure
        const u32 lane = thread % 32;
        const u32 row = thread / 32 * 16 + lane / 4 + (i / each % 2) * 8;
        const u32 k = lane % 4 * each + i % each + i / (2 * each) * 4 * each;
        fragment.put(thread / 32 * 4 + i / each, lane, i % each * bits, static_cast<int>(bits),
                     pattern(instruction.a_format, a.at(row, k)));
      }
  } else {
    instruction.a_descriptor = place(a, instruction.a_format, c.a, 1024, shared);
  }
  instruction.b_descriptor = place(transposed(b), instruction.b_format, c.b, 65536, shared);
  std::vector<Span> spans;
  append_footprint(instruction, static_cast<u32>(shared.size()), spans);
  u32 read = 0;
  for (const Span& span : spans) read += span.bytes;
  CHECK(read == (instruction.a_in_registers ? 0 : 64 * 32) + instruction.n * 32);
  Bank d(accumulator_registers(instruction) * 4);
  const Registers a_registers = instruction.a_in_registers ? fragment.registers() : Registers{};
  Values expected = product(a, b);
  if (instruction.negate_a != instruction.negate_b)
    for (double& value : expected.data) value = -value;
  instruction.accumulate = false;
  execute(instruction, shared.data(), a_registers, d.registers());
  check_d(instruction, d, expected);
  instruction.accumulate = true;
  execute(instruction, shared.data(), a_registers, d.registers());
  for (double& value : expected.data) value *= 2;
  check_d(instruction, d, expected);
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
      CAPTURE(number::name_of(a));
      CAPTURE(number::name_of(b));
      const bool integers = !number::is_float(a);
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
  std::vector<Span> spans;
  const auto fault_of = [&](const Wgmma& instruction) {
    try {
      append_footprint(instruction, 4096, spans);
    } catch (const Fault& fault) {
      return fault.kind;
    }
    return FaultKind::trap;
  };
  Wgmma instruction = {.n = 8};
  CHECK(fault_of(instruction) == FaultKind::trap);  // nothing wrong with offsets of 0
  instruction.b_descriptor = descriptor_of(4096, 0, 1024, 128);
  CHECK(fault_of(instruction) == FaultKind::bounds);
  instruction.b_descriptor = u64{1} << 46;
  CHECK(fault_of(instruction) == FaultKind::descriptor);
  instruction = {.n = 12};
  CHECK(fault_of(instruction) == FaultKind::unsupported);
}
