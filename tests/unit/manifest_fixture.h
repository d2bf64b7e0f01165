// Manifests to parse, and short ways to ask for what is refused.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "template/template.h"

namespace tma_jit::templates {

inline constexpr std::string_view kFull = R"(//! kernel  demo     "what it \"does\""
//! arch    sm_90a, sm_100a
//! arch    sm_120
//!
//! type    T      = bf16  in {bf16, f16}            "elements"
//! type    U      = f32
//! dim     M, N   in 0..2147483647                  "rows, columns"
//! dim     K : s64
//! dim     H      = 128
//! param   BM     = 128   in {64, 128, 192}         "rows of a tile"
//! param   STAGES = 3     in 2..8
//! param   SHIFT  = -1    in {-1, 0, 2 * 8}
//! let     BK     = 128 / sizeof(T)                 "one swizzle row"
//! let     TILES  = ceil_div(M, BM)
//! let     LIMIT  = device.smem_per_block - BK
//! let     FIXED  = H + BK
//! let     STEP   = stride(A, 0)
//! let     AFTER  = STEP + TILES
//! require K * sizeof(T) % 16 == 0                  "rows must be aligned"
//! require alignment(A) >= 16
//! tensor  A : T[M, K]       box [BM, BK] swizzle 128 interleave 0 l2 256 steps [1, 1] fill nan "the input"
//! tensor  B : f32[N]        when STAGES >= 3
//! tensor  D : U[M, N + 1]   out box [BM, 64] view
//! scalar  alpha : f32 = 1.5                        "factor"
//! scalar  beta : T
//! scalar  count : s32 = -3
//! scalar  tiny : f64 = -1e-5
//! workspace partials TILES * 4 zero                "sums"
//! workspace more 16
//! hook    apply(f32 a, T b when STAGES >= 3) : f32 = a * "x"[0] + 0.5f   "the epilogue"
//! hook    finish() : U
//! cluster 2, 1
//! launch  grid TILES, 2, 3 block 128, 2 smem LIMIT pdl
//! work    flops 2 * M * N bytes M + N
//! preset  BM = 64, STAGES = 6 when TILES < device.sm_count "small"
//! preset  BM = 192
//! reference demo_reference grid M block 256
__global__ void demo() {}
)";

inline constexpr std::string_view kFrame = "//! kernel k\n//! arch sm_90a\n//! launch grid 1 block 32\n";

inline Template parsed(std::string_view text) {
  auto result = parse("k.cu", std::string(text));
  if (!result) FAIL(result.error().text());
  return *result;
}

// A line that is refused: where (1-based column, marked length) and with which words.
struct Refused {
  std::string_view line;
  int column, length;
  std::string_view message;
};

inline void check_refused(std::string_view before, const Refused& row) {
  CAPTURE(row.line);
  const auto result = parse("k.cu", fmt::format("{}{}\nvoid body();\n", before, row.line));
  REQUIRE_FALSE(result.has_value());
  const long line = std::count(before.begin(), before.end(), '\n') + 1;
  CHECK(result.error().code == ErrorCode::parse);
  CHECK(result.error().line() == fmt::format("k.cu:{}:{}: {}", line, row.column, row.message));
  CHECK(result.error().detail == fmt::format("{}\n{}^{}", row.line,
                                             std::string(static_cast<std::size_t>(row.column - 1), ' '),
                                             std::string(static_cast<std::size_t>(row.length - 1), '~')));
}

// `line` is the fourth of a manifest that is otherwise whole.
inline void check_refused(const Refused& row) {
  check_refused(kFrame, row);
}

}  // namespace tma_jit::templates
