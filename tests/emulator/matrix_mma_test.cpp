// mma.sync against sums in f64, for every dense shape and type, with and without block scaling; ldmatrix, stmatrix.
#include <array>
#include <bit>

#include "emulator/matrix/fragment.h"
#include "emulator/mma_samples.h"

using namespace tma_jit::emulator;
using namespace tma_jit::emulator::matrix;
using namespace tma_jit::testing;
using namespace tma_jit::testing::mma_samples;

namespace {

void run_case(const MmaSync& m, std::mt19937& random) {
  CAPTURE(m.m);
  CAPTURE(m.k);
  CAPTURE(numeric::name_of(m.a_format));
  CAPTURE(numeric::name_of(m.b_format));
  Operands o = make(m, random);
  execute(m, {.d = o.rd.registers(), .a = o.ra.registers(), .b = o.rb.registers(), .c = o.rc.registers()});
  CHECK(wrong_elements(m, o.rd, expected_of(m, o)) == 0);
}

}  // namespace

TEST_CASE("mma.sync: floating-point shapes") {
  std::mt19937 random(1);
  for (const u32 k : {8U, 16U}) {
    for (const Format d : {Format::f16, Format::f32}) run_case(shape(16, k, Format::f16, Format::f16, d), random);
    run_case(shape(16, k, Format::bf16, Format::bf16, Format::f32), random);
  }
  for (const u32 k : {4U, 8U}) run_case(shape(16, k, Format::tf32, Format::tf32, Format::f32), random);
  for (const Format a : {Format::e4m3, Format::e5m2})
    for (const Format b : {Format::e4m3, Format::e5m2})
      for (const u32 k : {16U, 32U})
        for (const Format d : {Format::f16, Format::f32}) run_case(shape(16, k, a, b, d), random);
  run_case(shape(8, 4, Format::f64, Format::f64, Format::f64), random);
  for (const u32 k : {4U, 8U, 16U}) run_case(shape(16, k, Format::f64, Format::f64, Format::f64), random);
}

TEST_CASE("mma.sync: kind::f8f6f4 mixes every small format") {
  std::mt19937 random(2);
  for (const Format a : {Format::e4m3, Format::e5m2, Format::e2m3, Format::e3m2, Format::e2m1})
    for (const Format b : {Format::e4m3, Format::e5m2, Format::e2m3, Format::e3m2, Format::e2m1})
      for (const Format d : {Format::f16, Format::f32}) run_case(shape(16, 32, a, b, d), random);
}

TEST_CASE("mma.sync: integer and bit shapes") {
  std::mt19937 random(3);
  for (const Format a : {Format::u8, Format::s8})
    for (const Format b : {Format::u8, Format::s8}) {
      run_case(shape(8, 16, a, b, Format::s32), random);
      for (const u32 k : {16U, 32U}) run_case(shape(16, k, a, b, Format::s32), random);
    }
  for (const u32 k : {128U, 256U})
    for (const u32 m : {8U, 16U})
      for (const auto bits : {MmaSync::Bits::and_count, MmaSync::Bits::xor_count}) {
        if (m == 8 && k == 256) continue;
        MmaSync mma = shape(m, k, Format::b1, Format::b1, Format::s32);
        mma.bits = bits;
        run_case(mma, random);
      }
}

TEST_CASE("mma.sync: 4-bit integers") {
  std::mt19937 random(4);
  for (const Format a : {Format::u4, Format::s4})
    for (const Format b : {Format::u4, Format::s4})
      for (const auto& [m, k] : {std::pair{8U, 32U}, std::pair{16U, 32U}, std::pair{16U, 64U}}) {
        MmaSync mma = shape(m, k, a, b, Format::s32);
        mma.packed = true;
        run_case(mma, random);
      }
}

TEST_CASE("mma.sync: block scaling takes its factors from the lanes and bytes that the figures show") {
  std::mt19937 random(5);
  struct Kind {
    u32 k, scales;
    Format element, scale;
    bool packed;
  };
  for (const Kind& kind :
       {Kind{32, 1, Format::e4m3, Format::ue8m0, false}, Kind{32, 1, Format::e2m1, Format::ue8m0, false},
        Kind{64, 2, Format::e2m1, Format::ue8m0, true}, Kind{64, 4, Format::e2m1, Format::ue8m0, true},
        Kind{64, 4, Format::e2m1, Format::ue4m3, true}}) {
    const u32 step = kind.scales == 1 ? 1 : kind.scales == 2 ? 2 : 4;
    for (u32 byte = 0; byte < 4; byte += step)
      for (u32 thread = 0; thread < 4; ++thread) {
        MmaSync m = shape(16, kind.k, kind.element, kind.element, Format::f32);
        m.packed = kind.packed;
        m.scales = kind.scales;
        m.scale_format = kind.scale;
        m.a_byte = m.b_byte = byte;
        m.a_thread = thread % 2;
        m.b_thread = thread;
        Operands o = make(m, random);
        const Bank sa = sample_scales(kind.scale, random);
        const Bank sb = sample_scales(kind.scale, random);
        execute(m, {.d = o.rd.registers(),
                    .a = o.ra.registers(),
                    .b = o.rb.registers(),
                    .c = o.rc.registers(),
                    .a_scales = sa.registers()[0],
                    .b_scales = sb.registers()[0]});
        CHECK(wrong_elements(m, o.rd, expected_of(m, o, sa, sb)) == 0);
      }
  }
}

