// The kernel's parameters byte for byte, the tensor maps, and what an address must keep.
#include "planning_fixture.h"

namespace tma_jit::plan {

TEST_CASE("a plan of the gemm: constants, dims, maps, geometry, work") {
  Request request = gemm_tensors(4096, 8192, 512, DType::f16);
  request.fixed = {"K"};
  const Plan planned = plan(kGemm, request).value();
  CHECK(planned.kernel == "gemm");
  CHECK(planned.entry == "gemm");
  CHECK(planned.file == "k.cu");
  CHECK(planned.body == kGemm);
  CHECK(planned.arch == "sm_90a");
  std::string constants;
  for (const Constant& c : planned.constants) {
    constants += c.kind == Constant::Kind::type ? fmt::format("{} {} {}, ", c.origin, c.name, name_of(c.type))
                                                : fmt::format("{} {} {}, ", c.origin, c.name, c.value);
  }
  CHECK(constants ==
        "type T f16, dim K 512, param BM 128, param BN 256, param STAGES 3, param BAND 8, let BK 64, let CONSUMERS 2, "
        "let THREADS 384, let SMEM 214016, ");
  REQUIRE(planned.dims.size() == 3);
  CHECK(planned.dims[0].value == 4096);
  CHECK_FALSE(planned.dims[0].fixed);
  CHECK(planned.dims[2].fixed);
  CHECK(planned.geometry.grid == std::array<std::uint32_t, 3>{132, 1, 1});
  CHECK(planned.geometry.block == std::array<std::uint32_t, 3>{384, 1, 1});
  CHECK(planned.geometry.smem_bytes == 215040);
  CHECK(planned.work.flops == 2.0 * 4096 * 8192 * 512);
  CHECK(planned.work.bytes == 2.0 * (4096.0 * 512 + 8192.0 * 512 + 4096.0 * 8192));

  REQUIRE(planned.arguments.size() == 4);
  const Argument& b = planned.arguments[1];
  CHECK(b.kind == Argument::Kind::tensor_map);
  CHECK(b.image == std::vector<std::byte>(128));
  CHECK(b.alignment == 64);
  CHECK(b.address == 0x20000);
  CHECK(b.address_alignment == 16);
  CHECK(b.shape == std::vector<std::int64_t>{8192, 512});
  CHECK(b.strides == std::vector<std::int64_t>{512, 1});
  REQUIRE(b.map.has_value());
  CHECK(b.map->dtype == DType::f16);
  CHECK(b.map->rank == 2);
  CHECK(b.map->dims[0] == 512);
  CHECK(b.map->dims[1] == 8192);
  CHECK(b.map->strides[0] == 1024);
  CHECK(b.map->box[0] == 64);
  CHECK(b.map->box[1] == 256);
  CHECK(b.map->swizzle == Swizzle::b128);
  CHECK(b.map->l2_promotion == L2Promotion::b128);
  CHECK_FALSE(b.output);
  CHECK(planned.arguments[2].output);
  CHECK(planned.arguments[3].image == packed(4096, 8192));  // K is a constant
}

TEST_CASE("struct Dims is laid out as a C++ compiler does") {
  const std::string text = R"(//! kernel k
//! arch sm_90a
//! dim A
//! dim B : s64
//! dim C, D
//! launch grid 1 block 32
)";
  Request request{.kernel = "k", .dims = {{"A", 1}, {"B", std::int64_t{1} << 33}, {"C", 3}, {"D", 4}}};
  struct Whole {
    int a;
    long long b;
    int c, d;
  };
  const Plan whole = plan(text, request).value();
  CHECK(argument(whole, "dims").image == packed(1, 0, std::int64_t{1} << 33, 3, 4));
  CHECK(argument(whole, "dims").image.size() == sizeof(Whole));
  CHECK(argument(whole, "dims").alignment == alignof(Whole));

