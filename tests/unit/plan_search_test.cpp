// Which configuration is chosen, what is counted, and what is said when there is none.
#include "planning_fixture.h"

namespace tma_jit::plan {

TEST_CASE("the first preset whose condition holds is taken") {
  CHECK(config(plan(kGemm, gemm_dims(512, 512, 512))) == "BM=64 BN=128 STAGES=6 BAND=8");
  CHECK(config(plan(kGemm, gemm_dims(8192, 8192, 8192))) == "BM=128 BN=256 STAGES=3 BAND=8");
}

TEST_CASE("where cycles are stated the cheapest preset that holds and is valid is taken, the first of equals") {
  const std::string text = R"(//! kernel k
//! arch sm_90a
//! dim N
//! param A = 1 in {1, 2, 4, 8}
//! param B = 0 in {0, 1}
//! require A != 8 || N % 8 == 0
//! launch grid 1 block 32
//! work cycles ceil_div(N, A) + 10 * A
//! preset A = 1
//! preset A = 8
//! preset A = 4, B = 1 when N != 500
//! preset A = 4
//! preset A = 2
)";
  const auto chosen = [&](std::int64_t n) { return plan(text, {.kernel = "k", .dims = {{"N", n}}}); };
  CHECK(config(chosen(1)) == "A=1 B=0");
  CHECK(chosen(1)->work.cycles == 11);
  CHECK(config(chosen(40)) == "A=2 B=0");
  CHECK(config(chosen(100)) == "A=4 B=1");
  CHECK(config(chosen(500)) == "A=4 B=0");
  CHECK(config(chosen(800)) == "A=8 B=0");
  CHECK(config(chosen(801)) == "A=4 B=1");
  CHECK(config(plan(text, {.kernel = "k", .dims = {{"N", 100}}, .params = {{"B", 0}}})) == "A=4 B=0");
}

TEST_CASE("pins hold through presets, defaults and search") {
  Request request = gemm_dims(512, 512, 512);
  request.params = {{"STAGES", 4}};
  CHECK(config(plan(kGemm, request)) == "BM=64 BN=128 STAGES=4 BAND=8");
  request.params = {{"BM", 192}, {"STAGES", 4}};  // 192 x 128 of the first preset
  CHECK(config(plan(kGemm, request)) == "BM=192 BN=128 STAGES=4 BAND=8");
  request.params = {{"BM", 192}, {"BN", 256}};  // neither preset nor the default fits; the first that does
  CHECK(refusal(kGemm, request) ==
        "no_config: gemm: no configuration satisfies this request\n"
        "  k.cu:17: all 28 violate  CONSUMERS * (BN / 2 + 40) <= 480\n"
        "    accumulators must fit in registers\n"
        "    CONSUMERS = 3, BN = 256");
}

TEST_CASE("without presets the defaults come first, then the configurations nearest to them") {
  const std::string text = R"(//! kernel k
//! arch sm_90a
//! dim N
//! param A = 2 in {1, 2, 3}
//! param B = 5 in {4, 5, 6}
//! require A * B != N
//! require A + B != N
//! launch grid 1 block 32
)";
  CHECK(config(plan(text, {.kernel = "k", .dims = {{"N", 1}}})) == "A=2 B=5");
  CHECK(config(plan(text, {.kernel = "k", .dims = {{"N", 10}}})) == "A=2 B=4");  // the last param moves first
  CHECK(config(plan(text, {.kernel = "k", .dims = {{"N", 7}}, .params = {{"B", 5}}})) == "A=1 B=5");
}

TEST_CASE("a request with no configuration hears of the rule, its line, its text and the values") {
  const Result<Plan> refused = plan(kGemm, gemm_dims(4096, 4096, 4097));
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().text() ==
        "no_config: gemm: no configuration satisfies this request\n"
        "  k.cu:14: all 336 violate  K * sizeof(T) % 16 == 0\n"
        "    TMA needs rows of A and B to be a multiple of 16 bytes\n"
        "    K = 4097, sizeof(T) = 2");
}

TEST_CASE("where no single rule excludes everything, each tells its share") {
  const std::string text = R"(//! kernel k
//! arch sm_90a
//! param A = 1 in {1, 2, 3, 4}
//! require A > 2
//! require A < 3 "small A only"
//! launch grid 1 block 32
)";
  CHECK(refusal(text, {.kernel = "k"}) ==
        "no_config: k: no configuration satisfies this request\n"
        "  k.cu:4: 2 of 4 violate  A > 2\n"
        "    A = 1\n"
        "  k.cu:5: 2 of 4 violate  A < 3\n"
        "    small A only\n"
        "    A = 3");
  CHECK(refusal(text, {.kernel = "k", .params = {{"A", 1}}}) ==
        "no_config: k: no configuration satisfies this request\n"
        "  k.cu:4: the only configuration violates  A > 2\n"
        "    A = 1");
}

