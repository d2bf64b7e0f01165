// Mistakes in the directives that declare a kernel's parameters and functions: tensor, scalar, workspace, hook.
#include "manifest_fixture.h"

namespace tma_jit::templates {

TEST_CASE("tensor") {
  check_refused({"//! tensor", 11, 1, "expected the name of a tensor, found the end of the line"});
  check_refused({"//! tensor A f32[1]", 14, 3, "expected \":\" after A, found \"f32\""});
  check_refused({"//! tensor A : [1]", 16, 1, "expected the tensor's element type, found \"[\""});
  check_refused({"//! tensor A : f32", 19, 1, "expected \"[\" before the shape, found the end of the line"});
  check_refused({"//! tensor A : f32[]", 20, 1, "expected the shape, found \"]\""});
  check_refused({"//! tensor A : f32[1", 21, 1, "expected \"]\" after the shape, found the end of the line"});
  check_refused({"//! tensor A : f32[1, 2, 3, 4, 5, 6]", 35, 1, "more than 5 values for the shape"});
  check_refused({"//! tensor A : Q[1]", 16, 1, "unknown type Q"});
  check_refused({"//! tensor A : A[1]", 16, 1, "A is a tensor, not a type"});
  check_refused({"//! tensor A : f33[1]", 16, 3, "unknown type f33; did you mean \"f32\"?"});
  check_refused({"//! tensor A : f32[1] bx [1]", 23, 2, "unknown tensor attribute bx; did you mean \"box\"?"});
  check_refused({"//! tensor A : f32[1] early early", 29, 5, "early is given twice"});
  check_refused({"//! tensor A : f32[1] out out", 27, 3, "out is given twice"});
  check_refused({"//! tensor A : f32[1] box 1", 27, 1, "expected \"[\" before the box, found \"1\""});
  check_refused({"//! tensor A : f32[1, 2] box [4]", 31, 1, "the shape of A has 2 dimensions, its box 1"});
  check_refused({"//! tensor A : f32[1] box [4] steps [1, 1]", 38, 1, "the shape of A has 1 dimensions, its steps 2"});
  check_refused({"//! tensor A : f32[1] box [257]", 28, 3, "a box extent is 1 to 256, not 257"});
  check_refused({"//! tensor A : f32[1] box [0]", 28, 1, "a box extent is 1 to 256, not 0"});
  check_refused({"//! tensor A : f32[1] box [1] steps [9]", 38, 1, "an element step is 1 to 8, not 9"});
  check_refused({"//! tensor A : f32[1] box [1] swizzle 100", 39, 3, "swizzle is one of 0, 32, 64, 128, not 100"});
  check_refused({"//! tensor A : f32[1] box [1] swizzle 128 atom 8", 48, 1, "atom is one of 16, 32, 64, not 8"});
  check_refused(
      {"//! tensor A : f32[1] box [1] swizzle 128 flip", 12, 1, "flip needs atom 32 and swizzle 128; A has no atom"});
  check_refused(
      {"//! tensor A : f32[1] box [1] as e5m2", 34, 4,
       "TMA knows no type e5m2; it knows u8, u16, u32, s32, u64, s64, f16, f32, f64, bf16, f32_ftz, tf32, tf32_ftz, "
       "b4x16, b4x16_p64, b6x16_p32"});
  check_refused({"//! tensor A : f32[1] as tf32", 23, 2, "as needs a box: without one A has no tensor map"});
  check_refused({"//! tensor A : f32[1, 2] im2col [1] [2] box [1, 4]", 12, 1,
                 "im2col needs 3 to 5 dimensions, N, then D, H and W as there are, then C; A has 2"});
  check_refused({"//! tensor A : f32[1, 2, 3, 4] im2col [1] [2, 3] box [1, 4]", 40, 1,
                 "the lower corner of A, im2col over 4 dimensions, takes the offsets of H and W, not 1"});
  check_refused({"//! tensor A : f32[1, 2, 3, 4] im2col_w [1] [2, 3] box [1, 4]", 46, 1,
                 "the upper corner of A, im2col_w over 4 dimensions, takes one offset, W's, not 2"});
  check_refused({"//! tensor A : f32[1, 2, 3] im2col [1] [2] box [1, 2, 4]", 49, 1,
                 "the box of A, im2col over 3 dimensions, takes pixels and channels, not 3"});
  check_refused(
      {"//! tensor A : f32[1, 2, 3] im2col [1] [2] box [1025, 4]", 49, 4, "a box extent is 1 to 1024, not 1025"});
  check_refused({"//! tensor A : f32[1, 2, 3] im2col [1] box [1, 4]", 40, 3,
                 "expected \"[\" before the upper corner, found \"box\""});
  check_refused(
      {"//! tensor A : f32[1, 2, 3] im2col [1] [2] im2col_w [1] [2] box [1, 4]", 44, 8, "A is im2col already"});
  check_refused({"//! tensor A : f32[1] box [1] interleave 8", 42, 1, "interleave is one of 0, 16, 32, not 8"});
  check_refused({"//! tensor A : f32[1] box [1] l2 2 * 16", 34, 6, "l2 is one of 0, 64, 128, 256, not 32"});
  check_refused({"//! tensor A : f32[1] box [1] fill one", 36, 3, "fill is zero or nan, not one"});
  check_refused({"//! tensor A : f32[1] box [1] fill", 35, 1, "expected zero or nan, found the end of the line"});
  check_refused({"//! tensor A : f32[1] swizzle 128", 23, 7, "swizzle needs a box: without one A has no tensor map"});
  check_refused({"//! tensor A : f32[1] view", 23, 4, "view needs a box: without one A has no tensor map"});
  check_refused({"//! tensor A : f32[1] out fill nan", 27, 4, "fill needs a box: without one A has no tensor map"});
  check_refused({"//! tensor A : f32[1] swizzle [1]", 31, 1, "expected the swizzle in bytes, found \"[\""});
  check_refused({"//! tensor A : f32[1] when", 27, 1, "expected the tensor's condition, found the end of the line"});
  check_refused(
      {"//! tensor A : f32[1] , out", 23, 1, "expected an attribute, a doc text or the end of the line, found \",\""});
}

TEST_CASE("scalar") {
  check_refused({"//! scalar alpha", 17, 1, "expected \":\" after alpha, found the end of the line"});
  check_refused({"//! scalar alpha : float", 20, 5, "unknown type float"});
  check_refused({"//! scalar alpha : f32 =", 25, 1, "expected the scalar's default, found the end of the line"});
  check_refused({"//! scalar alpha : f32 = 1.5x", 26, 4, "1.5x is not a number"});
  check_refused({"//! scalar alpha : f32 = -1e999", 27, 5, "1e999 is not a number"});
  check_refused({"//! scalar n : s32 = 1.5", 22, 3, "the default of n must be an integer, as s32 is one"});
  check_refused({"//! scalar n : s32 = k", 22, 1, "a scalar's default values must be numbers, and k is not one"});
  check_refused({"//! scalar n : u8 = 256", 21, 3, "scalar n = 256 is not a value of u8"});
  check_refused({"//! scalar n : u8 = -1", 21, 1, "scalar n = -1 is not a value of u8"});
  check_refused({"//! scalar x : f16 = 1e9", 22, 3, "scalar x = 1000000000 is not a value of f16"});
  check_refused({"//! scalar x : f32 = 1 / 3", 22, 1,
                 "1 / 3 divides integers, which gives 0; write the number that is meant, such as 0.5"});
  check_refused(
      {"//! scalar x : f32 = 1 = 2", 24, 1, "expected \"=\", a doc text or the end of the line, found \"=\""});
  check_refused({"//! scalar n : s32 1", 20, 1, "expected \"=\", a doc text or the end of the line, found \"1\""});
  const Template t = parsed(fmt::format("{}//! scalar a : f32 = 2.5f\n//! scalar b : s32 = -(2 + 3) * 4\n", kFrame));
  CHECK(std::get<double>(*t.scalars[0].default_value) == 2.5);
  CHECK(std::get<std::int64_t>(*t.scalars[1].default_value) == -20);
}

TEST_CASE("workspace") {
  check_refused({"//! workspace", 14, 1, "expected the name of a workspace, found the end of the line"});
  check_refused({"//! workspace w", 16, 1, "expected the workspace's size in bytes, found the end of the line"});
  check_refused({"//! workspace w 16 clear", 20, 5,
                 "expected an operator, \"zero\", a doc text or the end of the line, found \"clear\""});
}

TEST_CASE("hook") {
  check_refused({"//! hook", 9, 1, "expected the name of a hook, found the end of the line"});
  check_refused({"//! hook f : f32", 12, 1, "expected \"(\" after f, found \":\""});
  check_refused({"//! hook f(f32) : f32", 15, 1, "expected the name of the hook's parameter, found \")\""});
  check_refused({"//! hook f(f32 a,) : f32", 18, 1, "expected the type of a hook's parameter, found \")\""});
  check_refused({"//! hook f(f32 a, f32 a) : f32", 23, 1, "f has two parameters named a"});
  check_refused({"//! hook f(f32 int) : f32", 16, 3, "int is a word of C++ and cannot be declared"});
  check_refused({"//! hook f(f32 a : f32", 18, 1, "expected \")\" after the hook's parameters, found \":\""});
  check_refused(
      {"//! hook f(f32 a)", 18, 1, "expected \":\" before the hook's result type, found the end of the line"});
  check_refused({"//! hook f(f32 a) :", 20, 1, "expected the hook's result type, found the end of the line"});
  check_refused({"//! hook f(f32 a) : f32 =", 25, 1, "the default of f is empty"});
  check_refused({"//! hook f(f32 a) : f32 = \"only doc\"", 25, 1, "the default of f is empty"});
  check_refused({"//! hook f(f32 a) : f32 a", 25, 1,
                 "expected \"generic\", \"=\", a doc text or the end of the line, found \"a\""});
  check_refused({"//! hook f(float a) : f32", 12, 5, "unknown type float"});
  check_refused({"//! hook f(f32 a) : Q", 21, 1, "unknown type Q"});
}

}  // namespace tma_jit::templates
