// Types that follow an earlier one where nothing decides them.
#include "planning_fixture.h"

namespace tma_jit::plan {
namespace {

std::string kernel(std::string_view follower) {
  return fmt::format(
      "//! kernel k\n//! arch sm_90a\n//! type T = bf16 in {{bf16, f16, e4m3}}\n//! type R = {}\n//! dim N\n"
      "//! tensor X : T[N]\n//! tensor Y : R[N] out\n//! launch grid 1 block 32\n",
      follower);
}

DType result_type(std::string_view follower, std::map<std::string, DType> types) {
  const Plan made = plan(kernel(follower), {.kernel = "k", .dims = {{"N", 8}}, .types = std::move(types)}).value();
  return argument(made, "Y").dtype;
}

}  // namespace

TEST_CASE("a type that follows another is what that is, unless its choices lack it or the request decides") {
  CHECK(result_type("T in {f16, bf16}", {}) == DType::bf16);
  CHECK(result_type("T in {f16, bf16}", {{"T", DType::f16}}) == DType::f16);
  CHECK(result_type("T in {f16, bf16}", {{"T", DType::e4m3}}) == DType::f16);
  CHECK(result_type("T in {f16, bf16}", {{"T", DType::f16}, {"R", DType::bf16}}) == DType::bf16);
  CHECK(result_type("T", {{"T", DType::e4m3}}) == DType::e4m3);
}

TEST_CASE("a refusal names the types that a rule compares") {
  const std::string text =
      kernel("T in {bf16, f16}") + "//! require dtype(T) == dtype(R) || sizeof(T) == 1 \"types must agree\"\n";
  CHECK(refusal(text, {.kernel = "k", .dims = {{"N", 8}}, .types = {{"T", DType::bf16}, {"R", DType::f16}}}) ==
        "no_config: k: no configuration satisfies this request\n"
        "  k.cu:9: the only configuration violates  dtype(T) == dtype(R) || sizeof(T) == 1\n"
        "    types must agree\n"
        "    dtype(T) = bf16, dtype(R) = f16, sizeof(T) = 2");
}

TEST_CASE("only an earlier type can be followed") {
  const auto parsed = templates::parse("k.cu", kernel("S in {f16}"));
  REQUIRE_FALSE(parsed);
  CHECK(parsed.error().message.find("unknown element type S") != std::string::npos);
}

}  // namespace tma_jit::plan
