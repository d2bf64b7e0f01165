// What a request can get wrong by itself: each is one error with the names, the values and what would be right.
#include "planning_fixture.h"

namespace tma_jit::plan {
namespace {

// gemm_tensors(256, 512, 128) with one tensor replaced.
Request with(std::string_view name, const Tensor& tensor) {
  Request request = gemm_tensors(256, 512, 128);
  for (NamedTensor& named : request.tensors) {
    if (named.name == name) named.tensor = tensor;
  }
  return request;
}

Tensor matrix(std::int64_t rows, std::int64_t columns, DType type = DType::bf16) {
  return Tensor::row_major(std::uint64_t{0x1000}, type, {rows, columns});
}

template <class Change> std::string after(Change change) {
  Request request = gemm_tensors(256, 512, 128);
  change(request);
  return refusal(kGemm, request);
}

}  // namespace

TEST_CASE("a packed tensor of more elements than 64 bits count has the greatest strides, and is refused") {
  constexpr std::int64_t kMost = INT64_MAX, kHalf = std::int64_t{1} << 32;
  const Tensor most = Tensor::row_major(std::uint64_t{0}, DType::bf16, {2, kHalf, kHalf});
  CHECK(most.strides == std::array<std::int64_t, kMaxRank>{kMost, kHalf, 1});
  CHECK(most.elements() == kMost);
  const std::int64_t empty[] = {kHalf, kHalf, 0};
  CHECK(Tensor::row_major(0, DType::bf16, 3, empty).elements() == 0);
  CHECK(Tensor::row_major(0, DType::bf16, 3, empty).strides[0] == kHalf);
  CHECK(after([&](Request& r) { r = with("A", matrix(kHalf, kHalf)); }) ==
        "invalid_argument: gemm: tensor A [4294967296, 4294967296] with strides [4294967296, 1] spans more than 2^62 "
        "bytes");
}

TEST_CASE("names the template does not declare are answered with those it has") {
  CHECK(after([](Request& r) {
          r.tensors.push_back({"C", matrix(8, 8)});
        }) == "not_found: gemm: there is no tensor \"C\"; it has A, B, D");
  CHECK(after([](Request& r) { r.params["STAGE"] = 4; }) ==
        "not_found: gemm: there is no param \"STAGE\"; it has BM, BN, STAGES, BAND; did you mean \"STAGES\"?");
  CHECK(after([](Request& r) { r.dims["Q"] = 4; }) == "not_found: gemm: there is no dim \"Q\"; it has M, N, K");
  CHECK(after([](Request& r) { r.fixed = {"BATCH"}; }) == "not_found: gemm: there is no dim \"BATCH\"; it has M, N, K");
  CHECK(after([](Request& r) { r.types["TYPE"] = DType::f16; }) ==
        "not_found: gemm: there is no type \"TYPE\"; it has T");
  CHECK(after([](Request& r) { r.scalars["alpha"] = 1.0; }) ==
        "not_found: gemm: there is no scalar \"alpha\"; it has no scalars");
  CHECK(after([](Request& r) { r.hooks["epilogue"] = "x"; }) ==
        "not_found: gemm: there is no hook \"epilogue\"; it has no hooks");
  CHECK(after([](Request& r) { r.workspaces["partials"] = 16; }) ==
        "not_found: gemm: there is no workspace \"partials\"; it has no workspaces");
}

TEST_CASE("a pin or type outside the choices") {
  CHECK(after([](Request& r) { r.params["BM"] = 100; }) ==
        "invalid_argument: gemm: BM = 100 is not among {64, 128, 192}");
  CHECK(after([](Request& r) { r.types["T"] = DType::f32; }) ==
        "invalid_argument: gemm: T = f32 is not among {bf16, f16}");
}

TEST_CASE("tensors: once each, all of them, of the declared rank") {
  CHECK(after([](Request& r) { r.tensors.push_back(r.tensors.front()); }) ==
        "invalid_argument: gemm: tensor A is given twice");
  CHECK(after([](Request& r) { r.tensors.pop_back(); }) ==
        "invalid_argument: gemm: tensor D is missing; it takes A, B, D");
  CHECK(refusal(kGemm, with("B", Tensor{})) == "invalid_argument: gemm: tensor B is missing; it takes A, B, D");
  CHECK(refusal(kGemm, with("A", Tensor::row_major(std::uint64_t{0}, DType::bf16, {2, 3, 4}))) ==
        "invalid_argument: gemm: tensor A has 3 dimensions, the template declares 2: A[M, K]");
  CHECK(refusal(kGemm, with("A", Tensor::row_major(std::uint64_t{0}, DType::bf16, {1, 1, 1, 1, 1, 1, 1}))) ==
        "invalid_argument: gemm: tensor A has 7 dimensions, the template declares 2: A[M, K]");
  CHECK(refusal(kGemm, with("A", Tensor::strided(std::uint64_t{0}, DType::bf16, {256, 128}, {128}))) ==
        "invalid_argument: gemm: tensor A has shape and strides of different lengths");
}

TEST_CASE("element types") {
  CHECK(refusal(kGemm, with("A", matrix(256, 128, DType::f32))) ==
        "invalid_argument: gemm: tensor A is f32, but T is one of bf16, f16");
  CHECK(refusal(kGemm, with("B", matrix(512, 128, DType::f16))) ==
        "invalid_argument: gemm: T is bf16 by tensor A and f16 by tensor B");
  CHECK(after([](Request& r) { r.types["T"] = DType::f16; }) ==
        "invalid_argument: gemm: T is f16 by the request and bf16 by tensor A");
  const Request halves{.kernel = "line", .tensors = {{"X", Tensor::row_major(std::uint64_t{0}, DType::f16, {8})}}};
  CHECK(refusal(kLine, halves) == "invalid_argument: line: tensor X is f16, the template declares f32");
}

TEST_CASE("dims: two tensors, or a tensor and the request, disagree") {
  CHECK(refusal(kGemm, with("B", matrix(512, 136))) ==
        "invalid_argument: gemm: K is 128 by tensor A [256, 128] and 136 by tensor B [512, 136]");
  CHECK(after([](Request& r) { r.dims["N"] = 513; }) ==
        "invalid_argument: gemm: N is 513 by the request and 512 by tensor B [512, 128]");
}

TEST_CASE("dims: an extent that is a dim and a number gives the dim where nothing else does") {
  const std::string parts = R"(//! kernel parts
//! arch sm_90a
//! dim PARTS in 0..65535
//! dim N in 0..65535
//! tensor X : f32[N]
//! tensor BEGINS : s32[PARTS + 1]
//! tensor ENDS : s32[PARTS + 1]
//! launch grid PARTS + 1 block 128
)";
  const auto of = [](std::int64_t begins, std::int64_t ends) {
    const auto row = [](std::int64_t count, DType type) {
      return Tensor::row_major(std::uint64_t{0x1000}, type, {count});
    };
    return Request{
        .kernel = "parts",
        .tensors = {{"X", row(40, DType::f32)}, {"BEGINS", row(begins, DType::s32)}, {"ENDS", row(ends, DType::s32)}}};
  };
  CHECK(plan(parts, of(5, 5)).value().dims.front().value == 4);
  CHECK(refusal(parts, of(5, 6)).find("dimension 0 of tensor ENDS is 6, not 5") != std::string::npos);
  CHECK(refusal(parts, of(0, 0)).find("PARTS = -1 by tensor BEGINS [0] is outside 0..65535") != std::string::npos);
  Request other = of(5, 5);
  other.dims["PARTS"] = 5;
  CHECK(refusal(parts, other).find("dimension 0 of tensor BEGINS is 5, not 6") != std::string::npos);
  CHECK(refusal(parts, {.kernel = "parts", .dims = {{"N", 1}}}) ==
        "invalid_argument: parts: dim PARTS has no value; give it or a tensor that has it (BEGINS, ENDS)");
}

