// Forms of tcgen05.ld, .st, .cp, .shift and .commit, from PTX text to results, against the PTX ISA's figures.
#include <fmt/format.h>

#include <numeric>

#include "emulator/tcgen05_kernel.h"

using namespace tma_jit::testing;
using namespace tma_jit::testing::tensor_core;
using kernel::registers;

namespace {

struct Cell {
  u32 row, column;
};

struct Shape {
  const char* name;
  u32 registers, columns;    // of x1
  Cell (*at)(u32 l, u32 r);  // of register r of lane l, with every element in a column of its own
  bool split = false;        // lanes from 16 on are displaced by the immediate's number of columns
};

const Shape kShapes[] = {
    {"32x32b", 1, 1,
     [](u32 l, u32 r) {
       return Cell{l, r};
     }},
    {"16x64b", 1, 2,
     [](u32 l, u32 r) {
       return Cell{l / 4 + l % 2 * 8, l % 4 / 2 + 2 * r};
     }},
    {"16x128b", 2, 4,
     [](u32 l, u32 r) {
       return Cell{l / 4 + r % 2 * 8, l % 4 + r / 2 * 4};
     }},
    {"16x256b", 4, 8,
     [](u32 l, u32 r) {
       return Cell{l / 4 + r % 4 / 2 * 8, l % 4 * 2 + r % 2 + r / 4 * 8};
     }},
    {"16x32bx2", 1, 1,
     [](u32 l, u32 r) {
       return Cell{l % 16, r};
     },
     true},
};

constexpr u32 kBase = 7, kSplit = 130;

Cta numbered() {
  Cta cta;
  std::iota(cta.tensor.begin(), cta.tensor.end(), 0U);
  return cta;
}

std::string form_of(const Shape& s, u32 repeat, const char* operation, const char* halves) {
  return fmt::format("tcgen05.{}.sync.aligned.{}.x{}{}.b32 ", operation, s.name, repeat, halves);
}

u32 column_of(const Shape& s, const Cell& cell, u32 lane, u32 step) {
  return kBase + cell.column * step + (s.split && lane >= 16 ? kSplit : 0);
}

}  // namespace

TEST_CASE("Forms: tcgen05.ld takes registers from where each shape's figure shows") {
  for (const Shape& s : kShapes)
    for (u32 repeat = 1; repeat * s.registers <= 128; repeat *= 2)
      for (const bool packed : {false, true}) {
        if ((packed ? 2 : 1) * repeat * s.columns > (s.split ? kSplit : 512 - kBase)) continue;
        const u32 count = s.registers * repeat, step = packed ? 2 : 1;
        std::string text = form_of(s, repeat, "ld", packed ? ".pack::16b" : "") + registers(0, count) +
                           fmt::format(", [%r5+{}]", kBase) + (s.split ? fmt::format(", {}", kSplit) : "") +
                           ";\ntcgen05.wait::ld.sync.aligned;\n";
        CAPTURE(text);
        for (u32 i = 0; i < count; ++i) text += fmt::format("st.global.u32 [%d9+{}], %q{};\n", 4 * i, i);
        Cta cta = numbered();
        const std::vector<u32> out = run_on_tensor_core({&cta, 1}, {.by_thread = "", .by_warps = text});
        u32 wrong = 0;
        for (u32 thread = 0; thread < 128; ++thread)
          for (u32 r = 0; r < count; ++r) {
            const Cell cell = s.at(thread % 32, r);
            const u32 first = (thread / 32 * 32 + cell.row) * 512 + column_of(s, cell, thread % 32, step);
            const u32 expected = packed ? (first & 0xffff) | (first + 1) << 16 : first;
            wrong += out[thread * 128 + r] != expected ? 1 : 0;
          }
        CHECK(wrong == 0);
      }
}

TEST_CASE("Forms: tcgen05.st puts registers where each shape's figure shows") {
  for (const Shape& s : kShapes)
    for (u32 repeat = 1; repeat * s.registers <= 128; repeat *= 2)
      for (const bool unpacked : {false, true}) {
        if ((unpacked ? 2 : 1) * repeat * s.columns > (s.split ? kSplit : 512 - kBase)) continue;
        const u32 count = s.registers * repeat, step = unpacked ? 2 : 1;
        std::string text = "mul.lo.u32 %r6, %t, 4099;\n";
        for (u32 i = 0; i < count; ++i) text += fmt::format("add.u32 %q{}, %r6, {};\n", i, (i + 1) << 20);
        const std::string form = form_of(s, repeat, "st", unpacked ? ".unpack::16b" : "");
        CAPTURE(form);
        text += form + fmt::format("[%r5+{}]", kBase) + (s.split ? fmt::format(", {}, ", kSplit) : ", ") +
                registers(0, count) + ";\ntcgen05.wait::st.sync.aligned;\n";
        Cta cta = numbered();
        std::vector<u32> expected = cta.tensor;
        for (u32 thread = 0; thread < 128; ++thread)
          for (u32 r = 0; r < count; ++r) {
            const Cell cell = s.at(thread % 32, r);
            u32* const at = &expected[(thread / 32 * 32 + cell.row) * 512 + column_of(s, cell, thread % 32, step)];
            const u32 value = thread * 4099 + ((r + 1) << 20);
            at[0] = unpacked ? value & 0xffff : value;
            if (unpacked) at[1] = value >> 16;
          }
        run_on_tensor_core({&cta, 1}, {.by_thread = "", .by_warps = text});
        CHECK(cta.tensor == expected);
      }
}

