// Operands that a hook reads only at its own element: found in the text, and given to it as values.
#include <doctest/doctest.h>

#include "source/operand_uses.h"

namespace tma_jit::source {
namespace {

const std::vector<Operand> kOperands = {{"up", DType::bf16, 2, true, true},
                                        {"bias", DType::f32, 1, true, false},
                                        {"scale", DType::f32, 1, true, false},
                                        {"alpha", DType::f32, 0, false, false}};

Hook hook_of(std::string text) {
  return {
      "epilogue", DType::f32, {{DType::f32, "x"}, {DType::s32, "row"}, {DType::s32, "column"}}, std::move(text), false,
      false,      true};
}

// The own operands of a text, such as "up[row,column] bias[column]".
std::string own_in(const std::string& text) {
  std::string names;
  for (const OwnOperand& own : own_operands_of(hook_of(text), kOperands)) {
    names += (names.empty() ? "" : " ") + own.operand.name + "[" + (own.row ? "row" : "") +
             (own.row && own.column ? "," : "") + (own.column ? "column" : "") + "]";
  }
  return names;
}

}  // namespace

TEST_CASE("operands that are read at the row, the column or both of the element are found") {
  CHECK(own_in("x * up[row, column]") == "up[row,column]");
  CHECK(own_in("x * up[ row ,/* the same */ column] + up[row,column]") == "up[row,column]");
  CHECK(own_in("x * scale[row] + bias[column] - alpha") == "bias[column] scale[row]");
  CHECK(own_in("x == 0 || x <= bias[column] && x >= 1 && x != 2 ? x << 1 : x >> 1") == "bias[column]");
  CHECK(own_in("x + alpha").empty());
  CHECK(own_in("x").empty());
}

TEST_CASE("vectors of which only the first element is read are found") {
  CHECK(own_in("x * scale[0] + bias[column]") == "bias[column] scale[]");
  CHECK(own_in("x * scale[ 0 ] / scale[0]") == "scale[]");
  CHECK(own_in("x * scale[1]").empty());
  CHECK(own_in("x * scale[0] + scale[row]").empty());
  CHECK(own_in("x * up[0, 0]").empty());
}

TEST_CASE("operands that are read elsewhere are not") {
  CHECK(own_in("x * up[column, row]").empty());
  CHECK(own_in("x * up[row, column + 1]").empty());
  CHECK(own_in("x * up[row, column] + up[row, 0]").empty());
  CHECK(own_in("x * bias[row % 8] + scale[row]") == "scale[row]");
  CHECK(own_in("x * bias[row] + bias[column]").empty());
  CHECK(own_in("x * bias[(column)]").empty());
}

TEST_CASE("a text that may change the row or the column, or is no expression, has none") {
  CHECK(own_in("return x * up[row, column];").empty());
  CHECK(own_in("(row = 0, x * up[row, column])").empty());
  CHECK(own_in("x * up[row, column] * row++").empty());
  CHECK(own_in("x * up[row, column] * (row <<= 1)").empty());
  CHECK(own_in("x * up[row, column] * (row >>= 1)").empty());
  CHECK(own_in("x * up[row, column] * (row += 1)").empty());
  CHECK(own_in("x * up[row, column] /* row = 1; */") == "up[row,column]");
  Hook other = hook_of("x * up[row, column]");
  other.parameters.pop_back();
  CHECK(own_operands_of(other, kOperands).empty());
}

TEST_CASE("at most kOwnMost operands are kept in registers") {
  std::vector<Operand> many;
  std::string text = "x";
  for (std::size_t i = 0; i < kOwnMost + 2; ++i) {
    many.push_back({"m" + std::to_string(i), DType::f32, 2, true, true});
    text += " + " + many.back().name + "[row, column]";
  }
  CHECK(own_operands_of(hook_of(text), many).size() == kOwnMost);
}

TEST_CASE("indices become blanks, and every other byte keeps its place") {
  const std::string text = "x * up[row,\n column] + bias[column] * scale[row + 1]";
  const auto own = own_operands_of(hook_of(text), kOperands);
  const std::string without = without_indices(text, own);
  CHECK(without == "x * up     \n         + bias         * scale[row + 1]");
  CHECK(without.size() == text.size());
}

}  // namespace tma_jit::source
