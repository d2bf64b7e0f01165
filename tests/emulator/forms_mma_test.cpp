// Forms of mma.sync, from PTX text to results, against sums in f64.
#include "emulator/mma_samples.h"
#include "emulator/register_kernel.h"

using namespace tma_jit::testing;
using namespace tma_jit::testing::mma_samples;
using registers::list_of;

namespace {

std::string text_of(const std::string& form, const MmaSync& m, const std::string& rest = "") {
  const MmaCounts counts = counts_of(m);
  return form + " " + list_of("D", counts.d) + ", " + list_of("A", counts.a) + ", " + list_of("B", counts.b) + ", " +
         list_of("C", counts.c) + rest + ";";
}

// The text of the form names its shape and types; `m` describes them.
void check_mma(const std::string& form, const MmaSync& m, unsigned seed = 1) {
  CAPTURE(form);
  std::mt19937 random(seed);
  const u32 width = m.a_format == Format::f64 ? 8 : 4;
  const Operands o = make(m, random);
  const Bank d = run_on_registers(text_of(form, m), {{"A", o.ra, width}, {"B", o.rb, width}, {"C", o.rc, width}},
                                  {"D", o.rd, width}, {.arch = "sm_120a"});
  CHECK(wrong_elements(m, d, expected_of(m, o)) == 0);
}

std::string name(Format format) {
  return std::string(numeric::name_of(format));
}

void check_shape(u32 rows, u32 k, Format a, Format b, Format d, const std::string& kind = "") {
  check_mma("mma.sync.aligned.m" + std::to_string(rows) + "n8k" + std::to_string(k) + ".row.col." + kind + name(d) +
                "." + name(a) + "." + name(b) + "." + name(d),
            shape(rows, k, a, b, d), rows + k);
}

void check_scaled(const std::string& kind, u32 k, u32 scales, Format element, Format scale, bool packed) {
  CAPTURE(kind);
  std::mt19937 random(k + scales);
  MmaSync m = shape(16, k, element, element, Format::f32);
  m.packed = packed;
  m.scales = scales;
  m.scale_format = scale;
  m.a_byte = m.b_byte = scales == 1 ? 3 : scales == 2 ? 2 : 0;
  m.a_thread = 1;
  m.b_thread = 2;
  const Operands o = make(m, random);
  const Bank sa = sample_scales(scale, random), sb = sample_scales(scale, random);
  const std::string at_a = "{" + std::to_string(m.a_byte) + ", 1}", at_b = "{" + std::to_string(m.b_byte) + ", 2}";
  const std::string form = "mma.sync.aligned.m16n8k" + std::to_string(k) + ".row.col." + kind + ".f32." +
                           name(element) + "." + name(element) + ".f32." + name(scale);
  const Bank d =
      run_on_registers(text_of(form, m, ", {%S0}, " + at_a + ", {%T0}, " + at_b),
                       {{"A", o.ra}, {"B", o.rb}, {"C", o.rc}, {"S", sa}, {"T", sb}}, {"D", o.rd}, {.arch = "sm_120a"});
  CHECK(wrong_elements(m, d, expected_of(m, o, sa, sb)) == 0);
}

}  // namespace

TEST_CASE("Forms: mma.sync of floats of 8 to 64 bits") {
  for (const u32 k : {8U, 16U}) {
    for (const Format d : {Format::f16, Format::f32}) check_shape(16, k, Format::f16, Format::f16, d);
    check_shape(16, k, Format::bf16, Format::bf16, Format::f32);
  }
  for (const u32 k : {4U, 8U}) check_shape(16, k, Format::tf32, Format::tf32, Format::f32);
  check_shape(8, 4, Format::f64, Format::f64, Format::f64);
  for (const u32 k : {4U, 8U, 16U}) check_shape(16, k, Format::f64, Format::f64, Format::f64);
  for (const u32 k : {16U, 32U}) {
    check_shape(16, k, Format::e4m3, Format::e5m2, Format::f32);
    check_shape(16, k, Format::e5m2, Format::e4m3, Format::f16);
  }
  for (const Format a : {Format::e4m3, Format::e5m2, Format::e2m3, Format::e3m2, Format::e2m1})
    check_shape(16, 32, a, Format::e3m2, Format::f32, "kind::f8f6f4.");
  for (const Format b : {Format::e4m3, Format::e5m2, Format::e2m3, Format::e2m1})
    check_shape(16, 32, Format::e2m1, b, Format::f16, "kind::f8f6f4.");
}

