// Forms of ldmatrix, stmatrix and movmatrix, from PTX text to results, against the PTX ISA's figures.
#include "emulator/register_kernel.h"

using namespace tma_jit::testing;
using registers::list_of;

namespace {

// 32 rows of `row_bytes`, in which each byte encodes its position; lane i names row i.
std::vector<u8> rows_of(u32 row_bytes) {
  std::vector<u8> rows(std::size_t{32} * row_bytes);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<u8>(i * 73 + i / 256 * 5 + 1);
  return rows;
}

Bank loaded(const std::string& form, u32 registers, const std::vector<u8>& rows, const char* arch) {
  CAPTURE(form);
  const Bank out(registers);
  const std::string text = "mad.lo.u32 %r9, %t, " + std::to_string(rows.size() / 32) + ", %r0; " + form + " " +
                           list_of("D", registers) + ", [%r9];";
  return run_on_registers(text, {}, {"D", out}, {.arch = arch, .shared = rows});
}

// Returns 32 rows of 16 bytes, initialised to 0xee, after stmatrix.
std::vector<u8> stored(const std::string& form, const Bank& from, const char* arch) {
  CAPTURE(form);
  const std::vector<u8> rows(512, 0xee);
  const Bank out(4);
  const std::string text = "shl.b32 %r9, %t, 4; add.u32 %r9, %r9, %r0; " + form + " [%r9], " +
                           list_of("A", from.count()) + "; bar.warp.sync -1; ld.shared.v4.b32 {%D0, %D1, %D2, %D3}, " +
                           "[%r9];";
  const Bank back = run_on_registers(text, {{"A", from}}, {"D", out}, {.arch = arch, .shared = rows});
  std::vector<u8> result(512);
  for (u32 row = 0; row < 32; ++row)
    for (u32 i = 0; i < 16; ++i) result[row * 16 + i] = static_cast<u8>(back.word(i / 4, row) >> (8 * (i % 4)));
  return result;
}

Bank numbered(u32 registers) {
  Bank bank(registers);
  for (u32 i = 0; i < registers; ++i)
    for (u32 lane = 0; lane < 32; ++lane) bank.put(i, lane, 0, 32, 0x01010101U * lane + 0x40302010U * (i + 1));
  return bank;
}

u8 byte_of(const Bank& bank, u32 index, u32 lane, u32 byte) {
  return static_cast<u8>(bank.word(index, lane) >> (8 * byte));
}

}  // namespace

TEST_CASE("Forms: ldmatrix and stmatrix of 16-bit elements") {
  const std::vector<u8> rows = rows_of(16);
  for (const u32 count : {1U, 2U, 4U})
    for (const bool transposed : {false, true}) {
      const std::string tail = ".m8n8.x" + std::to_string(count) + (transposed ? ".trans" : "");
      const Bank d = loaded("ldmatrix.sync.aligned" + tail + (transposed ? ".shared::cta.b16" : ".shared.b16"), count,
                            rows, "sm_90a");
      const Bank from = numbered(count);
      const std::vector<u8> back =
          stored("stmatrix.sync.aligned" + tail + (transposed ? ".shared::cta.b16" : ".shared.b16"), from, "sm_90a");
      u32 wrong = 0;
      for (u32 matrix = 0; matrix < count; ++matrix)
        for (u32 lane = 0; lane < 32; ++lane)
          for (u32 byte = 0; byte < 4; ++byte) {  // lane 4r + c has elements 2c and 2c + 1 of row r
            const u32 line = lane / 4, place = lane % 4 * 2 + byte / 2;
            const u32 row = matrix * 8 + (transposed ? place : line), column = transposed ? line : place;
            const u32 at = row * 16 + column * 2 + byte % 2;
            wrong += byte_of(d, matrix, lane, byte) != rows[at] ? 1 : 0;
            wrong += byte_of(from, matrix, lane, byte) != back[at] ? 1 : 0;
          }
      CHECK(wrong == 0);
      for (std::size_t at = std::size_t{count} * 128; at < 512; ++at) wrong += back[at] != 0xee ? 1 : 0;
      CHECK(wrong == 0);
    }
}

