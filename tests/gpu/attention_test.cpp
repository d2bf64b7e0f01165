// Attention by every file against its float64 reference: plain and causal, whole and ragged, more and fewer keys than
// queries; and attention of sequences' last tokens, whose keys are split among blocks, contiguous and in pages;
// and the gradients of attention.
#include <doctest/doctest.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include <tma_jit/tma_jit.h>

#include "gpu/trial_check.h"

namespace tma_jit {
namespace {

struct Shape {
  std::int64_t heads, kv_heads, queries, keys;
};

void check_attention(Engine& engine, const std::string& file, const Shape& shape, std::int64_t size, bool causal,
                     std::map<std::string, std::int64_t> params = {}) {
  params.insert({{"HD", size}, {"CAUSAL", causal ? 1 : 0}});
  const Request request{
      .kernel = "attention",
      .dims = {{"HEADS", shape.heads}, {"KV_HEADS", shape.kv_heads}, {"M", shape.queries}, {"N", shape.keys}},
      .types = {},
      .params = std::move(params),
      .file = file};
  const std::string fault = testing::fault_of(engine, request, cli::DataChoices{}, 1);
  CHECK_MESSAGE(fault.empty(),
                fmt::format("{} M={} N={} HD={} causal={}\n{}", file, shape.queries, shape.keys, size, causal, fault));
}

using Texts = std::map<std::string, std::string>;
using Operands = std::vector<std::string>;
using Numbers = std::map<std::string, std::int64_t>;

// The logarithms of sums are those of the queries and keys: where they were drawn, some rows' weights would be many
// times as large as others', and what bf16 rounds off in those would count as much as the others' results.
void check_backward(Engine& engine, const Shape& shape, Numbers params, DType type = DType::bf16, Texts hooks = {},
                    Operands operands = {}) {
  const Request request{
      .kernel = "attention_backward",
      .dims = {{"HEADS", shape.heads}, {"KV_HEADS", shape.kv_heads}, {"M", shape.queries}, {"N", shape.keys}},
      .types = type == DType::e4m3 ? std::map<std::string, DType>{{"T", type}, {"R", DType::bf16}}
                                   : std::map<std::string, DType>{{"T", type}},
      .params = params,
      .scalars = {{"scale", 0.05}},
      .hooks = std::move(hooks),
      .operands = std::move(operands)};
  cli::DataChoices choices;
  choices.consistent = true;
  const std::string fault = testing::fault_of(engine, request, choices, 1);
  CHECK_MESSAGE(fault.empty(),
                fmt::format("attention_backward M={} N={} {}\n{}", shape.queries, shape.keys, params, fault));
}

void check_decode(Engine& engine, const Numbers& dims, const Numbers& params, DType type = DType::bf16) {
  const Request request{.kernel = "attention_decode", .dims = dims, .types = {{"T", type}}, .params = params};
  const std::string fault = testing::fault_of(engine, request, cli::DataChoices{}, 1);
  CHECK_MESSAGE(fault.empty(), fmt::format("attention_decode {} {}\n{}", dims, params, fault));
}

}  // namespace

TEST_CASE("attention of the last tokens agrees with its reference, for any number of keys") {
  Engine engine;
  for (const std::int64_t size : {64, 128, 256}) {
    for (const std::int64_t keys : {0, 1, 16, 63, 1000, 40000})
      check_decode(engine, {{"B", 2}, {"TOKENS", 1}, {"HEADS", 8}, {"KV_HEADS", 2}, {"N", keys}},
                   {{"HD", size}, {"LSE", 1}});
    check_decode(engine, {{"B", 3}, {"TOKENS", 8}, {"HEADS", 16}, {"KV_HEADS", 2}, {"N", 3001}}, {{"HD", size}},
                 DType::f16);
    check_decode(engine, {{"B", 300}, {"TOKENS", 2}, {"HEADS", 8}, {"KV_HEADS", 8}, {"N", 200}},
                 {{"HD", size}, {"RAGGED", 1}, {"LSE", 1}});
  }
  check_decode(engine, {{"B", 1}, {"TOKENS", 1}, {"HEADS", 8}, {"KV_HEADS", 1}, {"N", 40000}},
               {{"HD", 128}, {"PARTS", 32}, {"LSE", 1}});
  for (const std::int64_t cluster : {1, 2, 4, 8, 16})
    check_decode(engine, {{"B", 2}, {"TOKENS", 1}, {"HEADS", 8}, {"KV_HEADS", 2}, {"N", 4500}},
                 {{"HD", 128}, {"CLUSTER", cluster}, {"LSE", 1}});
  check_decode(engine, {{"B", 0}, {"TOKENS", 1}, {"HEADS", 8}, {"KV_HEADS", 2}, {"N", 100}}, {{"HD", 128}});
}

TEST_CASE("attention of the last tokens agrees with its reference, with keys in pages") {
  Engine engine;
  for (const std::int64_t size : {64, 128, 256}) {
    for (const std::int64_t page : {1, 5, 16, 64})
      check_decode(
          engine,
          {{"B", 2}, {"TOKENS", 1}, {"HEADS", 8}, {"KV_HEADS", 2}, {"P", 60}, {"SIZE", page}, {"MAX_PAGES", 900}},
          {{"HD", size}, {"LSE", 1}});
    check_decode(engine,
                 {{"B", 40}, {"TOKENS", 4}, {"HEADS", 16}, {"KV_HEADS", 2}, {"P", 60}, {"SIZE", 16}, {"MAX_PAGES", 90}},
                 {{"HD", size}, {"RAGGED", 1}}, DType::f16);
  }
}

TEST_CASE("latent attention of the last tokens agrees with its reference, by every file") {
  Engine engine;
  const auto check = [&](const std::string& file, const Numbers& dims, const Numbers& params,
                         DType type = DType::bf16) {
    const bool bytes = file == "attention_decode_latent_e4m3_wgmma";
    const Request request{.kernel = "attention_decode_latent",
                          .dims = dims,
                          .types = {{"T", type}, {"E", bytes ? DType::e4m3 : type}},
                          .params = params,
                          .file = file};
    const std::string fault = testing::fault_of(engine, request, cli::DataChoices{}, 1);
    CHECK_MESSAGE(fault.empty(), fmt::format("{} {} {}\n{}", file, dims, params, fault));
  };
  for (const std::string file :
       {"attention_decode_latent_wgmma", "attention_decode_latent_e4m3_wgmma", "attention_decode_latent"}) {
    for (const std::int64_t pages : {0, 1, 2, 63, 700})
      check(file, {{"B", 2}, {"TOKENS", 1}, {"HEADS", 128}, {"P", 60}, {"SIZE", 64}, {"MAX_PAGES", pages}},
            {{"LSE", 1}});
    check(file, {{"B", 3}, {"TOKENS", 2}, {"HEADS", 48}, {"P", 60}, {"SIZE", 16}, {"MAX_PAGES", 133}}, {}, DType::f16);
    check(file, {{"B", 90}, {"TOKENS", 1}, {"HEADS", 24}, {"P", 60}, {"SIZE", 32}, {"MAX_PAGES", 90}},
          {{"RAGGED", 1}, {"LSE", 1}});
    check(file, {{"B", 1}, {"TOKENS", 1}, {"HEADS", 16}, {"P", 60}, {"SIZE", 64}, {"MAX_PAGES", 300}},
          {{"PARTS", 16}, {"LSE", 1}});
  }
  for (const std::int64_t blocks : {1, 2, 4, 8})
    check("attention_decode_latent_wgmma",
          {{"B", 1}, {"TOKENS", 1}, {"HEADS", 128}, {"P", 60}, {"SIZE", 64}, {"MAX_PAGES", 301}},
          {{"PARTS", 32}, {"CLUSTER", blocks}, {"LSE", 1}});
  check("attention_decode_latent", {{"B", 2}, {"TOKENS", 1}, {"HEADS", 8}, {"P", 60}, {"SIZE", 5}, {"MAX_PAGES", 301}},
        {});
}

TEST_CASE("attention agrees with its reference, by every file") {
  Engine engine;
  for (const std::string file : {"attention_wgmma", "attention_mma", "attention_mma_cp_async"}) {
    for (const Shape& shape : {Shape{4, 4, 128, 128}, Shape{4, 2, 77, 301}, Shape{3, 1, 300, 100}, Shape{1, 1, 1, 1000},
                               Shape{2, 2, 40, 0}}) {
      for (const std::int64_t size : {64, 128}) {
        check_attention(engine, file, shape, size, false);
        check_attention(engine, file, shape, size, true);
      }
    }
  }
}

TEST_CASE("attention with masks and scores of the request's agrees with its reference, by every file") {
  Engine engine;
  const auto check = [&](const std::string& file, std::int64_t size, const Shape& shape, Texts hooks,
                         Operands operands) {
    const Request request{
        .kernel = "attention",
        .dims = {{"HEADS", shape.heads}, {"KV_HEADS", shape.kv_heads}, {"M", shape.queries}, {"N", shape.keys}},
        .params = {{"HD", size}, {"LSE", 1}},
        .hooks = hooks,
        .operands = std::move(operands),
        .file = file};
    const std::string fault = testing::fault_of(engine, request, cli::DataChoices{}, 1);
    CHECK_MESSAGE(fault.empty(),
                  fmt::format("{} M={} N={} HD={} {}\n{}", file, shape.queries, shape.keys, size, hooks, fault));
  };
  for (const std::string file : {"attention_wgmma", "attention_mma", "attention_mma_cp_async"}) {
    for (const Shape& shape :
         {Shape{4, 2, 1000, 1000}, Shape{40, 8, 700, 5000}, Shape{3, 1, 300, 100}, Shape{2, 2, 40, 0}}) {
      for (const std::int64_t size : {64, 128}) {
        check(file, size, shape, {{"mask", "k <= q && q - k < window"}}, {"window : s32 = 300"});
        check(file, size, shape, {{"mask", "k < 10 || abs(q - k) < 100"}, {"score", "20 * tanh(s / 20)"}}, {});
        check(file, size, shape, {{"score", "s - slope[head] * (q - k) * 0.01f"}}, {"slope : f32[HEADS]"});
      }
      check(file, 64, shape, {{"mask", "document[q] == document[k]"}}, {"document : s32[N] in 0..7 rising"});
      check(file, 64, shape, {{"mask", "0"}}, {});
    }
  }
  for (const std::int64_t size : {32, 96, 192, 256})
    check("attention_wgmma", size, {4, 2, 500, 700}, {{"mask", "k <= q && q - k < 300"}, {"score", "s * 0.5f"}}, {});
}

TEST_CASE("attention by wgmma agrees with its reference, with every size of head and schedule") {
  Engine engine;
  for (const std::int64_t size : {32, 64, 96, 128, 192, 256}) {
    for (const bool causal : {false, true}) {
      check_attention(engine, "attention_wgmma", {4, 2, 500, 700}, size, causal);
      check_attention(engine, "attention_wgmma", {4, 2, 500, 700}, size, causal,
                      {{"LSE", 1}, {"PERSISTENT", size <= 192}});
    }
  }
  for (const bool causal : {false, true}) {
    check_attention(engine, "attention_wgmma", {300, 100, 333, 333}, 64, causal, {{"PERSISTENT", 1}, {"TILES", 2}});
    for (const auto& [size, value] : {std::pair{192, 128}, std::pair{128, 64}, std::pair{96, 32}})
      check_attention(engine, "attention_wgmma", {300, 100, 333, 400}, size, causal, {{"VD", value}, {"LSE", 1}});
  }
}

TEST_CASE("attention's logarithms of sums agree with their reference, by every file") {
  Engine engine;
  for (const std::string file : {"attention_wgmma", "attention_mma", "attention_mma_cp_async"}) {
    check_attention(engine, file, {4, 2, 77, 301}, 64, true, {{"LSE", 1}});
    check_attention(engine, file, {3, 1, 300, 100}, 128, true, {{"LSE", 1}});
    check_attention(engine, file, {2, 2, 40, 0}, 64, false, {{"LSE", 1}});
  }
}

TEST_CASE("attention of sequences of different lengths agrees with its reference, by every file") {
  Engine engine;
  const auto input = [](const std::vector<std::int32_t>& offsets) {
    const auto bytes = std::as_bytes(std::span(offsets));
    return cli::InputFile{.array = {.dtype = DType::s32,
                                    .shape = {static_cast<std::int64_t>(offsets.size())},
                                    .bytes = {bytes.begin(), bytes.end()}}};
  };
  cli::DataChoices choices;
  choices.inputs = {{"CU", input({0, 700, 700, 701, 829, 1000})}, {"CUK", input({0, 700, 800, 800, 928, 2000})}};
  for (const std::string file : {"attention_ragged_wgmma", "attention_ragged_mma_cp_async"}) {
    for (const std::int64_t size : {64, 128}) {
      for (const std::int64_t causal : {0, 1}) {
        for (const Texts& hooks : {Texts{}, Texts{{"mask", "abs(q - k) < 300"}}}) {
          const Request request{
              .kernel = "attention_ragged",
              .dims = {{"BATCH", 5}, {"HEADS", 8}, {"KV_HEADS", 2}, {"M", 1100}, {"N", 2100}, {"LONGEST", 700}},
              .params = {{"HD", size}, {"CAUSAL", causal}, {"LSE", 1}},
              .hooks = hooks,
              .file = file};
          const std::string fault = testing::fault_of(engine, request, choices, 1);
          CHECK_MESSAGE(fault.empty(), fmt::format("{} HD={} causal={} {}\n{}", file, size, causal, hooks, fault));
        }
      }
    }
  }
  std::vector<std::int32_t> many = {0};  // sequences of each class, out of order, with more tiles than there are blocks
  for (int i = 0; i < 300; ++i) many.push_back(many.back() + (i * 37 % 11 == 0 ? i * 5 : i * 41 % 190));
  choices.inputs = {{"CU", input(many)}, {"CUK", input(many)}};
  for (const std::int64_t causal : {0, 1}) {
    const Request request{
        .kernel = "attention_ragged",
        .dims =
            {{"BATCH", 300}, {"HEADS", 4}, {"KV_HEADS", 2}, {"M", many.back()}, {"N", many.back()}, {"LONGEST", 1500}},
        .params = {{"HD", 192}, {"VD", 128}, {"CAUSAL", causal}, {"LSE", 1}},
        .file = "attention_ragged_wgmma"};
    const std::string fault = testing::fault_of(engine, request, choices, 2);
    CHECK_MESSAGE(fault.empty(), fmt::format("many sequences, causal={}\n{}", causal, fault));
  }
}

TEST_CASE("attention's gradients agree with their reference") {
  Engine engine;
  for (const Shape& shape : {Shape{4, 4, 128, 128}, Shape{4, 2, 77, 301}, Shape{3, 1, 300, 100}, Shape{1, 1, 1, 1000},
                             Shape{2, 2, 40, 0}, Shape{2, 2, 0, 40}, Shape{64, 8, 513, 700}}) {
    for (const std::int64_t size : {64, 128, 192, 256}) {
      for (const std::int64_t causal : {0, 1}) {
        check_backward(engine, shape, {{"HD", size}, {"CAUSAL", causal}});
        check_backward(engine, shape, {{"HD", size}, {"CAUSAL", causal}, {"ATOMIC", 1}}, DType::f16);
      }
    }
    check_backward(engine, shape, {{"HD", 192}, {"VD", 128}, {"CAUSAL", 1}});
    for (const std::int64_t size : {64, 128, 192, 256}) {  // each element of a tile has a result of its own
      check_backward(engine, shape, {{"HD", size}}, DType::bf16, {{"mask", "document[q] % 4 == document[k] % 4"}},
                     {"document : s32[N]"});
    }
    for (const std::int64_t size : {64, 96, 128, 256})
      check_backward(engine, shape, {{"HD", size}, {"CAUSAL", 1}, {"SCALED", 1}}, DType::e4m3);
  }
}

TEST_CASE("the deltas of attention's gradients agree with their reference") {
  Engine engine;
  for (const std::int64_t size : {32, 64, 128, 256}) {
    for (const std::int64_t queries : {0, 1, 1000}) {
      const Request request{
          .kernel = "attention_delta", .dims = {{"HEADS", 3}, {"M", queries}}, .types = {}, .params = {{"HD", size}}};
      const std::string fault = testing::fault_of(engine, request, cli::DataChoices{}, 1);
      CHECK_MESSAGE(fault.empty(), fmt::format("attention_delta M={} HD={}\n{}", queries, size, fault));
    }
  }
}

}  // namespace tma_jit