  request.fixed = {"D"};  // the struct still ends at a multiple of 8
  CHECK(argument(*plan(text, request), "dims").image == packed(1, 0, std::int64_t{1} << 33, 3, 0));
  request.fixed = {"B"};
  CHECK(argument(*plan(text, request), "dims").image == packed(1, 3, 4));
  CHECK(argument(*plan(text, request), "dims").alignment == 4);
  request.fixed = {"A", "B", "C", "D"};  // an empty struct is one byte
  CHECK(argument(*plan(text, request), "dims").image == packed(char{0}));
  CHECK(argument(*plan(text, request), "dims").alignment == 1);
}

TEST_CASE("a kernel without dims has no Dims parameter") {
  CHECK(plan("//! kernel k\n//! arch sm_90a\n//! launch grid 1 block 32\n", {.kernel = "k"})->arguments.empty());
}

TEST_CASE("views take any stride, and their image is address and strides") {
  const std::string text = R"(//! kernel k
//! arch sm_90a
//! dim M, N
//! tensor X : f32[M, N]
//! launch grid 1 block 32
)";
  const auto with_strides = [&](std::int64_t outer, std::int64_t inner) {
    return plan(text, {.kernel = "k",
                       .tensors = {{"X", Tensor::strided(std::uint64_t{0x1004}, DType::f32, {8, 4}, {outer, inner})}}})
        .value();
  };
  const Plan packed_rows = with_strides(4, 1);
  const Argument& x = argument(packed_rows, "X");
  CHECK(x.kind == Argument::Kind::view);
  CHECK(x.alignment == 8);
  CHECK(x.address_alignment == 4);
  CHECK(x.image == packed(std::uint64_t{0x1004}, std::int64_t{4}, std::int64_t{1}));
  CHECK(argument(with_strides(-4, 1), "X").image == packed(std::uint64_t{0x1004}, std::int64_t{-4}, std::int64_t{1}));
  CHECK(argument(with_strides(0, 0), "X").image == packed(std::uint64_t{0x1004}, std::int64_t{0}, std::int64_t{0}));
  const Plan unbound = plan(text, {.kernel = "k", .dims = {{"M", 8}, {"N", 4}}}).value();
  CHECK(argument(unbound, "X").image == packed(std::uint64_t{0}, std::int64_t{4}, std::int64_t{1}));
}

namespace {

const std::string kBoxed = R"(//! kernel k
//! arch sm_90a
//! dim M, N in 0..2147483647
//! tensor X : f32[M, N] box [8, 32] l2 0 fill nan
//! launch grid ceil_div(M, 8) block 32
)";

std::string boxed(std::initializer_list<std::int64_t> shape, std::initializer_list<std::int64_t> strides,
                  std::uint64_t address = 256) {
  const Result<Plan> planned =
      plan(kBoxed, {.kernel = "k", .tensors = {{"X", Tensor::strided(address, DType::f32, shape, strides)}}});
  if (planned.has_value()) return argument(*planned, "X").map.has_value() ? "mapped" : "empty";
  return planned.error().detail;
}

const std::string kRuled = "k.cu:4: the only configuration violates  the tensor map of X\n  X: ";

}  // namespace

TEST_CASE("what a tensor map cannot describe is said with the values and a fix") {
  CHECK(boxed({64, 32}, {32, 1}) == "mapped");
  CHECK(boxed({64, 32}, {36, 1}) == "mapped");
  CHECK(boxed({64, 33}, {33, 1}) ==
        kRuled + "stride 0 is 33 elements of f32 = 132 bytes, not a multiple of 16; pad the pitch to 36 elements");
  CHECK(boxed({64, 32}, {1, 64}) ==
        kRuled + "stride 1 is 64; a tensor map needs the last dimension contiguous, stride 1");
  CHECK(boxed({64, 32}, {-32, 1}) ==
        kRuled + "stride 0 is -32; a tensor map takes no negative strides, copy the tensor");
  CHECK(boxed({64, 32}, {0, 1}) == "mapped");  // one row, broadcast
  CHECK(boxed({64, 32}, {32, 1}, 0x104) ==
        kRuled + "address 0x104 is not a multiple of 16 bytes; it is 4 bytes past one");
  CHECK(boxed({2, 32}, {std::int64_t{1} << 38, 1}) ==
        kRuled + "stride 0 is 1099511627776 bytes; a tensor map takes less than 2^40");
}