TEST_CASE("Forms: ldmatrix transposes bytes, stmatrix gives them back") {
  const std::vector<u8> rows = rows_of(16);
  for (const u32 count : {1U, 2U}) {
    const Bank d = loaded("ldmatrix.sync.aligned.m16n16.x" + std::to_string(count) +
                              (count == 2 ? ".trans.shared::cta.b8" : ".trans.shared.b8"),
                          2 * count, rows, "sm_120a");
    u32 wrong = 0;
    for (u32 matrix = 0; matrix < count; ++matrix)
      for (u32 lane = 0; lane < 32; ++lane)
        for (u32 e = 0; e < 8; ++e) {
          const u32 row = matrix * 16 + lane % 4 * 4 + e / 4 * 2 + e % 2, column = lane / 4 + e / 2 % 2 * 8;
          wrong += byte_of(d, matrix * 2 + e / 4, lane, e % 4) != rows[row * 16 + column] ? 1 : 0;
        }
    CHECK(wrong == 0);
  }
  for (const u32 count : {1U, 2U, 4U}) {
    const Bank from = numbered(count);
    const std::vector<u8> back = stored("stmatrix.sync.aligned.m16n8.x" + std::to_string(count) +
                                            (count == 2 ? ".trans.shared::cta.b8" : ".trans.shared.b8"),
                                        from, "sm_120a");
    u32 wrong = 0;
    for (u32 i = 0; i < count; ++i)
      for (u32 lane = 0; lane < 32; ++lane)
        for (u32 e = 0; e < 4; ++e)  // as m16n8's accumulator: rows g and g + 8, columns 2q and 2q + 1, transposed
          wrong +=
              back[(i * 8 + lane % 4 * 2 + e % 2) * 16 + lane / 4 + e / 2 * 8] != byte_of(from, i, lane, e) ? 1 : 0;
    CHECK(wrong == 0);
  }
}

TEST_CASE("Forms: ldmatrix widens 4- and 6-bit elements to bytes") {
  const std::vector<u8> rows = rows_of(16);
  const auto element = [&](u32 bits, u32 row, u32 i) {
    u32 value = 0;
    for (u32 b = 0; b < bits; ++b) value |= (rows[row * 16 + (i * bits + b) / 8] >> ((i * bits + b) % 8) & 1U) << b;
    return value;
  };
  for (const auto& [suffix, bits] : {std::pair{"b4x16_p64", 4U}, std::pair{"b6x16_p32", 6U}}) {
    u32 wrong = 0;
    for (const u32 count : {1U, 2U, 4U}) {
      const Bank d = loaded("ldmatrix.sync.aligned.m8n16.x" + std::to_string(count) +
                                (count == 2 ? ".shared::cta.b8x16." : ".shared.b8x16.") + suffix,
                            count, rows, "sm_120a");
      for (u32 row = 0; row < 8 * count; ++row)
        for (u32 i = 0; i < 16; ++i)
          wrong += byte_of(d, row / 8, row % 8 * 4 + i / 4, i % 4) != element(bits, row, i) ? 1 : 0;
    }
    CHECK(wrong == 0);
    for (const u32 count : {1U, 2U}) {
      const Bank d = loaded("ldmatrix.sync.aligned.m16n16.x" + std::to_string(count) +
                                (count == 2 ? ".trans.shared::cta.b8x16." : ".trans.shared.b8x16.") + suffix,
                            2 * count, rows, "sm_120a");
      for (u32 matrix = 0; matrix < count; ++matrix)
        for (u32 lane = 0; lane < 32; ++lane)
          for (u32 e = 0; e < 8; ++e) {
            const u32 row = matrix * 16 + lane % 4 * 4 + e / 4 * 2 + e % 2, column = lane / 4 + e / 2 % 2 * 8;
            wrong += byte_of(d, matrix * 2 + e / 4, lane, e % 4) != element(bits, row, column) ? 1 : 0;
          }
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("Forms: movmatrix transposes 8 by 8 elements across the warp") {
  const Bank from = numbered(1);
  const Bank d = run_on_registers("movmatrix.sync.aligned.m8n8.trans.b16 %D0, %A0;", {{"A", from}}, {"D", from});
  for (u32 lane = 0; lane < 32; ++lane)
    for (u32 j = 0; j < 2; ++j) {
      const u32 row = lane % 4 * 2 + j, column = lane / 4;  // of the source
      const u64 expected = from.word(0, row * 4 + column / 2) >> (16 * (column % 2)) & 0xffff;
      CHECK((d.word(0, lane) >> (16 * j) & 0xffff) == expected);
    }
}