TEST_CASE("an expression that cannot be evaluated rules its configuration out") {
  const std::string text = R"(//! kernel k
//! arch sm_90a
//! dim N : s64
//! param A = 0 in {0, 1}
//! require N / A > 0
//! launch grid 1 block 32
)";
  CHECK(config(plan(text, {.kernel = "k", .dims = {{"N", 8}}})) == "A=1");
  const std::string said = refusal(text, {.kernel = "k", .dims = {{"N", 8}}, .params = {{"A", 0}}});
  CHECK(said.find("the only configuration violates  N / A > 0\n    k.cu:5:15: division by zero: 8 / 0") !=
        std::string::npos);
}

TEST_CASE("arithmetic that overflows is told, never wrapped") {
  const std::string text = R"(//! kernel k
//! arch sm_90a
//! dim N : s64
//! require N * N > 0
//! launch grid 1 block 32
)";
  const std::string said = refusal(text, {.kernel = "k", .dims = {{"N", std::int64_t{1} << 40}}});
  CHECK(said ==
        "no_config: k: no configuration satisfies this request\n"
        "  k.cu:4: the only configuration violates  N * N > 0\n"
        "    k.cu:4:15: overflow of 64 bits: 1099511627776 * 1099511627776");
}

TEST_CASE("enumeration counts configurations, valid ones, and what each rule excludes") {
  const Enumeration all = enumeration(kGemm, gemm_dims(4096, 4096, 4096));
  CHECK(all.file == "k.cu");
  CHECK(all.configurations == 336);
  std::int64_t valid = 0, no_smem = 0, no_registers = 0;
  for (const int bm : {64, 128, 192}) {
    for (const int bn : {64, 128, 192, 256}) {
      for (int stages = 2; stages <= 8; ++stages) {
        const int smem = (stages * (bm + bn) * 128 + bm * bn * 2 + 16 * stages + 1023) / 1024 * 1024;
        const bool fits = smem + 1024 <= 232448;
        const bool registers = bm / 64 * (bn / 2 + 40) <= 480;
        valid += fits && registers ? 4 : 0;
        no_smem += fits ? 0 : 4;
        no_registers += registers ? 0 : 4;
      }
    }
  }
  CHECK(all.valid == valid);
  CHECK(static_cast<std::int64_t>(all.valid_configs.size()) == valid);
  CHECK(all.valid_configs.front() ==
        std::vector<std::pair<std::string, std::int64_t>>{{"BM", 128}, {"BN", 256}, {"STAGES", 3}, {"BAND", 8}});
  const auto rule = [&](int line) {
    const auto at = std::ranges::find(all.rules, line, &RuleCount::line);
    return at == all.rules.end() ? 0 : at->ruled_out;
  };
  CHECK(rule(14) == 0);
  CHECK(rule(16) == no_smem);
  CHECK(rule(17) == no_registers);
}

TEST_CASE("pins shrink what is enumerated; the list of valid ones stops at 4,096") {
  Request request = gemm_dims(4096, 4096, 4096);
  request.params = {{"BM", 64}, {"BAND", 1}};
  CHECK(enumeration(kGemm, request).configurations == 28);
  const std::string text = R"(//! kernel k
//! arch sm_90a
//! param A = 1 in 1..100
//! param B = 1 in 1..100
//! launch grid 1 block 32
)";
  const Enumeration many = enumeration(text, {.kernel = "k"});
  CHECK(many.valid == 10000);
  CHECK(many.valid_configs.size() == 4096);
}