TEST_CASE("the stride of a dimension with one element does not matter") {
  CHECK(boxed({1, 33}, {33, 1}) == "mapped");
  CHECK(boxed({1, 33}, {0, 1}) == "mapped");
  CHECK(boxed({64, 1}, {4, 7}) == "mapped");
}

TEST_CASE("an empty tensor gets no map, and its launch is empty") {
  CHECK(boxed({0, 32}, {32, 1}) == "empty");
  CHECK(boxed({8, 0}, {0, 1}) == "empty");
  const Plan planned = plan(kBoxed, {.kernel = "k", .dims = {{"M", 0}, {"N", 8}}}).value();
  CHECK(planned.geometry.grid[0] == 0);
  CHECK(argument(planned, "X").image == std::vector<std::byte>(128));
  CHECK(argument(planned, "X").present);
}

TEST_CASE("tensors over 2^31 elements") {
  Request request = gemm_tensors(std::int64_t{1} << 20, std::int64_t{1} << 16, std::int64_t{1} << 16);
  const Plan planned = plan(kGemm, request).value();
  CHECK(planned.arguments[2].map->strides[0] == 131072);
  CHECK(planned.geometry.grid[0] == 132);
  CHECK(planned.work.flops == doctest::Approx(0x1p53));
}

TEST_CASE("attributes of a boxed tensor reach its map; expressions choose among configurations") {
  const std::string text = R"(//! kernel k
//! arch sm_90a
//! dim M, N, C
//! param SPAN = 128 in {128, 64, 32, 48}
//! tensor X : f16[M, N, C] box [2, 4, 16] swizzle SPAN interleave SPAN == 32 ? 32 : 0 l2 256 steps [1, 2, 1] fill nan
//! launch grid 1 block 32
)";
  const Request request{.kernel = "k", .dims = {{"M", 4}, {"N", 8}, {"C", 64}}};
  const Plan planned = plan(text, request).value();
  const TensorMapSpec& map = *argument(planned, "X").map;
  CHECK(map.rank == 3);
  CHECK(map.dims == std::array<std::uint64_t, 5>{64, 8, 4});
  CHECK(map.strides == std::array<std::uint64_t, 4>{128, 1024});
  CHECK(map.box == std::array<std::uint32_t, 5>{16, 4, 2});
  CHECK(map.element_strides == std::array<std::uint32_t, 5>{1, 2, 1, 1, 1});
  CHECK(map.l2_promotion == L2Promotion::b256);
  CHECK(map.fill == Fill::nan);
  CHECK(map.interleave == Interleave::none);
  Request pinned = request;
  pinned.params = {{"SPAN", 32}};
  const Plan interleaved = plan(text, pinned).value();
  CHECK(argument(interleaved, "X").map->interleave == Interleave::b32);
  CHECK(argument(interleaved, "X").address_alignment == 32);
  pinned.params = {{"SPAN", 48}};
  CHECK(refusal(text, pinned).find("X: swizzle 48 is not one of 0, 32, 64, 128") != std::string::npos);
}

TEST_CASE("im2col: corners and steps follow the params, innermost first in the map; the search turns refusals away") {
  const std::string text = R"(//! kernel k
//! arch sm_90a
//! dim N, H, W, C
//! param R = 3 in {3, 5, 200}
//! param PAD = 1 in {0, 1}
//! tensor X : bf16[N, H, W, C] im2col [-PAD, -2 * PAD] [PAD - R + 1, PAD - 2] box [96, 64] steps [1, 2, 3, 1] swizzle 128
//! launch grid 1 block 32
)";
  Request request{.kernel = "k", .dims = {{"N", 4}, {"H", 32}, {"W", 48}, {"C", 128}}};
  const TensorMapSpec map = *argument(plan(text, request).value(), "X").map;
  CHECK(map.mode == MapMode::im2col);
  CHECK(map.rank == 4);
  CHECK(map.dims == std::array<std::uint64_t, 5>{128, 48, 32, 4});
  CHECK(map.box == std::array<std::uint32_t, 5>{64, 96});
  CHECK(map.lower == std::array<std::int32_t, 3>{-2, -1});
  CHECK(map.upper == std::array<std::int32_t, 3>{-1, -1});
  CHECK(map.element_strides == std::array<std::uint32_t, 5>{1, 3, 2, 1, 1});
  request.params = {{"R", 200}};
  CHECK(refusal(text, request).find("the upper corner [-198, -1] has -198 along H") != std::string::npos);
  request.params = {{"R", 5}, {"PAD", 0}};
  request.dims["H"] = 4;
  CHECK(refusal(text, request)
            .find("the corners leave no pixel along H: 4 in the tensor, from 0 at the first to -4 at the last") !=
        std::string::npos);
}

