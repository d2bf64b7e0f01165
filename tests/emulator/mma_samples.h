// Operands of mma.sync in a warp's registers, laid out by the PTX ISA's figures, and the expected sums.
#pragma once

#include <cmath>

#include "emulator/matrix/mma_sync.h"
#include "emulator/matrix_samples.h"

namespace tma_jit::testing::mma_samples {

namespace numeric = emulator::numeric;
using emulator::matrix::counts_of;
using emulator::matrix::MmaCounts;
using emulator::matrix::MmaSync;

// Bits of an element in a lane's register: fp8 kinds widen small formats to bytes.
struct Stored {
  int bits;
  int shift;
};
inline Stored stored(const MmaSync& m, Format format) {
  const int bits = numeric::bits_of(format);
  if (bits >= 8 || m.packed || format == Format::b1) return {bits, 0};
  return {8, format == Format::e2m1 ? 2 : 0};
}

// The fragments by their figures: element i of lane l of A and of B.
struct RegisterRef {
  u32 row, k;
};
inline RegisterRef a_place(const MmaSync& m, u32 each, u32 lane, u32 i) {
  const u32 group = i / each;
  if (m.m == 8) return {lane / 4, lane % 4 * each + i % each + group * 4 * each};
  return {lane / 4 + group % 2 * 8, lane % 4 * each + i % each + group / 2 * 4 * each};
}

struct Operands {
  Values a, b, c;
  Bank ra, rb, rc, rd;
};

inline Operands make(const MmaSync& m, std::mt19937& random) {
  const MmaCounts counts = counts_of(m);
  const u32 width = m.a_format == Format::f64 ? 8 : 4;
  Operands o{sample(m.m, m.k, m.a_format, random),
             sample(m.k, m.n, m.b_format, random),
             sample(m.m, m.n, m.c_format, random),
             Bank(counts.a, width),
             Bank(counts.b, width),
             Bank(counts.c, width),
             Bank(counts.d, width)};
  const auto fill = [&](Bank& bank, Format format, bool is_a) {
    const Stored s = stored(m, format);
    const u32 each = width * 8 / static_cast<u32>(s.bits);
    for (u32 lane = 0; lane < 32; ++lane)
      for (u32 i = 0; i < bank.count() * each; ++i) {
        const RegisterRef p =
            is_a ? a_place(m, each, lane, i) : RegisterRef{lane / 4, lane % 4 * each + i % each + i / each * 4 * each};
        const double value = is_a ? o.a.at(p.row, p.k) : o.b.at(p.k, p.row);
        bank.put(i / each, lane, i % each * static_cast<u32>(s.bits), s.bits, pattern(format, value) << s.shift);
      }
  };
  fill(o.ra, m.a_format, true);
  fill(o.rb, m.b_format, false);
  for (u32 lane = 0; lane < 32; ++lane)
    for (u32 i = 0; i < m.m / 4; ++i) {
      const u64 bits = pattern(m.c_format, o.c.at(lane / 4 + i / 2 * 8, lane % 4 * 2 + i % 2));
      if (m.c_format == Format::f16)
        o.rc.put(i / 2, lane, i % 2 * 16, 16, bits);
      else
        o.rc.put(i, lane, 0, numeric::bits_of(m.c_format), bits);
    }
  return o;
}

inline u32 wrong_elements(const MmaSync& m, const Bank& d, const Values& expected) {
  u32 wrong = 0;
  for (u32 lane = 0; lane < 32; ++lane)
    for (u32 i = 0; i < m.m / 4; ++i) {
      const u64 word = m.d_format == Format::f16 ? d.word(i / 2, lane) >> (i % 2 * 16) & 0xffff : d.word(i, lane);
      if (numeric::value_of(m.d_format, word) != expected.at(lane / 4 + i / 2 * 8, lane % 4 * 2 + i % 2)) ++wrong;
    }
  return wrong;
}

// Returns A * B + C, or for bits combined by xor the number of those that differ.
inline Values expected_of(const MmaSync& m, const Operands& o) {
  Values expected = product(o.a, o.b);
  if (m.bits == MmaSync::Bits::xor_count)
    for (u32 i = 0; i < m.m; ++i)
      for (u32 j = 0; j < m.n; ++j) {
        expected.at(i, j) = 0;
        for (u32 k = 0; k < m.k; ++k) expected.at(i, j) += o.a.at(i, k) != o.b.at(k, j) ? 1 : 0;
      }
  for (std::size_t i = 0; i < expected.data.size(); ++i) expected.data[i] += o.c.data[i];
  return expected;
}

// Returns one word of four scale factors per lane.
inline Bank sample_scales(Format format, std::mt19937& random) {
  Bank bank(1);
  for (u32 lane = 0; lane < 32; ++lane)
    for (u32 i = 0; i < 4; ++i)
      bank.put(0, lane, 8 * i, 8, numeric::nearest(format, std::exp2(static_cast<int>(random() % 5) - 2)));
  return bank;
}

// The factors are in the lanes and bytes that the figures show.
inline Values expected_of(const MmaSync& m, const Operands& o, const Bank& a_scales, const Bank& b_scales) {
  Values expected = o.c;
  for (u32 i = 0; i < m.m; ++i)
    for (u32 j = 0; j < m.n; ++j)
      for (u32 k = 0; k < m.k; ++k) {
        const u32 block = k * m.scales / m.k;
        const u64 fa = a_scales.word(0, i % 8 * 4 + 2 * m.a_thread + i / 8) >> (8 * (m.a_byte + block)) & 0xff;
        const u64 fb = b_scales.word(0, j * 4 + m.b_thread) >> (8 * (m.b_byte + block)) & 0xff;
        expected.at(i, j) +=
            o.a.at(i, k) * o.b.at(k, j) * numeric::value_of(m.scale_format, fa) * numeric::value_of(m.scale_format, fb);
      }
  return expected;
}

inline MmaSync shape(u32 m, u32 k, Format a, Format b, Format d) {
  return {.m = m, .k = k, .a_format = a, .b_format = b, .c_format = d, .d_format = d};
}

}  // namespace tma_jit::testing::mma_samples
