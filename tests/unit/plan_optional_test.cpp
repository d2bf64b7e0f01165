// Optional tensors, hooks, types and reference plans.
#include "planning_fixture.h"

namespace tma_jit::plan {
namespace {

const std::string kMap = R"(//! kernel map
//! arch sm_90a
//! type T = f32 in {f32, bf16}
//! dim N
//! param INPUTS = 1 in 1..3
//! tensor A : T[N]
//! tensor B : T[N] when INPUTS >= 2
//! tensor C : T[N] box [64] when INPUTS >= 3
//! tensor D : T[N] out
//! hook apply(f32 a, f32 b when INPUTS >= 2, T c when INPUTS >= 3) : f32 = a
//! launch grid ceil_div(N, 64) block 64
//! reference map_reference grid 1 block min(N, 32)
)";

Request inputs(int count) {
  Request request{.kernel = "map"};
  for (int i = 0; i < count; ++i) {
    const std::string name(1, static_cast<char>('A' + i));
    request.tensors.push_back({name, Tensor::row_major(std::uint64_t{0x1000}, DType::f32, {96})});
  }
  request.tensors.push_back({"D", Tensor::row_major(std::uint64_t{0x2000}, DType::f32, {96})});
  return request;
}

std::string signature(const Hook& hook) {
  std::string words;
  for (const Hook::Parameter& p : hook.parameters) words += fmt::format("{} {}, ", name_of(p.type), p.name);
  return fmt::format("{}({}) : {} = {}", hook.name, words, name_of(hook.result), hook.text);
}

}  // namespace

TEST_CASE("optional dims count the tensors of a list") {
  const std::string kernel = R"(//! kernel join
//! arch sm_90a
//! dim K
//! dim N0 in 0..100
//! dim N1 in 0..100 when PARTS >= 2
//! dim N2 in 0..100 when PARTS >= 3
//! param PARTS = 2 in 1..3
//! tensor S0 : f32[N0, K]
//! tensor S1 : f32[N1, K] when PARTS >= 2
//! tensor S2 : f32[N2, K] when PARTS >= 3
//! tensor D : f32[N0 + N1 + N2, K] out
//! launch grid 1 block 32
)";
  const auto of_dims = [](std::map<std::string, std::int64_t> dims) {
    dims["K"] = 8;
    return Request{.kernel = "join", .dims = std::move(dims)};
  };
  const auto of_tensors = [](const std::map<std::string, std::int64_t>& rows) {
    Request request{.kernel = "join"};
    for (const auto& [name, count] : rows)
      request.tensors.push_back({name, Tensor::row_major(std::uint64_t{0x1000}, DType::f32, {count, 8})});
    return request;
  };
  CHECK(config(plan(kernel, of_dims({{"N0", 4}}))) == "PARTS=1");
  CHECK(config(plan(kernel, of_dims({{"N0", 4}, {"N1", 0}}))) == "PARTS=2");
  CHECK(config(plan(kernel, of_dims({{"N0", 4}, {"N1", 0}, {"N2", 3}}))) == "PARTS=3");
  CHECK(config(plan(kernel, of_tensors({{"S0", 4}, {"D", 4}}))) == "PARTS=1");
  CHECK(config(plan(kernel, of_tensors({{"S0", 4}, {"S1", 0}, {"S2", 3}, {"D", 7}}))) == "PARTS=3");
  CHECK(refusal(kernel, of_dims({{"N0", 4}, {"N2", 3}})).find("dim N1 is not given") != std::string::npos);
  CHECK(refusal(kernel, of_tensors({{"S0", 4}, {"S2", 3}, {"D", 7}})).find("not given") != std::string::npos);
  CHECK(refusal(kernel, of_tensors({{"S0", 4}, {"S3", 3}, {"D", 7}}))
            .starts_with("not_found: join: there is no tensor "
                         "\"S3\"; it has S0, S1, S2, D"));
  const auto pinned = of_dims({{"N0", 4}, {"N1", 5}});
  Request three = pinned;
  three.params["PARTS"] = 3;
  CHECK(refusal(kernel, three).find("dim N2 is not given") != std::string::npos);
}