TEST_CASE("packed values: the tensor counts bytes, its map values") {
  const auto text = [](std::string_view type, int width) {
    return fmt::format(R"(//! kernel k
//! arch sm_100a
//! dim M, BYTES
//! tensor X : u8[M, BYTES] box [8, {}] as {} swizzle 128
//! launch grid 1 block 32
)",
                       width, type);
  };
  const auto mapped = [&](std::string_view type, int width, std::int64_t bytes) {
    const Request request{.kernel = "k", .dims = {{"M", 4}, {"BYTES", bytes}}};
    return *argument(plan(text(type, width), request, "b200").value(), "X").map;
  };
  CHECK(mapped("b4x16", 64, 100).dims[0] == 200);
  CHECK(mapped("b4x16", 64, 100).strides[0] == 128);
  CHECK(mapped("b4x16_p64", 128, 128).dims[0] == 256);
  CHECK(mapped("b6x16_p32", 128, 192).dims[0] == 256);
  const Request odd{.kernel = "k", .dims = {{"M", 4}, {"BYTES", 100}}};
  CHECK(refusal(text("b6x16_p32", 128), odd, "b200")
            .find("dimension 1 is 100 bytes, which hold no whole number of 6-bit values") != std::string::npos);
  CHECK(refusal(text("b4x16_p64", 128), odd, "b200")
            .find("dimension 1 has 200 values of b4x16_p64, not a multiple of 128; pad it to 256") !=
        std::string::npos);
}

TEST_CASE("workspaces: bytes of the configuration, an address if given") {
  const std::string text = R"(//! kernel k
//! arch sm_90a
//! dim N
//! param SPLITS = 2 in {2, 4}
//! workspace partials SPLITS * N * 4
//! workspace counters 64 - N zero
//! launch grid 1 block 32
)";
  Request request{.kernel = "k", .dims = {{"N", 8}}, .params = {{"SPLITS", 4}}, .workspaces = {{"partials", 0x1000}}};
  const Plan planned = plan(text, request).value();
  CHECK(planned.arguments[0].kind == Argument::Kind::workspace);
  CHECK(planned.arguments[0].workspace_bytes == 128);
  CHECK(planned.arguments[0].image == packed(std::uint64_t{0x1000}));
  CHECK_FALSE(planned.arguments[0].workspace_zeroed);
  CHECK(planned.arguments[1].workspace_zeroed);
  const std::vector<Workspace> needed = workspaces_of(planned);
  REQUIRE(needed.size() == 2);
  CHECK(needed[0].name == "partials");
  CHECK(needed[0].bytes == 128);
  CHECK(needed[0].alignment == 16);
  CHECK(needed[0].given);
  CHECK(needed[1].zeroed);
  CHECK_FALSE(needed[1].given);
  CHECK(planned.arguments[1].image == packed(std::uint64_t{0}));
  request.dims["N"] = 100;
  CHECK(refusal(text, request) == "invalid_argument: k: workspace counters is -36 bytes: N = 100");
  CHECK(refusal("//! kernel k\n//! arch sm_90a\n//! workspace w -4\n//! launch grid 1 block 32\n", {.kernel = "k"}) ==
        "invalid_argument: k: workspace w is -4 bytes");
  request.dims["N"] = 8;
  request.workspaces["partials"] = 0x1008;
  CHECK(refusal(text, request) == "invalid_argument: k: workspace partials: address 0x1008 is not a multiple of 16");
}