TEST_CASE("dims: no value, none, negative, too large") {
  CHECK(refusal(kGemm, {.kernel = "gemm", .dims = {{"M", 1}, {"N", 8}}}) ==
        "invalid_argument: gemm: dim K has no value; give it or a tensor that has it (A, B)");
  CHECK(refusal(kGemm, gemm_dims(0, 8, 8)) ==
        "invalid_argument: gemm: M = 0 by the request is outside 1..2147483647; it does not take empty tensors");
  CHECK(refusal(kGemm, gemm_dims(-4, 8, 8)) ==
        "invalid_argument: gemm: M = -4 by the request is outside 1..2147483647");
  CHECK(refusal(kGemm, gemm_dims(8, std::int64_t{1} << 31, 8)) ==
        "invalid_argument: gemm: N = 2147483648 by the request is outside 1..2147483647; split the work, each part "
        "within it");
  CHECK(refusal(kGemm, with("A", matrix(-256, 128))) ==
        "invalid_argument: gemm: tensor A [-256, 128] has a negative extent");
}

TEST_CASE("a tensor must be addressable in 64 bits and aligned to its elements") {
  CHECK(refusal(kGemm, with("A", Tensor::strided(std::uint64_t{0}, DType::bf16, {256, 128}, {INT64_MAX / 2, 1}))) ==
        "invalid_argument: gemm: tensor A [256, 128] with strides [4611686018427387903, 1] spans more than 2^62 bytes");
  CHECK(
      refusal(kGemm, with("A", Tensor::strided(std::uint64_t{0}, DType::bf16, {256, 128}, {INT64_MIN, 1}))) ==
      "invalid_argument: gemm: tensor A [256, 128] with strides [-9223372036854775808, 1] spans more than 2^62 bytes");
  CHECK(refusal(kGemm, with("A", Tensor::strided(std::uint64_t{0x1001}, DType::bf16, {256, 128}, {128, 1}))) ==
        "invalid_argument: gemm: tensor A: address 0x1001 is not a multiple of 2 bytes, the size of bf16");
}