TEST_CASE("an optional dim may be given as 0, as plans have it where no configuration has it") {
  const std::string kernel = R"(//! kernel sunk
//! arch sm_90a
//! dim N
//! dim H in 1..100 when SINKS == 1
//! param SINKS = 0 in {0, 1}
//! tensor S : f32[H] when SINKS == 1
//! tensor D : f32[N] out
//! launch grid 1 block 32
)";
  const Plan made = plan(kernel, {.kernel = "sunk", .dims = {{"N", 8}}}).value();
  Request again{.kernel = "sunk"};
  for (const DimValue& dim : made.dims) again.dims[dim.name] = dim.value;
  CHECK(again.dims.at("H") == 0);
  CHECK(config(plan(kernel, again)) == "SINKS=0");
  again.params["SINKS"] = 1;
  CHECK(refusal(kernel, again).find("dim H is not given") != std::string::npos);
  again.dims["H"] = 101;
  CHECK(refusal(kernel, again).find("H = 101 by the request is outside 1..100") != std::string::npos);
}

TEST_CASE("the tensors given choose the configuration") {
  CHECK(config(plan(kMap, inputs(1))) == "INPUTS=1");
  CHECK(config(plan(kMap, inputs(2))) == "INPUTS=2");
  CHECK(config(plan(kMap, inputs(3))) == "INPUTS=3");
  CHECK(enumeration(kMap, inputs(2)).configurations == 1);
  CHECK(enumeration(kMap, inputs(2)).valid == 1);
  CHECK(enumeration(kMap, inputs(2)).rules.empty());
}

TEST_CASE("rules and presets know whether the request gives a hook a text of its own") {
  const std::string kernel = kMap +
                             "//! param WIDE = 1 in {1, 2, 4}\n//! require given(apply) == 0 || WIDE < 4\n"
                             "//! preset WIDE = 4\n//! preset WIDE = 2\n";
  Request request = inputs(1);
  CHECK(config(plan(kernel, request)) == "INPUTS=1 WIDE=4");
  request.hooks["apply"] = "a";  // the default
  CHECK(config(plan(kernel, request)) == "INPUTS=1 WIDE=4");
  request.hooks["apply"] = "a * 2";
  CHECK(config(plan(kernel, request)) == "INPUTS=1 WIDE=2");
}

TEST_CASE("a rank-0 tensor is one that is not given") {
  Request request = inputs(2);
  request.tensors.push_back({"C", Tensor{}});
  CHECK(config(plan(kMap, request)) == "INPUTS=2");
}

TEST_CASE("tensors that belong to no configuration") {
  Request request = inputs(3);
  request.tensors.erase(request.tensors.begin() + 1);  // A and C without B
  CHECK(refusal(kMap, request) ==
        "no_config: map: no configuration satisfies this request\n"
        "  k.cu:7: 2 of 3 violate  tensor B when INPUTS >= 2\n"
        "    tensor B is not given\n"
        "    INPUTS = 2\n"
        "  k.cu:8: 2 of 3 violate  tensor C when INPUTS >= 3\n"
        "    tensor C is given\n"
        "    INPUTS = 1");
  request = inputs(2);
  request.params = {{"INPUTS", 3}};
  CHECK(refusal(kMap, request) ==
        "no_config: map: no configuration satisfies this request\n"
        "  k.cu:8: the only configuration violates  tensor C when INPUTS >= 3\n"
        "    tensor C is not given\n"
        "    INPUTS = 3");
}

TEST_CASE("an absent tensor is still a parameter, of zeros") {
  const Plan planned = plan(kMap, inputs(1)).value();
  REQUIRE(planned.arguments.size() == 6);  // and hooks
  CHECK_FALSE(planned.arguments[1].present);
  CHECK(planned.arguments[1].image == std::vector<std::byte>(16));
  CHECK(planned.arguments[1].shape.empty());
  CHECK_FALSE(planned.arguments[2].present);
  CHECK(planned.arguments[2].kind == Argument::Kind::tensor_map);
  CHECK(planned.arguments[2].image == std::vector<std::byte>(128));
  CHECK_FALSE(planned.arguments[2].map.has_value());
  CHECK(planned.arguments[3].present);
}

TEST_CASE("without any tensors `when` decides, by the default of the param that it depends on or by the request's") {
  Request request{.kernel = "map", .dims = {{"N", 96}}, .params = {{"INPUTS", 2}}};
  const Plan planned = plan(kMap, request).value();
  CHECK(planned.arguments[1].present);
  CHECK_FALSE(planned.arguments[2].present);
  CHECK(enumeration(kMap, request).configurations == 1);
  const Enumeration usual = enumeration(kMap, {.kernel = "map", .dims = {{"N", 96}}});
  CHECK(usual.configurations == 1);
  CHECK(usual.valid_configs == std::vector<std::vector<std::pair<std::string, std::int64_t>>>{{{"INPUTS", 1}}});
}