TEST_CASE("a reference gets no workspaces") {
  const std::string text = R"(//! kernel k
//! arch sm_90a
//! dim N
//! workspace partials N * 4
//! tensor X : f32[N] out
//! launch grid 1 block 32
//! reference k_reference grid 1 block 32
)";
  Request request{.kernel = "k", .dims = {{"N", 8}}};
  CHECK(plan(text, request).value().arguments.size() == 3);
  request.reference = true;
  const Plan reference = plan(text, request).value();
  REQUIRE(reference.arguments.size() == 2);
  CHECK(reference.arguments[0].name == "X");
}

TEST_CASE("what computes inputs is launched as the reference, and tensors keep their types") {
  const std::string text = R"(//! kernel k
//! arch sm_90a
//! dim N
//! workspace partials N * 4
//! tensor X : f32[N] box [4]
//! tensor D : f32[N] out
//! hook f(f32 x) : f32 = x
//! launch grid 1 block 32 smem 64
//! inputs k_inputs grid N block 96
)";
  Request request{.kernel = "k", .dims = {{"N", 8}}, .inputs = true};
  const Plan inputs = plan(text, request).value();
  CHECK((inputs.reference && inputs.entry == "k_inputs"));
  CHECK((inputs.geometry.grid[0] == 8 && inputs.geometry.block[0] == 96 && inputs.geometry.smem_bytes == 0));
  REQUIRE(inputs.arguments.size() == 4);  // X, D, the dims and the hooks
  CHECK(inputs.arguments[0].kind == Argument::Kind::view);
  CHECK(inputs.arguments[1].dtype == DType::f32);
  CHECK(inputs.hooks[0].result == DType::f64);
  request.reference = true;
  CHECK(refusal(text, request).starts_with("unsupported"));
  request.inputs = false;
  CHECK(refusal(text, request).starts_with("unsupported"));
  request.reference = false, request.inputs = true;
  CHECK(refusal("//! kernel k\n//! arch sm_90a\n//! dim N\n//! launch grid 1 block 32\n", request)
            .ends_with("declares no kernel that computes inputs"));
}

TEST_CASE("an address must keep the alignment the configuration needs, not what it happened to have") {
  const std::string text = R"(//! kernel k
//! arch sm_90a
//! dim N
//! param VECTOR = 4 in {4, 2, 1}
//! require alignment(X) % (VECTOR * 4) == 0
//! tensor X : f32[N]
//! launch grid 1 block 32
)";
  const auto planned = [&](std::uint64_t address) {
    return plan(text, {.kernel = "k", .tensors = {{"X", Tensor::row_major(address, DType::f32, {8})}}}).value();
  };
  CHECK(config(planned(0x1000)) == "VECTOR=4");
  CHECK(planned(0x1000).arguments[0].address_alignment == 16);
  CHECK(config(planned(0x1008)) == "VECTOR=2");
  CHECK(planned(0x1008).arguments[0].address_alignment == 8);
  CHECK(config(planned(0x1004)) == "VECTOR=1");
  CHECK(planned(0).arguments[0].address_alignment == 16);
}

TEST_CASE("stride() is what the tensor has, packed where there is none") {
  const std::string text = R"(//! kernel k
//! arch sm_90a
//! dim M, N
//! param ROWS = 1 in {0, 1}
//! require (stride(X, 0) == N) == ROWS
//! tensor X : f32[M, N]
//! launch grid 1 block 32
)";
  const auto strided = [&](std::int64_t pitch) {
    return config(plan(
        text, {.kernel = "k", .tensors = {{"X", Tensor::strided(std::uint64_t{0}, DType::f32, {4, 32}, {pitch, 1})}}}));
  };
  CHECK(strided(32) == "ROWS=1");
  CHECK(strided(40) == "ROWS=0");
  CHECK(config(plan(text, {.kernel = "k", .dims = {{"M", 4}, {"N", 32}}})) == "ROWS=1");
}

}  // namespace tma_jit::plan
