// What attention by wgmma computes and reads for each score, whatever its hooks, and that its masks fit in registers.
// Needs NVRTC.
#include <doctest/doctest.h>

#include <tma_jit/engine.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "support/shared_cache.h"

namespace tma_jit {
namespace {

Options options() {
  Options made;
  made.device = Device::known("h200");
  made.use_cache = testing::has_shared_cache();
  return made;
}

Plan planned(Engine& engine, const std::map<std::string, std::string>& hooks, const std::vector<std::string>& operands,
             const std::string& kernel = "attention",
             const std::map<std::string, std::int64_t>& params = {{"HD", 128}, {"CAUSAL", 1}}) {
  Request request;
  request.kernel = kernel;
  request.file = kernel + "_wgmma";
  request.dims = {{"HEADS", 16}, {"KV_HEADS", 16}, {"M", 8192}, {"N", 8192}};
  request.params = params;
  request.hooks = hooks;
  request.operands = operands;
  auto plan = engine.plan(request);
  REQUIRE_MESSAGE(plan, (plan ? "" : plan.error().text()));
  return *std::move(plan);
}

// Returns how many instructions of the kernel's PTX begin with `opcode`.
std::size_t count_of(const Plan& plan, Engine& engine, std::string_view opcode) {
  const auto ptx = engine.build_ptx(plan);
  REQUIRE_MESSAGE(ptx, (ptx ? "" : ptx.error().text()));
  std::size_t count = 0;
  for (std::size_t at = ptx->find(opcode); at != std::string::npos; at = ptx->find(opcode, at + 1)) ++count;
  return count;
}

void check_spills_nothing(Engine& engine, const Plan& plan) {
  const auto cubin = engine.build(plan);
  REQUIRE_MESSAGE(cubin, (cubin ? "" : cubin.error().text()));
  CHECK(cubin->resources.spill_store_bytes == 0);
  CHECK(cubin->resources.spill_load_bytes == 0);
}

}  // namespace

TEST_CASE("softcap divides by its cap once and not for each score, and is scaled with the softmax if it is all") {
  Engine engine(options());
  const std::vector<std::string> cap = {"cap : f32 = 20"};
  const Plan plan = planned(engine, {{"score", "softcap_approx(s, cap)"}}, cap);
  const Plan more = planned(engine, {{"score", "softcap_approx(s, cap) + 1"}}, cap);
  const Plan exact = planned(engine, {{"score", "softcap(s, cap)"}}, cap);
  const std::size_t divisions = count_of(planned(engine, {}, {}), engine, "div.rn.f32");
  for (const Plan* capped : {&plan, &more, &exact}) CHECK(count_of(*capped, engine, "div.rn.f32") == divisions);
  constexpr std::size_t kScores = 64;  // of a thread in a step
  CHECK(count_of(plan, engine, "mul.f32") + kScores <= count_of(more, engine, "mul.f32"));
}

TEST_CASE("a score reads an operand of the head once a step, and converts a distance once for a diagonal") {
  Engine engine(options());
  const Plan plan = planned(engine, {{"score", "s - slope[head] * (q - k)"}}, {"slope : f32[HEADS]"});
  constexpr std::size_t kPlaces =
      3;  // where the kernel computes a step: the first of a tile, in two ways, and the others
  CHECK(count_of(plan, engine, "ld.global.f32") <= kPlaces);
  CHECK(count_of(plan, engine, "cvt.rn.f32.s32") <= kPlaces * (32 + 2));
}

TEST_CASE("a mask reads an operand of the queries once for each row and spills nothing") {
  Engine engine(options());
  const Plan plan = planned(engine, {{"mask", "k >= first[q] && k <= q"}}, {"first : s32[N]"});
  check_spills_nothing(engine, plan);
}

TEST_CASE("a mask of bits reads a word once for its 32 keys, and spills nothing") {
  Engine engine(options());
  const Plan plan = planned(engine, {{"mask", "packed(blocks[0, q / 128, k / 64], bits[0, q, k / 32], k)"}},
                            {"blocks : u8[1, ceil_div(M, 128), ceil_div(N, 64)]", "bits : s32[1, M, ceil_div(N, 32)]"});
  constexpr std::size_t kPlaces = 2, kWords = 2 * 128 / 32;  // of a tile's first step and the others; of a thread
  constexpr std::size_t kTable = 2;                          // of the steps that the mask leaves
  CHECK(count_of(plan, engine, "ld.global.u32") <= kPlaces * kWords + kTable);
  check_spills_nothing(engine, plan);
}

TEST_CASE("gradients under a mask that reads operands spill nothing") {
  Engine engine(options());
  for (const std::int64_t elements : {64, 128, 192}) {
    CAPTURE(elements);
    check_spills_nothing(engine, planned(engine, {{"mask", "k >= first[q] && k <= q"}}, {"first : s32[N]"},
                                         "attention_backward", {{"HD", elements}}));
  }
}

}  // namespace tma_jit