TEST_CASE("hooks: the default or the request's text, absent parameters dropped") {
  CHECK(signature(plan(kMap, inputs(1))->hooks[0]) == "apply(f32 a, ) : f32 = a");
  Request request = inputs(3);
  request.hooks["apply"] = "a + b * f32(c)";
  CHECK(signature(plan(kMap, request)->hooks[0]) == "apply(f32 a, f32 b, f32 c, ) : f32 = a + b * f32(c)");
  request.hooks["apply"] = " \n";
  CHECK(refusal(kMap, request)
            .starts_with("invalid_argument: map: hook apply has no text; give an expression or a body: "));
  const std::string text = "//! kernel k\n//! arch sm_90a\n//! hook f(f32 x) : f32\n//! launch grid 1 block 32\n";
  CHECK(refusal(text, {.kernel = "k"}) ==
        "invalid_argument: k: hook f has no text; give an expression or a body: f(f32 x) : f32");
}

TEST_CASE("a reference plan: views, f64 outputs and hooks, its own entry and geometry") {
  Request request = inputs(3);
  request.reference = true;
  CHECK(refusal(kMap, request) == "invalid_argument: map: tensor D is f32; a reference writes f64");
  request.tensors.back().tensor = Tensor::row_major(std::uint64_t{0x2000}, DType::f64, {96});
  request.tensors[2].tensor.address = 0x1004;  // no map, so no demand of 16 bytes
  const Plan planned = plan(kMap, request).value();
  CHECK(planned.reference);
  CHECK(planned.entry == "map_reference");
  CHECK(planned.geometry.grid[0] == 1);
  CHECK(planned.geometry.block[0] == 32);
  CHECK(planned.arguments[2].kind == Argument::Kind::view);
  CHECK(planned.arguments[2].image == packed(std::uint64_t{0x1004}, std::int64_t{1}));
  CHECK(planned.arguments[3].dtype == DType::f64);
  CHECK(signature(planned.hooks[0]) == "apply(f64 a, f64 b, f64 c, ) : f64 = a");
  CHECK(config(planned) == "INPUTS=3");
  CHECK(refusal(kLine, {.kernel = "line", .dims = {{"N", 4}}, .reference = true}) ==
        "unsupported: line: k.cu declares no reference kernel");
}

TEST_CASE("a plan says how many bits its sums keep, where its reference does") {
  CHECK(plan(kMap, inputs(1)).value().sum_bits == 0);
  const std::string text = kMap.substr(0, kMap.rfind('\n')) + " bits N < 100 ? 9 : N\n";
  CHECK(plan(text, inputs(1)).value().sum_bits == 9);
  Request request = inputs(1);
  for (NamedTensor& named : request.tensors) named.tensor.shape = {128};
  CHECK(refusal(text, request) ==
        "invalid_argument: map: reference map_reference: bits N < 100 ? 9 : N = 128; sums keep 1 to 24 bits, or 0 to "
        "say nothing of them");
}

TEST_CASE("a type that only outputs have is free in a reference plan, which writes f64") {
  const std::string text = R"(//! kernel k
//! arch sm_90a
//! type O = bf16 in {bf16, f32}
//! dim N
//! param W = 64 in {64, 96}
//! require W % (128 / sizeof(O)) == 0
//! tensor D : O[N] out
//! launch grid 1 block W
//! reference k_reference grid 1 block W
)";
  const Tensor out = Tensor::row_major(std::uint64_t{0x1000}, DType::f64, {8});
  const Request request{.kernel = "k", .tensors = {{"D", out}}, .params = {{"W", 96}}, .reference = true};
  CHECK(plan(text, request)->constants[0].type == DType::f32);
}

TEST_CASE("types that no tensor has are chosen like params; the request may say") {
  const std::string text = R"(//! kernel k
//! arch sm_90a
//! type ACC = f32 in {f32, f16}
//! dim N
//! require sizeof(ACC) * N <= 64
//! launch grid 1 block 32
)";
  const auto chosen = [&](std::int64_t n) {
    return plan(text, {.kernel = "k", .dims = {{"N", n}}})->constants[0].type;
  };
  CHECK(chosen(16) == DType::f32);
  CHECK(chosen(32) == DType::f16);
  CHECK(refusal(text, {.kernel = "k", .dims = {{"N", 32}}, .types = {{"ACC", DType::f32}}}).find("sizeof(ACC) = 4") !=
        std::string::npos);
}

}  // namespace tma_jit::plan
