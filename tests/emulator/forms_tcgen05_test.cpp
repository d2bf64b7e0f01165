// Forms of tcgen05.mma, from PTX text to results, against sums in f64.
#include <fmt/format.h>

#include "emulator/tcgen05_kernel.h"

using namespace tma_jit::testing;
using namespace tma_jit::testing::tensor_core;

namespace {

constexpr u32 kA = 2048, kB = 32768;                                  // offsets in shared memory
constexpr u32 kD = 128, kTensorA = 448, kScalesA = 8, kScalesB = 16;  // columns

Values part(const Values& all, u32 first, u32 count) {
  Values rows(count, all.columns);
  for (u32 i = 0; i < count; ++i)
    for (u32 k = 0; k < all.columns; ++k) rows.at(i, k) = all.at(first + i, k);
  return rows;
}

const char* word_of(MmaKind kind) {
  switch (kind) {
    case MmaKind::f16: return "f16";
    case MmaKind::tf32: return "tf32";
    case MmaKind::f8f6f4: return "f8f6f4";
    case MmaKind::i8: return "i8";
    case MmaKind::mxf8f6f4: return "mxf8f6f4";
    case MmaKind::mxf4: return "mxf4";
    case MmaKind::mxf4nvf4: return "mxf4nvf4";
  }
  return "";
}

struct Operands {
  Values a, b, a_scales, b_scales;
};

// The images of the case's operands, and instructions that move their descriptors to %d10, %d11 and %r20.
std::string lay_out(const Case& c, const Operands& o, std::vector<Cta>& ctas) {
  u64 a = 0, b = 0;
  for (u32 cta = 0; cta < c.group; ++cta) {
    const u32 rows = c.m / c.group, columns = c.n / c.group;
    if (!c.a_in_tensor) a = place(c, part(o.a, cta * rows, rows), c.kind.a, c.a, kA, ctas[cta]);
    b = place(c, part(o.b, cta * columns, columns), c.kind.b, c.b, kB, ctas[cta]);
    if (c.kind.scale_vector == 0) continue;
    put_scales(c, o.a_scales, cta * rows, rows, kScalesA, 0, ctas[cta]);
    put_scales(c, o.b_scales, 0, c.n, kScalesB, 0, ctas[cta]);
  }
  if (c.a_in_tensor) put_tensor_a(c, o.a, ctas, kTensorA);
  return fmt::format("mov.u64 %d10, {:#x}; mov.u64 %d11, {:#x}; mov.u32 %r20, {:#x};\n", a, b, instruction_of(c));
}

double sum_of(const Case& c, const Operands& o, u32 i, u32 j) {
  double sum = 0;
  for (u32 k = 0; k < c.kind.k; ++k) {
    const u32 block = k * c.kind.scale_vector / c.kind.k;
    const double scale = c.kind.scale_vector == 0 ? 1 : o.a_scales.at(i, block) * o.b_scales.at(j, block);
    sum += o.a.at(i, k) * o.b.at(j, k) * scale;
  }
  return sum;
}

struct Words {
  std::string modifiers;  // after the kind
  std::string middle;     // operands between the instruction descriptor and the predicate
  std::string last;       // operands after the predicate
  double factor = 2;      // of A * B in D, after one instruction that overwrites D and one that accumulates
};

// Rows of D whose lane is in `skipped` are unchanged.
void check_mma(const Case& c, const Words& words, const std::vector<u32>& skipped = {}) {
  std::mt19937 random(c.m + c.n);
  const Operands o = {sample(c.m, c.kind.k, c.kind.a, random), sample(c.n, c.kind.k, c.kind.b, random),
                      powers(c.m, 4, random), powers(c.n, 4, random)};
  std::vector<Cta> ctas(c.group);
  const std::string operands = lay_out(c, o, ctas);
  const std::string mma = fmt::format("tcgen05.mma{}.cta_group::{}.kind::{}{} [%r5+{}], {}, %d11, %r20",
                                      c.stationary ? ".ws" : "", c.group, word_of(c.kind.kind), words.modifiers, kD,
                                      c.a_in_tensor ? fmt::format("[%r5+{}]", kTensorA) : "%d10");
  CAPTURE(mma);
  const std::string scales = c.kind.scale_vector == 0 ? "" : fmt::format(", [%r5+{}], [%r5+{}]", kScalesA, kScalesB);
  const std::string middle = words.middle + scales;
  run_on_tensor_core(ctas, {operands + "setp.ne.u32 %p5, %t, 0;\n" + mma + middle + ", %p5;\n" + mma + middle +
                            ", !%p5" + words.last + ";"});
  u32 wrong = 0;
  for (u32 i = 0; i < c.m; ++i)
    for (u32 j = 0; j < c.n; ++j) {
      const Where at = where(c, i, j);
      const u32 word = ctas[at.cta].word(at.lane, kD + at.column);
      if (std::find(skipped.begin(), skipped.end(), at.lane) != skipped.end())
        wrong += word != kPoison ? 1 : 0;
      else
        wrong += numeric::value_of(c.kind.d, word) != sum_of(c, o, i, j) * words.factor ? 1 : 0;
    }
  CHECK(wrong == 0);
  CHECK(ctas[0].word(5, kD + c.n) == kPoison);
}

constexpr Kind kTf32 = {MmaKind::tf32, Format::tf32, Format::tf32, Format::f32, 8};
constexpr Kind kFp8 = {MmaKind::f8f6f4, Format::e4m3, Format::e5m2, Format::f32, 32};
constexpr Kind kInteger = {MmaKind::i8, Format::s8, Format::u8, Format::s32, 32};
constexpr Kind kMx8 = {MmaKind::mxf8f6f4, Format::e4m3, Format::e4m3, Format::f32, 32, 1};
constexpr Kind kMx4 = {MmaKind::mxf4, Format::e2m1, Format::e2m1, Format::f32, 64, 2};
constexpr Kind kNv4 = {MmaKind::mxf4nvf4, Format::e2m1, Format::e2m1, Format::f32, 64, 4, Format::ue4m3};

}  // namespace