TEST_CASE("Forms: mma.sync of integers and bits") {
  for (const Format a : {Format::u8, Format::s8})
    for (const Format b : {Format::u8, Format::s8}) {
      check_shape(8, 16, a, b, Format::s32);
      for (const u32 k : {16U, 32U}) check_shape(16, k, a, b, Format::s32);
    }
  for (const Format a : {Format::u4, Format::s4})
    for (const Format b : {Format::u4, Format::s4})
      for (const auto& [rows, k] : {std::pair{8U, 32U}, std::pair{16U, 32U}, std::pair{16U, 64U}}) {
        MmaSync m = shape(rows, k, a, b, Format::s32);
        m.packed = true;
        check_mma("mma.sync.aligned.m" + std::to_string(rows) + "n8k" + std::to_string(k) + ".row.col" +
                      (a == b ? ".satfinite" : "") + ".s32." + name(a) + "." + name(b) + ".s32",
                  m);
      }
  for (const auto& [rows, k] : {std::pair{8U, 128U}, std::pair{16U, 128U}, std::pair{16U, 256U}})
    for (const bool both : {false, true}) {
      MmaSync m = shape(rows, k, Format::b1, Format::b1, Format::s32);
      m.bits = both ? MmaSync::Bits::and_count : MmaSync::Bits::xor_count;
      check_mma("mma.sync.aligned.m" + std::to_string(rows) + "n8k" + std::to_string(k) + ".row.col.s32.b1.b1.s32." +
                    (both ? "and" : "xor") + ".popc",
                m);
    }
}

TEST_CASE("Forms: mma.sync of integers saturates where it is asked to and wraps elsewhere") {
  // 16 products of 127 * 127, added to a number near the end of the range.
  Bank a(2), b(1), c(4);
  for (u32 lane = 0; lane < 32; ++lane) {
    for (u32 i = 0; i < 2; ++i) a.put(i, lane, 0, 32, 0x7f7f7f7f);
    b.put(0, lane, 0, 32, 0x7f7f7f7f);
    for (u32 i = 0; i < 4; ++i) c.put(i, lane, 0, 32, 0x7fffff00);
  }
  for (const bool saturates : {false, true}) {
    const std::string form = std::string("mma.sync.aligned.m16n8k16.row.col") + (saturates ? ".satfinite" : "") +
                             ".s32.s8.s8.s32 {%D0, %D1, %D2, %D3}, {%A0, %A1}, {%B0}, {%C0, %C1, %C2, %C3};";
    const Bank d = run_on_registers(form, {{"A", a}, {"B", b}, {"C", c}}, {"D", c}, {.arch = "sm_120a"});
    const u64 expected = saturates ? 0x7fffffff : 0x7fffff00U + 16U * 127U * 127U;
    for (u32 lane = 0; lane < 32; ++lane) CHECK(d.word(3, lane) == expected);
  }
}

TEST_CASE("Forms: mma.sync with scale factors of a block") {
  check_scaled("kind::mxf8f6f4.block_scale.scale_vec::1X", 32, 1, Format::e4m3, Format::ue8m0, false);
  for (const Format element : {Format::e5m2, Format::e2m3, Format::e3m2, Format::e2m1})
    check_scaled("kind::mxf8f6f4.block_scale", 32, 1, element, Format::ue8m0, false);
  check_scaled("kind::mxf4.block_scale.scale_vec::2X", 64, 2, Format::e2m1, Format::ue8m0, true);
  check_scaled("kind::mxf4nvf4.block_scale.scale_vec::2X", 64, 2, Format::e2m1, Format::ue8m0, true);
  check_scaled("kind::mxf4nvf4.block_scale.scale_vec::4X", 64, 4, Format::e2m1, Format::ue4m3, true);
}
