#include "template/expression.h"

#include <map>

#include <doctest/doctest.h>

#include "core/failure.h"

namespace tma_jit::templates {
namespace {

struct TableScope final : Scope {
  std::map<std::string, std::int64_t> table;
  Result<std::int64_t> value(const Reference& reference) const override {
    const auto found = table.find(reference.text());
    if (found == table.end()) return failure(ErrorCode::invalid_argument, "{} is not given", reference.text());
    return found->second;
  }
};

TableScope example_scope() {
  TableScope scope;
  scope.table = {{"M", 4097},           {"K", 64},
                 {"BM", 128},           {"ZERO", 0},
                 {"sizeof(T)", 2},      {"device.sm_count", 132},
                 {"stride(A, 1)", 1},   {"stride(A, 0)", 4096},
                 {"alignment(A)", 256}, {"HUGE_VALUE", INT64_MAX}};
  return scope;
}

// The value, or the error's text.
std::string result_of(std::string_view text) {
  const auto expression = parse_expression(text);
  if (!expression) return expression.error().line() + "\n" + expression.error().detail;
  const auto value = expression->evaluate(example_scope());
  if (!value) return value.error().message + "\n" + value.error().detail;
  return std::to_string(*value);
}

}  // namespace

TEST_CASE("operators have C++'s precedence and associativity") {
  // Every row is an expression the C++ compiler evaluates too.
#define SAME(expression) CHECK(result_of(#expression) == std::to_string(std::int64_t{expression}))
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wbool-compare"
  SAME(1 + 2 * 3);
  SAME((1 + 2) * 3);
  SAME(100 - 10 - 1);
  SAME(100 / 10 / 5);
  SAME(100 / 10 * 5 % 7);
  SAME(-7 / 2);
  SAME(-7 % 3);
  SAME(1 << 2 + 3);
  SAME(256 >> 2 >> 1);
  SAME(-16 >> 2);
  SAME(1 | 2 ^ 3 & 4);
  SAME(6 & (3 == 3));
  SAME((1 < 2) == 1);
  SAME((5 > 4) > 3);
  SAME(1 || 0 && 0);
  SAME(0 && 1 || 1);
  SAME(1 ? 2 : 0 ? 3 : 4);
  SAME(0 ? 2 : 0 ? 3 : 4);
  SAME(0 ? 2 : 1 ? 3 : 4);
  SAME(1 ? 0 ? 5 : 6 : 7);
  SAME(!5 + 1);
  SAME(!!5);
  SAME(~5 & 15);
  SAME(- -5);
  SAME(-5 + +3);
  SAME(2 * -3);
  SAME(3 <= 3 && 4 >= 5 || 1 != 2);
  SAME(true + true);
  SAME(false);
  SAME(0x7F + 0b101 + 1'000'000);
  SAME(9223372036854775807);
#pragma GCC diagnostic pop
#undef SAME
}

TEST_CASE("functions") {
  CHECK(result_of("align_up(1000, 128)") == "1024");
  CHECK(result_of("align_up(1024, 128)") == "1024");
  CHECK(result_of("align_up(-1, 128)") == "0");
  CHECK(result_of("ceil_div(4097, 128)") == "33");
  CHECK(result_of("ceil_div(4096, 128)") == "32");
  CHECK(result_of("ceil_div(0, 128)") == "0");
  CHECK(result_of("ceil_div(-129, 128)") == "-1");
  CHECK(result_of("min(3, 1, 2)") == "1");
  CHECK(result_of("max(3, 1, 2)") == "3");
  CHECK(result_of("max(min(M, 7), ceil_div(M, BM))") == "33");
  CHECK(result_of("sum(M) - max(ZERO)") == "4097");  // of lists that are not expanded
  CHECK(result_of("sizeof(bf16) + sizeof(f64) * 10 + sizeof(e4m3) * 100") == "182");
}

TEST_CASE("references take their values from the scope") {
  CHECK(result_of("integer(s8) + integer(u64) * 10 + integer(bf16) * 100 + integer(e4m3) * 1000") == "11");
  CHECK(result_of("M * sizeof(T) % 16") == "2");
  CHECK(result_of("device.sm_count * 2") == "264");
  CHECK(result_of("stride(A, 0) + stride(A, 1)") == "4097");
  CHECK(result_of("alignment(A) >= 16") == "1");
  CHECK(result_of("NOBODY + 1") == "NOBODY is not given\n");
}

TEST_CASE("logical operators and the conditional evaluate only what they need") {
  CHECK(result_of("ZERO != 0 && M / ZERO > 1") == "0");
  CHECK(result_of("ZERO == 0 || M / ZERO > 1") == "1");
  CHECK(result_of("ZERO ? M / ZERO : 7") == "7");
  CHECK(result_of("ZERO == 0 ? 7 : NOBODY") == "7");
  CHECK(result_of("5 && 7") == "1");
}

TEST_CASE("arithmetic faults carry the place and the operands") {
  CHECK(result_of("1 + M / ZERO") == "expression:1:7: division by zero: 4097 / 0\n1 + M / ZERO\n      ^");
  CHECK(result_of("M % ZERO") == "expression:1:3: division by zero: 4097 % 0\nM % ZERO\n  ^");
  CHECK(result_of("HUGE_VALUE + 1") ==
        "expression:1:12: overflow of 64 bits: 9223372036854775807 + 1\nHUGE_VALUE + 1\n           ^");
  CHECK(result_of("-HUGE_VALUE - 2") ==
        "expression:1:13: overflow of 64 bits: -9223372036854775807 - 2\n-HUGE_VALUE - 2\n            ^");
  CHECK(result_of("HUGE_VALUE * 2").find("overflow of 64 bits: 9223372036854775807 * 2") != std::string::npos);
  CHECK(result_of("-(-HUGE_VALUE - 1)").find("overflow of 64 bits: -(-9223372036854775808)") != std::string::npos);
  CHECK(result_of("(-HUGE_VALUE - 1) / -1").find("overflow of 64 bits") != std::string::npos);
  CHECK(result_of("(-HUGE_VALUE - 1) % -1").find("overflow of 64 bits") != std::string::npos);
  CHECK(result_of("1 << 63").find("overflow of 64 bits: 1 << 63") != std::string::npos);
  CHECK(result_of("1 << 64").find("shift by other than 0 to 63 bits: 1 << 64") != std::string::npos);
  CHECK(result_of("1 >> -1").find("shift by other than 0 to 63 bits: 1 >> -1") != std::string::npos);
  CHECK(result_of("align_up(8, ZERO)") ==
        "expression:1:1: alignment that is not positive: align_up(8, 0)\nalign_up(8, ZERO)\n^~~~~~~~");
  CHECK(result_of("align_up(HUGE_VALUE, 128)").find("overflow of 64 bits: align_up(9223372036854775807, 128)") !=
        std::string::npos);
  CHECK(result_of("ceil_div(8, -1)").find("divisor that is not positive: ceil_div(8, -1)") != std::string::npos);
  CHECK(result_of("ceil_div(HUGE_VALUE, 2)") == "4611686018427387904");
}

TEST_CASE("malformed expressions are refused with the place") {
  CHECK(result_of("") == "expression:1:1: expected an expression, found the end of the line\n\n^");
  CHECK(result_of("1 +") == "expression:1:4: expected a value, found the end of the line\n1 +\n   ^");
  CHECK(result_of("1 + * 2") == "expression:1:5: expected a value, found \"*\"\n1 + * 2\n    ^");
  CHECK(result_of("(1 + 2") ==
        "expression:1:7: expected \")\" to close the \"(\" in column 1, found the end of the line\n(1 + 2\n      ^");
  CHECK(result_of("1 2") == "expression:1:3: expected an operator, found \"2\"\n1 2\n  ^");
  CHECK(result_of("1 ? 2") ==
        "expression:1:6: expected \":\" of the conditional, found the end of the line\n1 ? 2\n     ^");
  CHECK(result_of("1.5") == "expression:1:1: 1.5 is not an integer\n1.5\n^~~");
  CHECK(result_of("1e5") == "expression:1:1: 1e5 is not an integer\n1e5\n^~~");
  CHECK(result_of("10u") == "expression:1:1: 10u is not an integer\n10u\n^~~");
  CHECK(result_of("0x") == "expression:1:1: 0x is not an integer\n0x\n^~");
  CHECK(result_of("0b12") == "expression:1:1: 0b12 is not an integer\n0b12\n^~~~");
  CHECK(result_of("010") == "expression:1:1: 010 would be octal in C++; write it without the leading 0\n010\n^~~");
  CHECK(result_of("9223372036854775808") ==
        "expression:1:1: 9223372036854775808 does not fit in 64 bits\n9223372036854775808\n^~~~~~~~~~~~~~~~~~~");
  CHECK(result_of("algn_up(1, 2)") ==
        "expression:1:1: unknown function algn_up; did you mean \"align_up\"?\nalgn_up(1, 2)\n^~~~~~~");
  CHECK(result_of("min(1)") == "expression:1:1: min takes 2 or more arguments, not 1\nmin(1)\n^~~");
  CHECK(result_of("ceil_div(1, 2, 3)") ==
        "expression:1:1: ceil_div takes 2 arguments, not 3\nceil_div(1, 2, 3)\n^~~~~~~~");
  CHECK(result_of("min(1, 2") ==
        "expression:1:9: expected \")\" after the arguments of min, found the end of the line\nmin(1, 2\n        ^");
  CHECK(result_of("sizeof T") == "expression:1:8: expected \"(\" after sizeof, found \"T\"\nsizeof T\n       ^");
  CHECK(result_of("sizeof(2)") == "expression:1:8: expected a type name in sizeof, found \"2\"\nsizeof(2)\n       ^");
  CHECK(result_of("device") ==
        "expression:1:7: expected \".\" after device, found the end of the line\ndevice\n      ^");
  CHECK(result_of("device.1").find("expected") != std::string::npos);
  CHECK(result_of("stride(A)") ==
        "expression:1:9: expected \",\" in stride(tensor, dimension), found \")\"\nstride(A)\n        ^");
  CHECK(result_of("stride(A, M)") ==
        "expression:1:11: expected a dimension's number in stride, 0 for the outermost, found \"M\"\nstride(A, M)\n"
        "          ^");
  CHECK(result_of("stride(A, -1)").find("a dimension's number in stride") != std::string::npos);
  CHECK(result_of("alignment(1)") ==
        "expression:1:11: expected a tensor in alignment, found \"1\"\nalignment(1)\n          ^");
  CHECK(result_of("1 @ 2") == "expression:1:3: unexpected character\n1 @ 2\n  ^");
  CHECK(result_of("\"text\"") == "expression:1:1: expected an expression, found a text\n\"text\"\n^~~~~~");
  CHECK(result_of("\"text") == "expression:1:1: the text is not closed with \"\n\"text\n^~~~~");
}

TEST_CASE("what C++ takes for a comparison of truths needs parentheses") {
  CHECK(result_of("0 < M < 10") ==
        "expression:1:7: \"<\" would compare the 0 or 1 of another comparison; join comparisons by \"&&\", or put that "
        "one "
        "in parentheses\n0 < M < 10\n      ^");
  for (const char* chain : {"K == K == 1", "M == K < 2", "M < K == 2", "1 + M >= K > 2", "-M != K != 0"})
    CHECK(result_of(chain).find("would compare the 0 or 1 of another comparison") != std::string::npos);
  CHECK(result_of("M & 1 == 0") ==
        "expression:1:3: \"&\" would take the 0 or 1 of a comparison, which binds tighter; put what is meant in "
        "parentheses\nM & 1 == 0\n  ^");
  for (const char* bits : {"M == 1 | K", "M ^ K < 2", "M | K & 1 == 1"})
    CHECK(result_of(bits).find("would take the 0 or 1 of a comparison") != std::string::npos);
  for (const char* plain : {"(0 < M) < 10", "(K == K) == (M == M)", "0 < M && M < 5000", "(M & 1) == 1", "M & 3 & 1",
                            "min(K < 2, 1) == 0", "(M > K ? 1 : 0) == 1", "(M == 1) | 1", "!(M < K) == 1", "M + K > 1"})
    CHECK(result_of(plain) == "1");
}

TEST_CASE("nesting and length have limits that no author meets") {
  CHECK(result_of(std::string(60, '(') + "1" + std::string(60, ')')) == "1");
  CHECK(result_of(std::string(1000, '(')).find("nested too deeply") != std::string::npos);
  CHECK(result_of(std::string(1000, '-') + "1").find("nested too deeply") != std::string::npos);
  std::string conditional, functions, sum = "1";
  for (int i = 0; i < 1000; ++i) conditional += "1 ? 2 : ";
  for (int i = 0; i < 1000; ++i) functions += "min(1, ";
  for (int i = 0; i < 5000; ++i) sum += " + 1";
  CHECK(result_of(conditional).find("nested too deeply") != std::string::npos);
  CHECK(result_of(functions).find("nested too deeply") != std::string::npos);
  CHECK(result_of(sum).find("more than 1000 operands and operators") != std::string::npos);
}

TEST_CASE("an expression knows what it refers to") {
  const auto expression = parse_expression("M * sizeof(T) + device.sm_count * stride(A, 1) + alignment(A) + M + BM");
  REQUIRE(expression);
  CHECK(expression->names() == std::vector<std::string>{"M", "BM"});
  std::string all;
  for (const Reference& reference : expression->references()) all += reference.text() + ";";
  CHECK(all == "M;sizeof(T);device.sm_count;stride(A, 1);alignment(A);BM;");
  CHECK(expression->values(example_scope()) ==
        "M = 4097, sizeof(T) = 2, device.sm_count = 132, stride(A, 1) = 1, alignment(A) = 256, BM = 128");
  CHECK_FALSE(expression->constant());
  CHECK_FALSE(expression->single_name());
  CHECK(expression->file_and_line() == "expression:1");
}

TEST_CASE("the operands of the outermost && are expressions of their own") {
  const auto whole = parse_expression("M > 8192 && (sizeof(T) == 2 || K < M) && (M % 2 == 1 && K > M)");
  REQUIRE(whole);
  const std::vector<Expression> parts = whole->conjuncts();
  std::vector<std::int64_t> values;
  std::vector<std::string> references;
  for (const Expression& part : parts) {
    values.push_back(part.evaluate(example_scope()).value());
    for (const Reference& reference : part.references()) references.push_back(reference.text());
  }
  CHECK(values == std::vector<std::int64_t>{0, 1, 1, 0});
  CHECK(references == std::vector<std::string>{"M", "sizeof(T)", "K", "M", "M", "K", "M"});
  CHECK(parse_expression("M > 1 || K > 1")->conjuncts().size() == 1);
  CHECK(Expression(7).conjuncts().front().constant() == 7);
}

TEST_CASE("constants, single names and texts") {
  CHECK(parse_expression(" 2 * (3 + 4) ")->constant() == 14);
  CHECK(parse_expression(" 2 * (3 + 4) ")->text() == "2 * (3 + 4)");
  CHECK_FALSE(parse_expression("1 / 0")->constant());
  CHECK(parse_expression("M")->single_name() == "M");
  CHECK_FALSE(parse_expression("device.sm_count")->single_name());
  CHECK_FALSE(parse_expression("-M")->single_name());
  CHECK(parse_expression("M + 1")->name_and_number() == std::pair<std::string_view, std::int64_t>("M", 1));
  CHECK(parse_expression("M - 3")->name_and_number() == std::pair<std::string_view, std::int64_t>("M", -3));
  for (const char* other : {"M", "M * 2", "1 - M", "M + K", "M + 1 + 1", "device.sm_count + 1"})
    CHECK_FALSE(parse_expression(other)->name_and_number());
  CHECK(Expression(42).constant() == 42);
  CHECK(Expression().constant() == 0);
  CHECK(Expression(42).text().empty());
}

TEST_CASE("a copy outlives the original") {
  Expression copy;
  {
    const auto original = parse_expression("M / ZERO");
    copy = *original;
  }
  CHECK(copy.text() == "M / ZERO");
  CHECK(copy.evaluate(example_scope()).error().detail == "M / ZERO\n  ^");
}

}  // namespace tma_jit::templates
