// The swizzle's formula against the tables that NVIDIA draws it with, and its properties.
#include "plan/swizzle.h"

#include <set>

#include <doctest/doctest.h>

namespace tma_jit::plan {
namespace {

constexpr Swizzle kAll[] = {Swizzle::none,         Swizzle::b32,           Swizzle::b64,
                            Swizzle::b128,         Swizzle::b128_atom_b32, Swizzle::b128_atom_b32_flip_b8,
                            Swizzle::b128_atom_b64};

// Which 16-byte piece of the unswizzled tile lies at piece `piece` of 128-byte line `line`.
std::uint32_t piece_at(Swizzle swizzle, std::uint32_t line, std::uint32_t piece) {
  return swizzled(swizzle, line * 128 + piece * 16) / 16 % 8;
}

}  // namespace

TEST_CASE("each line of 128 bytes exchanges its pieces as the width says") {
  // CUDA Driver API, CUtensorMapSwizzle; CUDA C++ Programming Guide 13.0, "Shared-memory bank swizzling".
  for (std::uint32_t line = 0; line < 16; ++line) {
    for (std::uint32_t piece = 0; piece < 8; ++piece) {
      CHECK(piece_at(Swizzle::none, line, piece) == piece);
      CHECK(piece_at(Swizzle::b128, line, piece) == (piece ^ line % 8));
      CHECK(piece_at(Swizzle::b64, line, piece) == (piece ^ line % 4));
      CHECK(piece_at(Swizzle::b32, line, piece) == (piece ^ line % 2));
      CHECK(piece_at(Swizzle::b128_atom_b32, line, piece) == (piece ^ 2 * (line % 4)));
      CHECK(piece_at(Swizzle::b128_atom_b64, line, piece) == (piece ^ 4 * (line % 2)));
    }
  }
}

TEST_CASE("flip exchanges the halves of every 16 bytes in each second line") {
  for (std::uint32_t offset = 0; offset < 2048; ++offset) {
    const std::uint32_t plain = swizzled(Swizzle::b128_atom_b32, offset);
    CHECK(swizzled(Swizzle::b128_atom_b32_flip_b8, offset) == (offset / 128 % 2 == 0 ? plain : (plain ^ 8)));
  }
}

TEST_CASE("every swizzle is its own inverse, repeats after its period, and stays within its span") {
  for (const Swizzle swizzle : kAll) {
    CAPTURE(static_cast<int>(swizzle));
    const std::uint32_t period = period_of(swizzle), span = span_of(swizzle) == 0 ? 128 : span_of(swizzle);
    std::set<std::uint32_t> places;
    for (std::uint32_t offset = 0; offset < 2048; ++offset) {
      const std::uint32_t place = swizzled(swizzle, offset);
      CHECK(swizzled(swizzle, place) == offset);
      CHECK(swizzled(swizzle, offset + period) == place + period);
      CHECK(place / span == offset / span);
      places.insert(place);
    }
    CHECK(places.size() == 2048);
  }
  CHECK(period_of(Swizzle::b128) == 1024);
  CHECK(period_of(Swizzle::b64) == 512);
  CHECK(period_of(Swizzle::b32) == 256);
}

TEST_CASE("eight rows of 16 bytes at one column meet no bank twice") {
  struct Row {
    Swizzle swizzle;
    std::uint32_t bytes;
  };
  for (const Row& row : {Row{Swizzle::b128, 128}, Row{Swizzle::b64, 64}, Row{Swizzle::b32, 32}}) {
    for (std::uint32_t column = 0; column < row.bytes; column += 16) {
      std::set<std::uint32_t> banks;
      for (std::uint32_t r = 0; r < 8; ++r) banks.insert(swizzled(row.swizzle, r * row.bytes + column) % 128);
      CHECK(banks.size() == 8);
    }
  }
}

}  // namespace tma_jit::plan
