// Attention by every file against its float64 reference: plain and causal, whole and ragged, more and fewer keys than
// queries.
#include <doctest/doctest.h>
#include <fmt/ranges.h>

#include <tma_jit/tma_jit.h>

#include "gpu/trial_check.h"

namespace tma_jit {
namespace {

struct Shape {
  std::int64_t heads, kv_heads, queries, keys;
};

void check_attention(Engine& engine, const std::string& file, const Shape& shape, std::int64_t size, bool causal) {
  const Request request{
      .kernel = "attention",
      .dims = {{"HEADS", shape.heads}, {"KV_HEADS", shape.kv_heads}, {"M", shape.queries}, {"N", shape.keys}},
      .types = {},
      .params = {{"HD", size}, {"CAUSAL", causal ? 1 : 0}},
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

}  // namespace tma_jit
