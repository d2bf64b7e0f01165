// The valid values of a plan's indices.
#include <tma_jit/json.h>

#include "planning_fixture.h"

namespace tma_jit::plan {
namespace {

std::string kernel(std::string_view attributes, std::string_view type = "s32") {
  return fmt::format(
      "//! kernel k\n//! arch sm_90a\n//! dim R, N in 0..4611686018427387904 : s64\n//! param P = 2 in 1..4\n"
      "//! tensor I : {}[N] {}\n//! hook f(s32 i) : s32 = i\n//! launch grid 1 block 32\n",
      type, attributes);
}

Request request(std::int64_t r, std::int64_t n) {
  return {.kernel = "k", .dims = {{"R", r}, {"N", n}}};
}

}  // namespace

TEST_CASE("a plan has the range of its indices") {
  const Plan made = plan(kernel("in P..R * P - 1 rising"), request(10, 5)).value();
  const auto& range = argument(made, "I").range;
  REQUIRE(range);
  CHECK(range->least == 2);
  CHECK(range->most == 19);
  CHECK(range->rising);
  CHECK_FALSE(range->checked);
  CHECK(json_of(made).find(R"("range":{"least":2,"most":19,"rising":true,"checked":false,"distinct":false})") !=
        std::string::npos);
  CHECK_FALSE(argument(plan(kernel(""), request(10, 5)).value(), "I").range);
}

TEST_CASE("a bound beyond the elements' type is the nearest that they can have") {
  const auto most = [](std::string_view type) {
    return argument(plan(kernel("in 0..R", type), request(std::int64_t{1} << 40, 1)).value(), "I").range->most;
  };
  CHECK(most("s8") == 127);
  CHECK(most("u16") == 65535);
  CHECK(most("s32") == 2147483647);
  CHECK(most("s64") == std::int64_t{1} << 40);
  CHECK(most("u64") == std::int64_t{1} << 40);
}

TEST_CASE("no valid value for an element is an error, unless the kernel checks the values") {
  CHECK(refusal(kernel("in 0..R - 1"), request(0, 3)) ==
        "invalid_argument: k: tensor I has elements, but no value is valid: 0..R - 1 is 0..-1; R = 0");
  CHECK(refusal(kernel("in 0..R - 1"), request(0, 0)) == "planned");
  const Plan checked = plan(kernel("in 0..R - 1 checked"), request(0, 3)).value();
  CHECK(argument(checked, "I").range->most == -1);
}

TEST_CASE("values are distinct where the condition is true, and more of them than are valid are an error") {
  const auto distinct = [](const char* condition, std::int64_t r, std::int64_t n) {
    return refusal(kernel(fmt::format("in 1..R distinct {}", condition)), request(r, n));
  };
  CHECK(argument(plan(kernel("in 1..R distinct P == 2"), request(5, 5)).value(), "I").range->distinct);
  CHECK_FALSE(argument(plan(kernel("in 1..R distinct P == 3"), request(5, 6)).value(), "I").range->distinct);
  CHECK(distinct("P == 2", 5, 6) ==
        "invalid_argument: k: tensor I has 6 distinct elements in a row, but fewer values are valid: 1..R is 1..5; R = "
        "5");
  CHECK(distinct("P == 2", 5, 0) == "planned");
  CHECK(refusal(kernel("in 1..R distinct 1 checked"), request(5, 6)) == "planned");
  const Plan read = parse_plan(json_of(plan(kernel("in 1..R distinct 1"), request(5, 5)).value())).value();
  CHECK(argument(read, "I").range->distinct);
}

TEST_CASE("an operand of a hook may have a range") {
  Request with = request(7, 3);
  with.operands = {"document : s32[R] in 0..N rising"};
  const Plan made = plan(kernel(""), with).value();
  REQUIRE(argument(made, "document").range);
  CHECK(argument(made, "document").range->most == 3);
  CHECK(argument(made, "document").range->rising);
  with.operands = {"document : f32[R] in 0..N"};
  CHECK(refusal(kernel(""), with).find("only integers have a range") != std::string::npos);
}

}  // namespace tma_jit::plan
