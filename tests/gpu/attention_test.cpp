// Attention by every file against its float64 reference: plain and causal, whole and ragged, more and fewer keys than
// queries.
#include <doctest/doctest.h>
#include <fmt/ranges.h>

#include <map>
#include <utility>

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

}  // namespace

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

TEST_CASE("attention by wgmma agrees with its reference, with every size of head and schedule") {
  Engine engine;
  for (const std::int64_t size : {32, 64, 96, 128, 192, 256}) {
    for (const bool causal : {false, true}) {
      check_attention(engine, "attention_wgmma", {4, 2, 500, 700}, size, causal);
      check_attention(engine, "attention_wgmma", {4, 2, 500, 700}, size, causal, {{"LSE", 1}, {"PINGPONG", 0}});
    }
  }
  for (const bool causal : {false, true}) {
    check_attention(engine, "attention_wgmma", {300, 100, 333, 333}, 64, causal, {{"PERSISTENT", 1}, {"TILES", 2}});
    check_attention(engine, "attention_wgmma", {4, 4, 600, 900}, 64, causal, {{"SLACK", 8}, {"POLYNOMIAL", 4}});
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

}  // namespace tma_jit