TEST_CASE("ldmatrix and stmatrix of 16-bit elements, and movmatrix") {
  for (const u32 count : {1U, 2U, 4U}) {
    for (const bool transposed : {false, true}) {
      alignas(16) u16 memory[32][8];
      MatrixRows rows{};
      for (u32 row = 0; row < 32; ++row) {
        rows[row] = reinterpret_cast<u8*>(memory[(row * 7) % 32]);
        for (u32 i = 0; i < 8; ++i) memory[(row * 7) % 32][i] = static_cast<u16>(row * 8 + i);
      }
      const MatrixMove move = {.transposed = transposed, .count = count};
      CHECK(address_lanes(move) == 8 * count);
      Bank d(count);
      load_matrix(move, rows, d.registers());
      for (u32 matrix = 0; matrix < count; ++matrix)
        for (u32 lane = 0; lane < 32; ++lane)
          for (u32 j = 0; j < 2; ++j) {
            const u32 row = lane / 4;
            const u32 column = lane % 4 * 2 + j;
            const u32 expected = matrix * 64 + (transposed ? column * 8 + row : row * 8 + column);
            CHECK((d.word(matrix, lane) >> (16 * j) & 0xffff) == expected);
          }
      alignas(16) u16 copy[32][8] = {};
      for (u32 row = 0; row < 32; ++row) rows[row] = reinterpret_cast<u8*>(copy[(row * 7) % 32]);
      store_matrix(move, rows, d.registers());
      for (u32 row = 0; row < 8 * count; ++row)
        CHECK(std::memcmp(copy[(row * 7) % 32], memory[(row * 7) % 32], 16) == 0);
    }
  }
  Bank s(1);
  Bank d(1);
  for (u32 lane = 0; lane < 32; ++lane) s.put(0, lane, 0, 32, lane * 2 | (lane * 2 + 1) << 16);
  transpose_matrix(d.registers()[0], s.registers()[0]);
  for (u32 lane = 0; lane < 32; ++lane) CHECK((d.word(0, lane) & 0xffff) == lane % 4 * 2 * 8 + lane / 4);
}

TEST_CASE("ldmatrix widens 4- and 6-bit elements; the 8-bit forms transpose and return") {
  u8 memory[32][16] = {};
  MatrixRows rows{};
  for (u32 row = 0; row < 32; ++row) rows[row] = memory[row];
  for (const auto& [source, bits] :
       {std::pair{matrix::Source::b4x16_p64, 4}, std::pair{matrix::Source::b6x16_p32, 6}}) {
    for (u32 row = 0; row < 32; ++row)
      for (u32 i = 0; i < 16; ++i)
        put_bits(memory[row], i * static_cast<u32>(bits), bits, (row * 5 + i) & ((1U << bits) - 1));
    Bank d(4);
    load_matrix({.shape = matrix::Shape::m8n16_b8, .count = 4, .source = source}, rows, d.registers());
    for (u32 row = 0; row < 32; ++row)
      for (u32 i = 0; i < 16; ++i) {
        const u64 word = d.word(row / 8, row % 8 * 4 + i / 4);
        CHECK((word >> (8 * (i % 4)) & 0xff) == ((row * 5 + i) & ((1U << bits) - 1)));
      }
  }
  for (u32 row = 0; row < 32; ++row)
    for (u32 i = 0; i < 16; ++i) memory[row][i] = static_cast<u8>(row * 16 + i);
  Bank wide(4);
  load_matrix({.shape = matrix::Shape::m16n16_b8, .transposed = true, .count = 2}, rows, wide.registers());
  for (u32 matrix = 0; matrix < 2; ++matrix)
    for (u32 lane = 0; lane < 32; ++lane)
      for (u32 e = 0; e < 8; ++e) {  // bytes of the two registers
        const u32 row = matrix * 16 + lane % 4 * 4 + e / 4 * 2 + e % 2;
        const u32 column = lane / 4 + e / 2 % 2 * 8;
        CHECK((wide.word(matrix * 2 + e / 4, lane) >> (8 * (e % 4)) & 0xff) == ((row * 16 + column) & 0xff));
      }
  Bank narrow(4);
  for (u32 i = 0; i < 4; ++i)
    for (u32 lane = 0; lane < 32; ++lane)
      for (u32 e = 0; e < 4; ++e) {  // as m16n8's accumulator: row g or g + 8, columns 2q and 2q + 1
        const u32 m = lane / 4 + e / 2 * 8;
        const u32 n = lane % 4 * 2 + e % 2;
        narrow.put(i, lane, 8 * e, 8, (i * 64 + m * 8 + n) & 0xff);
      }
  store_matrix({.shape = matrix::Shape::m16n8_b8, .transposed = true, .count = 4}, rows, narrow.registers());
  for (u32 i = 0; i < 4; ++i)
    for (u32 n = 0; n < 8; ++n)
      for (u32 m = 0; m < 16; ++m) CHECK(memory[i * 8 + n][m] == ((i * 64 + m * 8 + n) & 0xff));
}