TEST_CASE("what excludes millions of configurations is found without looking at each") {
  const std::string text = R"(//! kernel k
//! arch sm_90a
//! dim N
//! param A = 1 in 1..256
//! param B = 1 in 1..256
//! param C = 1 in 1..256
//! require A + B > 1000 "they are small"
//! require B + C != 3
//! launch grid N block 32
)";
  const std::clock_t start = std::clock();  // of the process, whatever else the machine does
  CHECK(refusal(text, {.kernel = "k", .dims = {{"N", 8}}, .sm_budget = 4}) ==
        "no_config: k: no configuration satisfies this request\n"
        "  k.cu:7: all 16777216 violate  A + B > 1000\n"
        "    they are small\n"
        "    A = 1, B = 1\n"
        "  k.cu:9: all 16777216 violate  the launch\n"
        "    8 blocks for a budget of 4 SMs; a configuration whose blocks go from tile to tile can have fewer");
  CHECK(std::clock() - start < 2 * CLOCKS_PER_SEC);  // each takes more than 100 ns
  const Enumeration all = enumeration(text, {.kernel = "k", .dims = {{"N", 8}}});
  REQUIRE(all.rules.size() == 2);
  CHECK(all.rules[1].ruled_out == 2 * 256);
  CHECK(all.valid == 0);
}

TEST_CASE("too many configurations to look at is an error that says what to do") {
  const std::string text = R"(//! kernel k
//! arch sm_90a
//! param A = 1 in 1..4096
//! param B = 1 in 1..4096
//! param C = 1 in {1, 2}
//! require A + B == 5000
//! launch grid 1 block 32
)";
  CHECK(refusal(text, {.kernel = "k"}) ==
        "invalid_argument: k: more than 16777216 configurations would have to be tried; pin some params");
  CHECK(config(plan(text, {.kernel = "k", .params = {{"A", 2000}}})) == "A=2000 B=3000 C=1");
}

TEST_CASE("a preset leaves a param that it does not set at the first value that a rule about it alone permits") {
  const std::string text = R"(//! kernel k
//! arch sm_90a
//! dim N
//! param B = 1 in {1, 2, 4}
//! param W = 1 in {1, 0}
//! param V = 8 in {8, 4, 2, 1}
//! require W == 0 || N % 8 == 0
//! require N % V == 0
//! require B < 4 || W == 1
//! launch grid 1 block 32
//! preset B = 4
//! preset B = 2
)";
  const auto planned = [&](std::int64_t n) { return config(plan(text, {.kernel = "k", .dims = {{"N", n}}})); };
  CHECK(planned(16) == "B=4 W=1 V=8");
  CHECK(planned(12) == "B=2 W=0 V=4");
  CHECK(planned(7) == "B=2 W=0 V=1");
  CHECK(config(plan(text, {.kernel = "k", .dims = {{"N", 16}}, .params = {{"W", 0}}})) == "B=2 W=0 V=8");
  CHECK(config(plan(text, {.kernel = "k", .dims = {{"N", 16}}, .params = {{"V", 2}}})) == "B=4 W=1 V=2");
}

TEST_CASE("an extent that is an expression chooses the param it depends on") {
  const std::string text = R"(//! kernel k
//! arch sm_90a
//! dim N
//! param SPLITS = 1 in {1, 2, 4}
//! tensor P : f32[SPLITS, N]
//! tensor S : f32[N / 16]
//! launch grid 1 block 32
)";
  const auto request = [](std::int64_t splits, std::int64_t scales) {
    return Request{.kernel = "k",
                   .tensors = {{"P", Tensor::row_major(std::uint64_t{256}, DType::f32, {splits, 64})},
                               {"S", Tensor::row_major(std::uint64_t{256}, DType::f32, {scales})}}};
  };
  CHECK(config(plan(text, request(4, 4))) == "SPLITS=4");
  CHECK(enumeration(text, request(4, 4)).configurations == 1);
  CHECK(refusal(text, request(3, 4)) ==
        "no_config: k: no configuration satisfies this request\n"
        "  k.cu:5: all 3 violate  the extent SPLITS of tensor P\n"
        "    dimension 0 of tensor P is 3, not 1\n"
        "    SPLITS = 1");
  CHECK(refusal(text, request(1, 5))
            .find("all 3 violate  the extent N / 16 of tensor S\n"
                  "    dimension 0 of tensor S is 5, not 4\n    N = 64") != std::string::npos);
}

TEST_CASE("a cold plan of the gemm takes well under 0.3 ms where a preset fits") {
#ifdef NDEBUG
  const Pointers templates = {parsed(kGemm)};
  const DeviceInfo h100 = device();
  const Request request = gemm_tensors(4096, 4096, 4096);
  double best_us = 1e9;
  for (int i = 0; i < 50; ++i) {
    const auto start = std::chrono::steady_clock::now();
    REQUIRE(make_plan(request, h100, templates).has_value());
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    best_us = std::min(best_us, took.count());
  }
  MESSAGE("plan of the gemm: " << best_us << " us");
  CHECK(best_us < 300);
#endif
}

}  // namespace tma_jit::plan
