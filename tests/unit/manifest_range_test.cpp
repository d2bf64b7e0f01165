// Which values of a tensor of indices are valid: the attribute `in`.
#include <tma_jit/json.h>

#include "manifest_fixture.h"

namespace tma_jit::templates {
namespace {

constexpr std::string_view kProblem =
    "//! kernel k\n//! arch sm_90a\n//! type J = s32 in {s32, s64}\n//! type T = f32 in {f32, s32}\n//! dim R, N\n"
    "//! launch grid 1 block 32\n";

KernelInfo info_of(std::string_view line) {
  return kernel_info(parsed(fmt::format("{}{}\n", kProblem, line)));
}

void refused(const Refused& row) {
  check_refused(kProblem, row);
}

}  // namespace

TEST_CASE("a range of valid values is read, and told as it is written") {
  const KernelInfo::Tensor tensor = info_of("//! tensor I : J[N] in 0..R - 1 checked \"rows\"").tensors[0];
  REQUIRE(tensor.range);
  CHECK(tensor.range->least.text == "0");
  CHECK(tensor.range->most.text == "R - 1");
  CHECK(tensor.range->most.names == std::vector<std::string>{"R"});
  CHECK(tensor.range->checked);
  CHECK_FALSE(tensor.range->rising);
  CHECK(tensor.doc == "rows");
  const KernelInfo::Tensor offsets = info_of("//! tensor O : s32[N + 1] in -1..max(R, N) rising when N > 1").tensors[0];
  REQUIRE(offsets.range);
  CHECK(offsets.range->least.text == "-1");
  CHECK(offsets.range->rising);
  CHECK_FALSE(offsets.range->checked);
  CHECK(offsets.when->text == "N > 1");
  CHECK_FALSE(offsets.range->distinct);
  const KernelInfo::Tensor rows =
      info_of("//! tensor I : J[N] in 0..R - 1 distinct N > 1 checked when R > 1").tensors[0];
  REQUIRE(rows.range);
  CHECK(rows.range->distinct->text == "N > 1");
  CHECK(rows.range->checked);
  CHECK(rows.when->text == "R > 1");
  CHECK_FALSE(info_of("//! tensor S : J[N]").tensors[0].range);
}

TEST_CASE("a range is an object of the JSON, and null where every value is valid") {
  const std::string json = json_of(info_of("//! tensor I : s32[N] in 0..R rising\n//! tensor S : f32[R]"));
  CHECK(json.find(R"("range":{"least":{"text":"0",)") != std::string::npos);
  CHECK(json.find(R"("rising":true,"checked":false,"distinct":null})") != std::string::npos);
  CHECK(json.find(R"("range":null)") != std::string::npos);
}

TEST_CASE("a range that contradicts its declaration is refused") {
  refused({"//! tensor I : s32[N] in", 25, 1, "expected the least valid value, found the end of the line"});
  refused({"//! tensor I : s32[N] in 0", 27, 1, "expected \"..\" in the range, found the end of the line"});
  refused({"//! tensor I : s32[N] in 0..", 29, 1, "expected the greatest valid value, found the end of the line"});
  refused({"//! tensor I : s32[N] in 0..R in 0..N", 31, 2, "in is given twice"});
  refused(
      {"//! tensor I : s32[N] in 0..R rising distinct 1", 38, 8, "a range is rising or distinct, and says so once"});
  refused(
      {"//! tensor I : s32[N] in 0..R distinct 1 rising", 42, 6, "a range is rising or distinct, and says so once"});
  refused({"//! tensor I : s32[N] in 0..R checked rising", 39, 6, "rising stands before checked"});
  refused({"//! tensor I : s32[N] in 0..ROWS", 29, 4, "unknown name ROWS"});
  refused({"//! tensor I : s32[N] in 5..2 * 2", 26, 1, "the range 5..4 is empty"});
  refused(
      {"//! tensor I : s32[N] in 0..R out", 26, 1, "I is written; a range says which values of an input are valid"});
  refused({"//! tensor I : f32[N] in 0..R", 26, 1, "the elements of I may be f32; only integers have a range"});
  refused({"//! tensor I : T[N] in 0..R", 24, 1, "the elements of I may be f32; only integers have a range"});
  refused({"//! tensor I : u8[N] in 0..256", 28, 3, "the elements of I may be u8, which cannot be 256"});
  refused({"//! tensor I : u32[N] in -1..R", 26, 2, "the elements of I may be u32, which cannot be -1"});
  refused({"//! tensor I : J[N] in 0..2147483648", 27, 10, "the elements of I may be s32, which cannot be 2147483648"});
  refused({"//! tensor I : s32[N] in 0..R distinct", 39, 1,
           "expected the condition of distinct, found the end of the line"});
  refused({"//! tensor I : s32[N] in 0..R distinct X", 40, 1, "unknown name X"});
  refused({"//! tensor I : s32[N] in 0..R falling", 31, 7, "unknown tensor attribute falling"});
}

}  // namespace tma_jit::templates
