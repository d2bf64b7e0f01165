#include "emulator/matrix/fragment.h"

#include <algorithm>

namespace tma_jit::emulator::matrix {
namespace {

constexpr u32 kRowBytes = 16;

u32 rows_of(Shape shape) {
  return shape == Shape::m16n16_b8 ? 16 : 8;
}

u16 half_at(const u8* row, u32 column) {
  u16 value;
  std::memcpy(&value, row + std::size_t{2} * column, sizeof value);
  return value;
}

// The fragment of 8 by 8 16-bit elements: lane 4 * row + i holds columns 2 * i and 2 * i + 1. Transposed, rows and
// columns are exchanged.
u32 transposed_pair(const u8* const* rows, u32 lane) {
  const u32 row = lane / 4;
  const u32 column = lane % 4 * 2;
  return half_at(rows[column], row) | static_cast<u32>(half_at(rows[column + 1], row)) << 16;
}

void load_m8n8(const MatrixMove& move, const MatrixRows& rows, Registers d) {
  for (u32 i = 0; i < move.count; ++i) {
    if (move.transposed) {
      for (u32 lane = 0; lane < kLanes; ++lane)
        set_lane_word(d, i, static_cast<int>(lane), transposed_pair(&rows[std::size_t{8} * i], lane));
      continue;
    }
    for (u32 row = 0; row < 8; ++row) std::memcpy(d[i] + std::size_t{kRowBytes} * row, rows[8 * i + row], kRowBytes);
  }
}

// Widens the 16 elements of a row to 16 bytes.
std::array<u8, kRowBytes> widened(Source source, const u8* row) {
  std::array<u8, kRowBytes> bytes{};
  if (source == Source::whole) {
    std::copy_n(row, kRowBytes, bytes.begin());
    return bytes;
  }
  const u32 bits = source == Source::b4x16_p64 ? 4 : 6;
  for (u32 i = 0; i < 16; ++i) {
    const u32 at = i * bits;
    const u32 pair = row[at / 8] | static_cast<u32>(row[at / 8 + 1]) << 8;
    bytes[i] = static_cast<u8>((pair >> at % 8) & ((1U << bits) - 1));
  }
  return bytes;
}

// Lane 4 * row + i holds the four bytes of the row from 4 * i on.
void load_m8n16(const MatrixMove& move, const MatrixRows& rows, Registers d) {
  for (u32 i = 0; i < move.count; ++i) {
    for (u32 row = 0; row < 8; ++row) {
      const auto bytes = widened(move.source, rows[8 * i + row]);
      std::memcpy(d[i] + std::size_t{kRowBytes} * row, bytes.data(), bytes.size());
    }
  }
}

// Two registers per matrix. Register r of lane 4 * g + q holds rows 4 * q + 2 * r and the next, columns g and g + 8.
void load_m16n16(const MatrixMove& move, const MatrixRows& rows, Registers d) {
  for (u32 i = 0; i < move.count; ++i) {
    std::array<std::array<u8, kRowBytes>, 16> bytes{};
    for (u32 row = 0; row < 16; ++row) bytes[row] = widened(move.source, rows[16 * i + row]);
    for (u32 lane = 0; lane < kLanes; ++lane) {
      for (u32 r = 0; r < 2; ++r) {
        const u32 row = lane % 4 * 4 + 2 * r;
        const u32 column = lane / 4;
        const u32 word = bytes[row][column] | static_cast<u32>(bytes[row + 1][column]) << 8 |
                         static_cast<u32>(bytes[row][column + 8]) << 16 |
                         static_cast<u32>(bytes[row + 1][column + 8]) << 24;
        set_lane_word(d, 2 * i + r, static_cast<int>(lane), word);
      }
    }
  }
}

void store_m8n8(const MatrixMove& move, const MatrixRows& rows, Registers s) {
  for (u32 i = 0; i < move.count; ++i) {
    for (u32 lane = 0; lane < kLanes; ++lane) {
      const u32 word = lane_word(s, i, static_cast<int>(lane));
      for (u32 j = 0; j < 2; ++j) {
        const u32 row = move.transposed ? lane % 4 * 2 + j : lane / 4;
        const u32 column = move.transposed ? lane / 4 : lane % 4 * 2 + j;
        const auto half = static_cast<u16>(word >> (16 * j));
        std::memcpy(rows[8 * i + row] + std::size_t{2} * column, &half, sizeof half);
      }
    }
  }
}

// Lane 4 * g + q holds bytes of rows 2 * q and the next, columns g and g + 8.
void store_m16n8(const MatrixMove& move, const MatrixRows& rows, Registers s) {
  for (u32 i = 0; i < move.count; ++i) {
    for (u32 lane = 0; lane < kLanes; ++lane) {
      const u32 word = lane_word(s, i, static_cast<int>(lane));
      for (u32 j = 0; j < 4; ++j)
        rows[8 * i + lane % 4 * 2 + j % 2][lane / 4 + 8 * (j / 2)] = static_cast<u8>(word >> (8 * j));
    }
  }
}

}  // namespace

u32 address_lanes(const MatrixMove& move) {
  return rows_of(move.shape) * move.count;
}

u32 registers_of(const MatrixMove& move) {
  return move.shape == Shape::m16n16_b8 ? 2 * move.count : move.count;
}

u32 row_bytes(const MatrixMove& move) {
  return move.source == Source::whole ? 16 : move.source == Source::b4x16_p64 ? 8 : 12;
}

void load_matrix(const MatrixMove& move, const MatrixRows& rows, Registers d) {
  switch (move.shape) {
    case Shape::m16n16_b8: return load_m16n16(move, rows, d);
    case Shape::m8n16_b8: return load_m8n16(move, rows, d);
    default: return load_m8n8(move, rows, d);
  }
}

void store_matrix(const MatrixMove& move, const MatrixRows& rows, Registers s) {
  if (move.shape == Shape::m16n8_b8) return store_m16n8(move, rows, s);
  store_m8n8(move, rows, s);
}

void transpose_matrix(u8* d, const u8* s) {
  u16 rows[8][8];
  std::memcpy(rows, s, sizeof rows);
  for (u32 row = 0; row < 8; ++row)
    for (u32 column = row + 1; column < 8; ++column) std::swap(rows[row][column], rows[column][row]);
  std::memcpy(d, rows, sizeof rows);
}

}  // namespace tma_jit::emulator::matrix
