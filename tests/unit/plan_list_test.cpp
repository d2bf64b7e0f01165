// Plans of kernels with lists: entries are asked for one by one, and are one parameter of the kernel.
#include "planning_fixture.h"
#include "source/preamble.h"

namespace tma_jit::plan {
namespace {

const std::string kConcat = R"(//! kernel  k
//! arch    sm_90a
//! dim     M
//! dim     N[PARTS]  in 0..99
//! param   PARTS = 2 in 1..3
//! let     BLOCKS[PARTS] = 32 / N[]
//! require N[] < 50 && stride(S[], 1) == 1 "rows of S[] are short"
//! tensor  S[PARTS] : f32[M, N[]]
//! tensor  D : f32[M, sum(N)]  out
//! launch  grid sum(BLOCKS), max(N), min(N) + 1  block 32
)";

Request dims(std::vector<std::int64_t> extents) {
  Request request{.kernel = "k", .dims = {{"M", 4}}};
  for (std::size_t i = 0; i < extents.size(); ++i) request.dims[fmt::format("N{}", i)] = extents[i];
  return request;
}

Request tensors(std::vector<std::int64_t> extents) {
  Request request{.kernel = "k"};
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    request.tensors.push_back(
        {fmt::format("S{}", i), Tensor::row_major(std::uint64_t{0x1000}, DType::f32, {4, extents[i]})});
    sum += extents[i];
  }
  request.tensors.push_back({"D", Tensor::row_major(std::uint64_t{0x2000}, DType::f32, {4, sum})});
  return request;
}

}  // namespace

TEST_CASE("as many entries as the request gives decide the param") {
  CHECK(config(plan(kConcat, tensors({8}))) == "PARTS=1");
  CHECK(config(plan(kConcat, tensors({8, 4, 2}))) == "PARTS=3");
  CHECK(config(plan(kConcat, dims({8, 4}))) == "PARTS=2");
  const Plan made = plan(kConcat, tensors({8, 4})).value();
  CHECK(made.geometry.grid == std::array<std::uint32_t, 3>{12, 8, 1});  // an entry that is not there is 0
  CHECK(plan(kConcat, tensors({8, 4, 2})).value().geometry.grid == std::array<std::uint32_t, 3>{28, 8, 3});
}

TEST_CASE("the entries are neighbours among the arguments, those that are not there too") {
  const Plan made = plan(kConcat, tensors({8, 4})).value();
  REQUIRE(made.arguments.size() == 5);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(made.arguments[i].name == fmt::format("S{}", i));
    CHECK(made.arguments[i].list == "S");
    CHECK(made.arguments[i].image.size() == 24);
  }
  CHECK_FALSE(made.arguments[2].present);
  CHECK(made.arguments[2].image == std::vector<std::byte>(24));
  CHECK(made.arguments[3].list.empty());
  CHECK(argument(made, "dims").image == packed(4, 8, 4, 0));
}

TEST_CASE("the body gets the entries of a list of dims by their indices") {
  CHECK(source::preamble(plan(kConcat, dims({8, 4})).value())
            .find("struct Dims { int M; int N0; int N1; int N2; __device__ constexpr int N(int i) const { return i == "
                  "0 ? N0 : "
                  "i == 1 ? N1 : N2; } };\n") != std::string::npos);
  Request fixed = dims({8, 4});
  fixed.fixed = {"N1"};
  CHECK(source::preamble(plan(kConcat, fixed).value())
            .find("int N0; static constexpr int N1 = 4; int N2; __device__ constexpr int N(int i)") !=
        std::string::npos);
}

TEST_CASE("a rule holds for the entries that are there, and an error names the one that violates it") {
  CHECK(refusal(kConcat, tensors({8, 60, 4})) ==
        "no_config: k: no configuration satisfies this request\n"
        "  k.cu:7: the only configuration violates  N1 < 50 && stride(S1, 1) == 1\n"
        "    rows of S1 are short\n"
        "    N1 = 60, stride(S1, 1) = 1, PARTS = 3");
}

TEST_CASE("entries of a list are asked for as they are named") {
  CHECK(refusal(kConcat, dims({8, 4, 2, 1})).find("there is no dim \"N3\"; it has M, N0, N1, N2") != std::string::npos);
}

}  // namespace tma_jit::plan
