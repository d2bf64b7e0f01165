// Mistakes in the directives that declare values and rules: type, dim, param, let, require, preset.
#include "manifest_fixture.h"

namespace tma_jit::templates {

TEST_CASE("names are unique and free to be declared") {
  check_refused("//! param BM = 1 in {1}\n", {"//! let BM = 2", 9, 2, "BM is already declared, as a param on line 1"});
  check_refused("//! tensor A : f32[1]\n",
                {"//! scalar A : f32", 12, 1, "A is already declared, as a tensor on line 1"});
  check_refused({"//! dim k", 9, 1, "k is already declared, as the kernel on line 1"});
  check_refused({"//! dim M, M", 12, 1, "M is already declared, as a dim on line 4"});
  check_refused({"//! let bf16 = 1", 9, 4, "bf16 is an element type and cannot be declared"});
  check_refused({"//! let while = 1", 9, 5, "while is a word of C++ and cannot be declared"});
  check_refused({"//! let Dims = 1", 9, 4, "Dims already has a meaning in every template"});
  check_refused({"//! let NULL = 1", 9, 4, "NULL already has a meaning in every template"});
  check_refused({"//! dim TMA_JIT_REFERENCE", 9, 17, "TMA_JIT_REFERENCE already has a meaning in every template"});
  check_refused({"//! param __LINE__ = 1 in {1}", 11, 8,
                 "__LINE__ cannot be declared: names with __ in front are the compiler's"});
  check_refused({"//! type device = f32", 10, 6, "device already has a meaning in every template"});
  check_refused({"//! param true = 1 in {1}", 11, 4, "true is a word of C++ and cannot be declared"});
}

TEST_CASE("type") {
  check_refused({"//! type", 9, 1, "expected the name of a type, found the end of the line"});
  check_refused({"//! type T", 11, 1, "expected \"=\" after T, found the end of the line"});
  check_refused({"//! type T = ", 13, 1, "expected the type's default, found the end of the line"});
  check_refused({"//! type T = bf61", 14, 4, "unknown element type bf61"});
  check_refused({"//! type T = bf17", 14, 4, "unknown element type bf17; did you mean \"bf16\"?"});
  check_refused({"//! type T = f32 in f32", 21, 3, "expected \"{\" after in, found \"f32\""});
  check_refused({"//! type T = f32 in {}", 22, 1, "expected an element type, found \"}\""});
  check_refused({"//! type T = f32 in {f32, f32}", 27, 3, "f32 is listed twice"});
  check_refused({"//! type T = f32 in {f32", 25, 1, "expected \"}\" after the types, found the end of the line"});
  check_refused({"//! type T = f32 in {bf16, f16}", 14, 3, "the default f32 is not one of the choices of T"});
  check_refused({"//! type T = f32 {f32}", 18, 1, "expected \"in\", a doc text or the end of the line, found \"{\""});
}

TEST_CASE("dim") {
  check_refused({"//! dim", 8, 1, "expected the name of a dim, found the end of the line"});
  check_refused({"//! dim M,", 11, 1, "expected the name of a dim, found the end of the line"});
  check_refused({"//! dim M N", 11, 1,
                 "expected \",\", \":\", \"in\", \"=\", \"when\", a doc text or the end of the line, found \"N\""});
  check_refused({"//! dim M : f32", 13, 3, "a dim is s32 or s64, not f32"});
  check_refused({"//! dim M in {1, 2}", 14, 1, "the values of a dim are a range, like 1..4096"});
  check_refused({"//! dim M in 8..2", 14, 1, "the range 8..2 is empty"});
  check_refused({"//! dim M in -1..2", 14, 1, "a dim cannot be -1"});
  check_refused({"//! dim M in 0..2147483648", 14, 1,
                 "a dim of 32 bits cannot be more than 2147483647; \": s64\" makes it 64-bit"});
  check_refused({"//! dim M : s64 in 0..4611686018427387905", 20, 1, "a dim cannot be more than 4611686018427387904"});
  check_refused({"//! dim M in 1", 15, 1, "expected \"..\" in the range, found the end of the line"});
  check_refused({"//! dim M in 1..M", 17, 1, "a dim's bounds must be numbers, and M is not one"});
  check_refused({"//! dim H = 0", 13, 1, "0 is not in 1..2147483647"});
  check_refused({"//! dim H in 1..4 = 8", 21, 1, "8 is not in 1..4"});
  check_refused({"//! dim H, W = 8", 16, 1, "a dim with a value has a line of its own"});
  check_refused({"//! dim H = BM", 13, 2, "a fixed dim's values must be numbers, and BM is not one"});
}

TEST_CASE("param") {
  check_refused({"//! param", 10, 1, "expected the name of a param, found the end of the line"});
  check_refused({"//! param BM 128", 14, 3, "expected \"=\" after BM, found \"128\""});
  check_refused({"//! param BM =", 15, 1, "expected the param's default, found the end of the line"});
  check_refused({"//! param BM = 128", 19, 1, "expected \"in\" and the param's values, found the end of the line"});
  check_refused({"//! param BM = 128 in", 22, 1, "expected a value, found the end of the line"});
  check_refused({"//! param BM = 128 in {}", 24, 1, "expected a value, found \"}\""});
  check_refused({"//! param BM = 128 in {64,}", 27, 1, "expected a value, found \"}\""});
  check_refused(
      {"//! param BM = 128 in {64, 128", 31, 1, "expected \"}\" after the values, found the end of the line"});
  check_refused({"//! param BM = 128 in {128, 64 * 2}", 29, 2, "128 is listed twice"});
  check_refused({"//! param BM = 96 in {64, 128}", 16, 2, "the default 96 is not one of the values of BM"});
  check_refused({"//! param BM = 9 in 2..8", 16, 1, "the default 9 is not one of the values of BM"});
  check_refused({"//! param BM = 2 in 8..2", 21, 1, "the range 8..2 is empty"});
  check_refused({"//! param BM = 2 in 0..4096", 21, 1, "the range 0..4096 has more than 4096 values"});
  check_refused({"//! param BM = 2 in -9223372036854775807..9223372036854775807", 21, 1,
                 "the range -9223372036854775807..9223372036854775807 has more than 4096 values"});
  check_refused(
      {"//! param BM = sizeof(T) in {2}", 23, 1, "a param's values must be numbers, and sizeof(T) is not one"});
  check_refused({"//! param BM = 1 / 0 in {2}", 18, 1, "division by zero: 1 / 0"});
  check_refused({"//! param BM = 1.5 in {2}", 16, 3, "1.5 is not an integer"});
  check_refused({"//! param BM = 2 in {2} when 1", 25, 4,
                 "expected \"asked\", a doc text or the end of the line, found \"when\""});
  check_refused({"//! param BM = 2 in {2} asked asked", 31, 5,
                 "expected \"chain\", a doc text or the end of the line, found \"asked\""});
  check_refused({"//! param BM = 2 in {2, 4} chain 4", 28, 5,
                 "expected \"asked\", a doc text or the end of the line, found \"chain\""});
  check_refused({"//! param BM = 2 in {2, 4} asked chain 3", 40, 1, "3 is not one of the values of BM"});
  check_refused({"//! param BM = 2 in {2, 4} asked chain 4 chain", 42, 5,
                 "expected a doc text or the end of the line, found \"chain\""});
}

TEST_CASE("an attribute of a dim is given once") {
  check_refused({"//! dim X in 1..4 in 1..8", 19, 2, "\"in\" is given twice"});
  check_refused({"//! dim X : s64 in 1..4 : s32", 25, 1, "\":\" is given twice"});
  check_refused({"//! dim X = 4 = 5", 15, 1, "\"=\" is given twice"});
  check_refused({"//! dim X when 1 when 0", 18, 4, "\"when\" is given twice"});
}

TEST_CASE("let: value, order and cycles") {
  check_refused({"//! let X", 10, 1, "expected \"=\" after X, found the end of the line"});
  check_refused({"//! let X =", 12, 1, "expected the let's value, found the end of the line"});
  check_refused({"//! let X = 1 +", 16, 1, "expected a value, found the end of the line"});
  check_refused({"//! let X = 1 1", 15, 1, "expected an operator, a doc text or the end of the line, found \"1\""});
  check_refused({"//! let X = 1 + X", 17, 1, "let X refers to itself"});
  const auto message = [](std::string_view lets) {
    const auto result = parse("k.cu", fmt::format("{}{}", kFrame, lets));
    return result.error().message + "\n" + result.error().detail;
  };
  CHECK(message("//! let X = Y\n//! let Y = 1\n") ==
        "k.cu:4:13: Y is declared below, on line 5; a let uses only lets above it\n//! let X = Y\n            ^");
  CHECK(message("//! let X = 2 * Y\n//! let Y = Z\n//! let Z = X\n") ==
        "k.cu:4:17: the lets refer to each other: X -> Y -> Z -> X\n//! let X = 2 * Y\n                ^");
}

TEST_CASE("require") {
  check_refused({"//! require", 12, 1, "expected the condition of the rule, found the end of the line"});
  check_refused({"//! require 1 = 2", 15, 1,
                 "expected an operator, a doc text or the end of the line, found \"=\"; \"==\" compares"});
  check_refused({"//! require 1 \"a\" \"b\"", 19, 3, "expected the end of the line, found a text"});
}

TEST_CASE("preset") {
  constexpr std::string_view kParams =
      "//! kernel k\n//! arch sm_90a\n//! launch grid 1 block 32\n//! dim M\n//! param STAGES = 2 in {2, 3}\n";
  const auto refused = [&](const Refused& row) { check_refused(kParams, row); };
  refused({"//! preset", 11, 1, "expected a param in the preset, found the end of the line"});
  refused({"//! preset STAGES", 18, 1, "expected \"=\" after STAGES, found the end of the line"});
  refused({"//! preset STAGES = 4", 12, 6, "4 is not one of the values of STAGES"});
  refused({"//! preset STAGE = 2", 12, 5, "unknown param STAGE; did you mean \"STAGES\"?"});
  refused({"//! preset M = 2", 12, 1, "a preset sets params, and M is a dim"});
  refused({"//! preset STAGES = 2, STAGES = 3", 24, 6, "STAGES is set twice"});
  refused({"//! preset STAGES = {2, 3, 2}", 28, 1, "2 is listed twice"});
  refused({"//! preset STAGES = {2, 4}", 12, 6, "4 is not one of the values of STAGES"});
  refused({"//! preset STAGES = {}", 22, 1, "expected a value, found \"}\""});
  refused({"//! preset STAGES = {2 3}", 24, 1, "expected \"}\" after the values, found \"3\""});
  std::string values = "1";
  for (int i = 2; i <= 4096; ++i) values += fmt::format(", {}", i);
  const std::string all = fmt::format("//! preset STAGES = {{2, 3}}, B = {{{}}}", values);
  const auto many = parse("k.cu", fmt::format("{}//! param B = 1 in 1..4096\n{}\n", kParams, all));
  REQUIRE_FALSE(many.has_value());
  CHECK(many.error().message ==
        "k.cu:7:29: the line states more than 4096 presets, one for each combination of values");
  refused({"//! preset STAGES = M", 21, 1, "a preset's values must be numbers, and M is not one"});
  refused({"//! preset STAGES = 2 when", 27, 1, "expected the preset's condition, found the end of the line"});
  refused({"//! preset STAGES = 2 when M = 3", 30, 1,
           "expected an operator, a doc text or the end of the line, found \"=\"; \"==\" compares"});
  refused({"//! preset STAGES = 2 if M", 23, 2,
           "expected \",\", \"when\", a doc text or the end of the line, found \"if\""});
  refused({"//! preset STAGES = 2 when MM > 1", 28, 2, "unknown name MM; did you mean \"M\"?"});
}

}  // namespace tma_jit::templates