TEST_CASE("a dim the template fixes is compared like any other") {
  const std::string text = R"(//! kernel k
//! arch sm_90a
//! dim N
//! dim H = 128
//! tensor X : f32[N, H]
//! launch grid N block H
)";
  CHECK(plan(text, {.kernel = "k", .dims = {{"N", 4}}})->geometry.block[0] == 128);
  CHECK(refusal(text, {.kernel = "k", .dims = {{"N", 4}, {"H", 64}}}) ==
        "invalid_argument: k: H is 128 by the template and 64 by the request");
}

TEST_CASE("64-bit dims reach beyond 2^31, and their range can be given") {
  const std::string text = R"(//! kernel k
//! arch sm_90a
//! dim N : s64
//! tensor X : u8[N]
//! launch grid min(ceil_div(N, 1024), 65536) block 1024
//! work bytes N
)";
  const std::int64_t huge = std::int64_t{1} << 41;
  const Request request{.kernel = "k", .tensors = {{"X", Tensor::row_major(std::uint64_t{256}, DType::u8, {huge})}}};
  const Plan planned = plan(text, request).value();
  CHECK(planned.geometry.grid[0] == 65536);
  CHECK(planned.work.bytes == doctest::Approx(static_cast<double>(huge)));
  CHECK(argument(planned, "dims").image == packed(huge));
  CHECK(refusal(text, {.kernel = "k", .dims = {{"N", (std::int64_t{1} << 62) + 1}}}) ==
        "invalid_argument: k: N = 4611686018427387905 by the request is outside 1..4611686018427387904");
}

TEST_CASE("a tensor that the kernel writes has a place for each element") {
  const auto written = [](std::int64_t rows, std::int64_t stride) {
    Request request = gemm_tensors(256, 256, 128);
    request.tensors[2].tensor = Tensor::strided(std::uint64_t{0x30000}, DType::bf16, {rows, 256}, {stride, 1});
    if (rows == 1) request.tensors[0].tensor = Tensor::row_major(std::uint64_t{0x10000}, DType::bf16, {1, 128});
    return refusal(kGemm, request);
  };
  CHECK(written(256, 256) == "planned");
  CHECK(written(256, 0) ==
        "invalid_argument: gemm: tensor D [256, 256] has stride 0 along dimension 0: the kernel writes it, and its 256 "
        "elements there would share one place; give each its own");
  CHECK(written(1, 0) == "planned");
  Request empty = gemm_tensors(256, 256, 128);  // packed strides, as NumPy and PyTorch give them
  empty.tensors[1].tensor = Tensor::row_major(std::uint64_t{0x20000}, DType::bf16, {0, 128});
  empty.tensors[2].tensor = Tensor::strided(std::uint64_t{0x30000}, DType::bf16, {256, 0}, {0, 1});
  CHECK(refusal(kGemm, empty).find("stride") == std::string::npos);
  Request repeated = gemm_tensors(256, 256, 128);
  repeated.tensors[0].tensor = Tensor::strided(std::uint64_t{0x10000}, DType::bf16, {256, 128}, {0, 1});
  CHECK(refusal(kGemm, repeated) == "planned");
}

}  // namespace tma_jit::plan