namespace {

// Returns the lanes to which row `row` of a shape is copied.
std::vector<u32> lanes_of(const std::string& shape, u32 row) {
  if (shape == "4x256b") return {row * 32};
  if (shape == "64x128b.warpx2::02_13") return {row, row + 64};
  if (shape == "64x128b.warpx2::01_23") return row < 32 ? std::vector{row, row + 32} : std::vector{row + 32, row + 64};
  if (shape == "32x128b.warpx4") return {row, row + 32, row + 64, row + 96};
  return {row};
}

// Decompresses byte `i` of a chunk of 16, from 4 or 6 bits each: 4 bits become the high part of 6.
u32 widened(const u8* chunk, u32 i, u32 bits) {
  if (bits == 8) return chunk[i];
  u32 value = 0;
  for (u32 b = 0; b < bits; ++b) value |= (chunk[(i * bits + b) / 8] >> ((i * bits + b) % 8) & 1U) << b;
  return bits == 4 ? value << 2 : value;
}

}  // namespace

TEST_CASE("Forms: tcgen05.cp of every shape, whole and widened, by one CTA and by two") {
  struct Copied {
    const char* shape;
    u32 rows, bytes;
  };
  for (const Copied& s : {Copied{"128x256b", 128, 32},
                          {"4x256b", 4, 32},
                          {"128x128b", 128, 16},
                          {"64x128b.warpx2::02_13", 64, 16},
                          {"64x128b.warpx2::01_23", 64, 16},
                          {"32x128b.warpx4", 32, 16}})
    for (const auto& [suffix, bits] : {std::pair{"", 8U}, {".b8x16.b4x16_p64", 4U}, {".b8x16.b6x16_p32", 6U}})
      for (const u32 group : {1U, 2U}) {
        std::vector<Cta> ctas(group);
        for (u32 c = 0; c < group; ++c)
          for (std::size_t i = kImageStart; i < kImageEnd; ++i)
            ctas[c].shared[i] = static_cast<u8>(i * 7 + i / 256 * 13 + c);
        // No swizzle: eight rows of 16 bytes are contiguous, chunks of a row are 4096 bytes apart.
        const u64 descriptor = u64{kImageStart >> 4} | u64{4096 >> 4} << 16 | u64{128 >> 4} << 32 | u64{1} << 46;
        const std::string text = fmt::format("mov.u64 %d10, {:#x}; tcgen05.cp.cta_group::{}.{}{} [%r5+9], %d10;",
                                             descriptor, group, s.shape, suffix);
        CAPTURE(text);
        std::vector<Cta> expected = ctas;
        for (Cta& cta : expected)
          for (u32 row = 0; row < s.rows; ++row)
            for (u32 byte = 0; byte < s.bytes; ++byte)
              for (const u32 lane : lanes_of(s.shape, row))
                put_bits(reinterpret_cast<u8*>(&cta.word(lane, 9 + byte / 4)), 8 * (byte % 4), 8,
                         widened(cta.shared.data() + kImageStart + row * 16 + byte / 16 * 4096, byte % 16, bits));
        run_on_tensor_core(ctas, {text});
        for (u32 c = 0; c < group; ++c) CHECK(ctas[c].tensor == expected[c].tensor);
      }
}

TEST_CASE("Forms: tcgen05.shift moves eight columns down by a lane") {
  for (const u32 group : {1U, 2U}) {
    std::vector<Cta> ctas(group, numbered());
    run_on_tensor_core(ctas, {fmt::format("tcgen05.shift.cta_group::{}.down [%r5+0x200010];", group)});
    u32 wrong = 0;
    for (Cta& cta : ctas)
      for (u32 lane = 0; lane < 128; ++lane)
        for (u32 column = 0; column < 40; ++column) {
          const bool moved = lane >= 32 && lane % 32 != 31 && column >= 16 && column < 24;
          wrong += cta.word(lane, column) != (lane + (moved ? 1 : 0)) * 512 + column ? 1 : 0;
        }
    CHECK(wrong == 0);
  }
}

TEST_CASE("Forms: tcgen05.commit arrives in the block itself, or in all that its mask names") {
  // The kernel waits for it in every block: a missing arrival is a deadlock, an additional one a fault.
  Cta alone = numbered();
  run_on_tensor_core({&alone, 1}, {.by_thread = "mov.u16 %h1, 1;",
                                   .commit = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster."
                                             "multicast::cluster.b64 [done], %h1;"});
  CHECK(alone.tensor == numbered().tensor);
  std::vector<Cta> pair(2, numbered());
  const std::string lonely = "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.b64 [done];";
  const auto deadlock = [&] {
    try {
      run_on_tensor_core(pair, {.by_thread = "", .commit = lonely});
    } catch (const tma_jit::emulator::Fault& fault) {
      return fault.text();
    }
    return std::string();
  };
  CHECK(deadlock().starts_with("deadlock"));
}