TEST_CASE("Forms: tcgen05.mma of every kind, A in shared and in tensor memory, by one CTA and by two") {
  for (const bool tensor : {false, true}) {
    for (const Kind& kind : {kBf16, kTf32, kFp8, kInteger})
      check_mma({.kind = kind, .m = 128, .n = 32, .a_in_tensor = tensor}, {});
    check_mma({.kind = kBf16, .m = 256, .n = 32, .group = 2, .a_in_tensor = tensor}, {});
    for (const char* collector : {"fill", "use", "lastuse", "discard"})
      check_mma({.kind = kBf16, .m = 128, .n = 16, .a_in_tensor = tensor},
                {.modifiers = std::string(".collector::a::") + collector});
    // Accumulates to D / 2.
    check_mma({.kind = kBf16, .m = 128, .n = 16, .a_in_tensor = tensor},
              {.modifiers = tensor ? ".collector::a::use" : ".collector::a::fill", .last = ", 1", .factor = 1.5});
  }
}

TEST_CASE("Forms: tcgen05.mma leaves out the lanes it is told to") {
  std::vector<u32> skipped = {95, 96};
  for (u32 lane = 0; lane < 32; ++lane) skipped.push_back(lane);
  const char* const collectors[] = {"fill", "use", "lastuse", "discard"};
  for (const bool tensor : {false, true}) {
    for (std::size_t i = 0; i < 4; ++i) {
      const Kind kinds[] = {kBf16, kTf32, kFp8, kInteger};
      check_mma(
          {.kind = kinds[i], .m = 128, .n = 32, .a_in_tensor = tensor},
          {.modifiers = std::string(".collector::a::") + collectors[i], .middle = ", {0xffffffff, 0, 0x80000000, 1}"},
          skipped);
    }
    check_mma({.kind = kBf16, .m = 256, .n = 32, .group = 2, .a_in_tensor = tensor},
              {.middle = ", {0xffffffff, 0, 0x80000000, 1, 0xffffffff, 0, 0x80000000, 1}"}, skipped);
  }
}

TEST_CASE("Forms: tcgen05.mma.ws, with and without zero columns") {
  for (const bool tensor : {false, true})
    for (const u32 m : {32U, 64U, 128U}) {
      check_mma({.kind = kBf16, .m = m, .n = 64, .stationary = true, .a_in_tensor = tensor},
                {.modifiers = ".collector::b1::fill"});
      check_mma({.kind = kFp8, .m = m, .n = 64, .stationary = true, .a_in_tensor = tensor}, {.last = ", 0"});
    }
  for (const bool tensor : {false, true})
    for (const char* buffer : {"b0", "b1", "b2", "b3"})
      for (const char* use : {"fill", "use", "lastuse", "discard"})
        check_mma({.kind = *use == 'f' ? kTf32 : kInteger, .m = 32, .n = 64, .stationary = true, .a_in_tensor = tensor},
                  {.modifiers = std::string(".collector::") + buffer + "::" + use});
}

TEST_CASE("Forms: tcgen05.mma with scale factors of a block") {
  for (const bool tensor : {false, true}) {
    check_mma({.kind = kMx8, .m = 128, .n = 32, .a_in_tensor = tensor}, {.modifiers = ".block_scale.scale_vec::1X"});
    check_mma({.kind = kMx4, .m = 128, .n = 32, .a_in_tensor = tensor}, {.modifiers = ".block_scale"});
    check_mma({.kind = kNv4, .m = 128, .n = 32, .a_in_tensor = tensor}, {.modifiers = ".block_scale.block16"});
    check_mma({.kind = kMx8, .m = 256, .n = 32, .group = 2, .a_in_tensor = tensor}, {.modifiers = ".block_scale"});
    check_mma({.kind = kMx4, .m = 128, .n = 32, .a_in_tensor = tensor}, {.modifiers = ".block_scale.scale_vec::2X"});
    check_mma({.kind = kNv4, .m = 128, .n = 32, .a_in_tensor = tensor}, {.modifiers = ".block_scale.scale_vec::4X"});
    check_mma({.kind = kMx4, .m = 128, .n = 32, .a_in_tensor = tensor}, {.modifiers = ".block_scale.block32"});
    for (const char* collector : {"fill", "use", "lastuse", "discard"})
      check_mma({.kind = kMx8, .m = 128, .n = 32, .a_in_tensor = tensor},
                {.modifiers = std::string(".block_scale.collector::a::") + collector});
  }
}
