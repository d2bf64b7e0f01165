// Which of its optional arguments a hook's text names, and what that means for the configuration.
#include "plan/operands.h"

#include "planning_fixture.h"
#include "template/catalogue.h"

namespace tma_jit::plan {
namespace {

Result<Plan> map_with(const Request& request) {
  templates::TemplateSet set;
  return make_plan(request, device(), set.find("map").value());
}

std::int64_t param(const Plan& plan, std::string_view name) {
  const auto at = std::ranges::find(plan.config, name, [](const auto& pair) { return pair.first; });
  REQUIRE(at != plan.config.end());
  return at->second;
}

}  // namespace

TEST_CASE("names in a hook's text") {
  CHECK(names_operand("a + b", "b"));
  CHECK(names_operand("return b;", "b"));
  CHECK(names_operand("{ f32 x = b; return x; }", "b"));
  CHECK(names_operand("f(b)", "b"));
  CHECK_FALSE(names_operand("a + bb + b1 + _b", "b"));
  CHECK_FALSE(names_operand("x.b + y->b + Z::b", "b"));
  CHECK_FALSE(names_operand("a /* b */ + 1 // b", "b"));
  CHECK_FALSE(names_operand("f(\"b\", 'b')", "b"));
  CHECK_FALSE(names_operand("f32 b = a; return b;", "b"));
  CHECK_FALSE(names_operand("", "b"));
  CHECK_FALSE(names_operand("1.0b", "b"));
}

TEST_CASE("map finds its inputs in the text, and the preset that it would take with them") {
  const auto three = map_with({.kernel = "map", .dims = {{"N", 1 << 20}}, .hooks = {{"apply", "a + b + c"}}});
  REQUIRE_MESSAGE(three.has_value(), three.error().text());
  CHECK(param(*three, "INPUTS") == 3);
  CHECK(param(*three, "VEC") == 16);
  CHECK(argument(*three, "C").present);
  CHECK_FALSE(argument(*three, "D").present);
  const auto last = map_with({.kernel = "map", .dims = {{"N", 64}}, .hooks = {{"apply", "d"}}});
  REQUIRE(last.has_value());
  CHECK(param(*last, "INPUTS") == 4);
}

TEST_CASE("a tensor that is to be there decides as one that is given does") {
  const auto two = map_with({.kernel = "map", .present = {"B"}, .dims = {{"N", 64}}, .hooks = {{"apply", "a"}}});
  REQUIRE(two.has_value());
  CHECK(param(*two, "INPUTS") == 2);
  CHECK(map_with({.kernel = "map", .present = {"Q"}, .dims = {{"N", 64}}}).error().code == ErrorCode::not_found);
}

TEST_CASE("a text that names what the pinned configuration does not have is refused by name") {
  const auto refused = map_with(
      {.kernel = "map", .dims = {{"N", 64}}, .params = {{"INPUTS", 2}}, .hooks = {{"apply", "a + c"}}, .file = "map"});
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().text().find("the text of hook apply names c") != std::string::npos);
}

}  // namespace tma_jit::plan
