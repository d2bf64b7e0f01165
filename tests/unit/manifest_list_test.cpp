// Lists of dims, lets and tensors: one declaration for all entries.
#include "manifest_fixture.h"

namespace tma_jit::templates {
namespace {

constexpr std::string_view kStart =
    "//! kernel k\n//! arch sm_90a\n//! dim K\n//! param PARTS = 2 in 1..3\n//! param Q = 1 in {1, 2}\n"
    "//! launch grid 1 block 32\n";

constexpr std::string_view kConcat = R"(//! kernel  k
//! arch    sm_90a
//! dim     K
//! dim     N[PARTS]  in 0..99  "of the parts"
//! param   PARTS = 2 in 1..3
//! let     BLOCKS[PARTS] = ceil_div(N[] * K, 32) "blocks of S[]"
//! let     ALL = sum(N)
//! require N[] <= 1 || stride(S[], 1) == K "no space between rows of S[]"
//! require max(N) < 90
//! tensor  S[PARTS] : f32[K, N[]]
//! tensor  X[PARTS] {A, B, C} : f32[N[]]  out
//! tensor  D : f32[K, ALL]  out
//! launch  grid sum(BLOCKS)  block 32
)";

void refused(const Refused& row) {
  check_refused(kStart, row);
}

}  // namespace

TEST_CASE("a list of tensors is its entries, each there as the param says") {
  const Template t = parsed(kConcat);
  std::string names;
  for (const Tensor& tensor : t.tensors) names += tensor.name + " ";
  CHECK(names == "S0 S1 S2 A B C D ");
  CHECK_FALSE(t.tensors[0].when);
  CHECK(t.tensors[2].when->text() == "PARTS >= 3");
  CHECK(t.tensors[2].list == "S");
  CHECK(t.tensors[2].shape[1].single_name() == "N2");
  CHECK(t.tensors[2].shape[1].text() == "N2");
  CHECK(t.tensors[2].text == "S2 : f32[K, N2] when PARTS >= 3");
  CHECK(t.tensors[4].text == "B : f32[N1] out when PARTS >= 2");
  CHECK(t.tensors[4].list == "X");
  CHECK(t.tensors[6].list.empty());
}

TEST_CASE("a list of dims and one of lets") {
  const Template t = parsed(kConcat);
  REQUIRE(t.dims.size() == 4);
  CHECK(t.dims[3].name == "N2");
  CHECK(t.dims[3].text == "N2 in 0..99");
  CHECK(t.dims[3].max == 99);
  CHECK(t.dims[3].doc == "of the parts");
  CHECK(t.dims[3].list == "N");
  CHECK_FALSE(t.dims[1].when);
  CHECK(t.dims[2].when->text() == "PARTS >= 2");
  const Let& blocks = *t.find_let("BLOCKS1");
  CHECK(blocks.value.text() == "ceil_div(N1 * K, 32)");
  CHECK(blocks.doc == "blocks of S1");
  CHECK(blocks.text == "BLOCKS1 = ceil_div(N1 * K, 32)");
  CHECK(blocks.dims == std::vector<std::string>{"N1", "K"});
  CHECK(t.order == std::vector<std::string>{"K", "N0", "N1", "N2", "PARTS", "BLOCKS0", "BLOCKS1", "BLOCKS2", "ALL"});
  CHECK(t.find_let("ALL")->dims == std::vector<std::string>{"N0", "N1", "N2"});
  CHECK(t.find_let("ALL")->value.text() == "sum(N)");
}

TEST_CASE("a rule about an entry is one rule for each, and holds where there is none") {
  const Template t = parsed(kConcat);
  REQUIRE(t.rules.size() == 4);
  CHECK(t.rules[2].condition.text() == "N2 <= 1 || stride(S2, 1) == K");
  CHECK(t.rules[2].text == "N2 <= 1 || stride(S2, 1) == K");
  CHECK(t.rules[2].doc == "no space between rows of S2");
  CHECK(t.rules[0].at.line == 8);
  CHECK(t.rules[2].at.line == 8);
  CHECK(t.rules[3].condition.names() == std::vector<std::string>{"N0", "N1", "N2"});
}

TEST_CASE("the entries are told of with their list") {
  const KernelInfo info = kernel_info(parsed(kConcat));
  CHECK(info.tensors[1].list == "S");
  CHECK(info.tensors[1].declaration == "S1 : f32[K, N1] when PARTS >= 2");
  CHECK(info.dims[1].list == "N");
  CHECK(info.dims[0].list.empty());
  CHECK(info.launch.grid[0].names == std::vector<std::string>{"BLOCKS0", "BLOCKS1", "BLOCKS2"});
}

TEST_CASE("mistakes in the declaration of a list") {
  refused({"//! tensor S[", 14, 1,
           "expected the param that says how many entries the list has, found the end of the line"});
  refused({"//! tensor S[PARTS : f32[K]", 20, 1, "expected \"]\" after the list's param, found \":\""});
  refused({"//! tensor S[PART] : f32[K]", 14, 4, "unknown param PART; did you mean \"PARTS\"?"});
  refused({"//! tensor S[K] : f32[K]", 14, 1, "a param says how many entries a list has, and K is a dim"});
  refused({"//! tensor S[PARTS] {A, B} : f32[K]", 22, 1, "S has 2 entries with a name, and PARTS counts up to 3"});
  refused({"//! tensor S[PARTS] {A, B, B} : f32[K]", 28, 1, "B is already declared, as a tensor on line 7"});
  refused({"//! tensor S[PARTS] {A, B, int} : f32[K]", 28, 3, "int is a word of C++ and cannot be declared"});
  refused({"//! tensor S[PARTS] : f32[K] when Q == 1", 35, 6,
           "PARTS says which entries of S there are; a list has no when"});
  check_refused(fmt::format("{}//! let S1 = 2\n", kStart),
                {"//! tensor S[PARTS] : f32[K]", 12, 1, "S1 is already declared, as a let on line 7"});
  check_refused(fmt::format("{}//! param ANY = 0 in -1..2\n", kStart),
                {"//! dim N[ANY]", 11, 3, "ANY is -1 to 2; a list has 1 to 64 entries"});
}

TEST_CASE("mistakes in what stands for an entry or for all") {
  const auto of = [](const Refused& row) {
    check_refused(fmt::format("{}//! dim N[PARTS]\n//! let B[Q] = 1\n", kStart), row);
  };
  of({"//! let X = N[]", 13, 1, "N[] is one entry of a list only in the declaration of another entry, or in a rule"});
  of({"//! let X = N[0]", 15, 1, "expected \"]\" after N[, found \"0\""});
  of({"//! let X = N + 1", 13, 1, "N is a list, not a number; sum(N) is that of its entries, and N[] one of them"});
  of({"//! let X = sum(M)", 17, 1, "unknown list M"});
  of({"//! let X = sum(1, 2)", 17, 1, "expected the name of a list in sum, found \"1\""});
  of({"//! let X = max(K)", 17, 1, "unknown list K"});
  of({"//! require M[] > 1", 13, 1, "unknown list M"});
  of({"//! require N[] > B[]", 19, 1, "B has as many entries as Q says, and not as PARTS"});
  of({"//! tensor T[Q] : f32[N[]]", 23, 1, "N has as many entries as PARTS says, and not as Q"});
}

}  // namespace tma_jit::templates
