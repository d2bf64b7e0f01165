// Effectiveness of the checks: kernels of the repository with one synchronising instruction removed or weakened, of
// which at least 95 in 100 must be reported, by a fault or a warning, within five seeds of every policy. Mutants that
// provably are equivalent (mutation_equivalence.cpp) do not count, nor do instructions that are never executed. The
// test uses a sample of few kernels, on all processors; TMA_JIT_MUTATION=full uses every kernel and probe,
// TMA_JIT_MUTATION=FILE those of one template, TMA_JIT_MUTATION=layer up to six mutations of each kind of small
// problems whose kernels use templates/device/pipeline, reduce and schedule, of which 97 in 100 must be reported; all
// print a table. Needs NVRTC.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>

#include "emulator/driver/table.h"
#include "emulator/mutation.h"
#include "emulator/processes.h"
#include "emulator/replay.h"
#include "gpu/agreement.h"

#include <doctest/doctest.h>

namespace tma_jit {
namespace {

using emulator::Policy;
using testing::Mutation;

constexpr int kSeeds = 5;
constexpr int kProcessors = 4;
constexpr Policy kPolicies[] = {Policy::random, Policy::lazy, Policy::eager, Policy::split, Policy::starved};

struct Count {
  int reported = 0, survived = 0, equivalent = 0;
};

struct Score {
  std::map<std::string, Count> by_family;
  std::vector<std::string> survivors;
  Count total() const {
    Count sum;
    for (const auto& [family, count] : by_family) {
      sum.reported += count.reported;
      sum.survived += count.survived;
      sum.equivalent += count.equivalent;
    }
    return sum;
  }
};

bool is_reported(testing::Replay& replay, const emulator::Program& program, bool& same) {
  for (int seed = 1; seed <= kSeeds; ++seed) {
    for (const Policy policy : kPolicies) {
      const auto result = replay.run(testing::bounded(policy, static_cast<std::uint64_t>(seed)), program);
      if (result.reported()) return true;
      same = same && result.same;
    }
  }
  return false;
}

// Selects at most `most` mutations of one family and kind, with a fixed seed.
std::vector<Mutation> sample(const emulator::Program& program, std::vector<Mutation> all, std::size_t most) {
  std::mt19937 generator(1);
  std::shuffle(all.begin(), all.end(), generator);
  std::map<std::string, std::size_t> taken;
  std::vector<Mutation> chosen;
  for (const Mutation& mutation : all) {
    const std::string key = testing::family_of(program, mutation) + std::string(testing::name_of(mutation.change));
    if (taken[key]++ < most) chosen.push_back(mutation);
  }
  return chosen;
}

enum class Verdict : std::uint8_t { reported, equivalent, survived, survived_and_wrong };

Verdict judge(testing::Replay& replay, const Mutation& mutation) {
  const emulator::Program& program = replay.program();
  bool same = true;
  if (is_reported(replay, testing::mutated(program, mutation), same)) return Verdict::reported;
  if (!same) return Verdict::survived_and_wrong;
  return testing::equivalence_of(program, mutation).empty() ? Verdict::survived : Verdict::equivalent;
}

void add(const testing::Replay& replay, const Mutation& mutation, Verdict verdict, Score& score) {
  const emulator::Program& program = replay.program();
  Count& count = score.by_family[testing::family_of(program, mutation)];
  switch (verdict) {
    case Verdict::reported: ++count.reported; return;
    case Verdict::equivalent: ++count.equivalent; return;
    default: break;
  }
  ++count.survived;
  score.survivors.push_back(replay.name() + ": " + testing::describe(program, mutation) +
                            (verdict == Verdict::survived_and_wrong ? "  -- AND THE OUTPUT IS WRONG" : ""));
}

void mutate(const std::string& arch, Engine& engine, const Request& request, std::size_t most, Score& score) {
  testing::Replay replay(engine, arch, request);
  REQUIRE_MESSAGE(replay.fault().empty(), replay.name() << ": " << replay.fault());
  const emulator::Program& program = replay.program();
  const std::vector<Mutation> all = testing::mutations_of(program);
  const testing::Coverage coverage(program, all);
  for (const Policy policy : kPolicies) {
    const auto clean = replay.run(testing::bounded(policy, 1), coverage.program());
    REQUIRE_MESSAGE(!clean.reported(),
                    replay.name() << ": " << clean.report << (clean.warnings.empty() ? "" : clean.warnings.front()));
  }
  std::vector<Mutation> chosen = sample(program, all, most);
  std::erase_if(chosen, [&](const Mutation& mutation) { return !coverage.executed(mutation.op); });
  const auto verdicts = testing::in_processes(
      chosen.size(), [&](std::size_t i) { return static_cast<std::uint8_t>(judge(replay, chosen[i])); });
  for (std::size_t i = 0; i < chosen.size(); ++i) add(replay, chosen[i], static_cast<Verdict>(verdicts[i]), score);
}

void print(const Score& score) {
  std::string text = "| instruction | mutants | reported | equivalent | survived |\n|---|---:|---:|---:|---:|\n";
  const auto row = [&text](const std::string& name, const Count& c) {
    text += fmt::format("| {} | {} | {} | {} | {} |\n", name, c.reported + c.survived + c.equivalent, c.reported,
                        c.equivalent, c.survived);
  };
  for (const auto& [family, count] : score.by_family) row(family, count);
  row("all", score.total());
  for (const std::string& survivor : score.survivors) text += "survived: " + survivor + "\n";
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

void check(const Score& score, int percent = 95) {
  print(score);
  const Count total = score.total();
  CHECK(total.reported > 0);
  CHECK(total.reported * 100 >= percent * (total.reported + total.survived));
}

// Problem sizes with which blocks wrap around their rings and process several tiles.
Request enlarged(Request request) {
  if (request.kernel == "gemm") {
    for (const auto& [dim, extent] :
         std::initializer_list<std::pair<const char*, std::int64_t>>{{"M", 520}, {"N", 264}, {"K", 656}}) {
      request.dims[dim] = extent;
    }
  }
  return request;
}

// Every kernel and probe with the first of its types. TMA_JIT_SHARD=I/N selects each N-th, from the I-th on. Excludes
// the probe whose barrier is meant to lose arrivals and which shows how that is detected.
void mutate_all(std::string_view form, Score& score) {
  int index = 0, shard = 0, shards = 1;
  if (const char* part = std::getenv("TMA_JIT_SHARD"); part != nullptr) std::sscanf(part, "%d/%d", &shard, &shards);
  for (const std::string arch : {"sm_90a", "sm_100a", "sm_121a"}) {
    Engine engine = testing::recording_engine(arch, kProcessors);
    std::map<std::string, std::map<std::string, DType>> first;
    for (const Request& request : testing::small_presets(engine, arch, {.every_type = false})) {
      if (first.try_emplace(request.file, request.types).first->second != request.types) continue;
      if (form == "full" ? request.file == "mbarrier_lost" : request.file != form) continue;
      if (index++ % shards == shard) mutate(arch, engine, enlarged(request), SIZE_MAX, score);
    }
  }
}

Request gemm(const char* file, std::map<std::string, std::int64_t> params) {
  return {.kernel = "gemm", .dims = {{"M", 400}, {"N", 200}, {"K", 520}}, .params = std::move(params), .file = file};
}

// With rings that wrap and, where blocks are persistent, five tiles of each, which use the places of queries twice.
Request attention(const char* file, std::map<std::string, std::string> hooks = {}) {
  const bool persistent = std::string_view(file) == "attention_wgmma";
  Request request = {.kernel = "attention",
                     .dims = {{"HEADS", persistent ? 10 : 2}, {"KV_HEADS", 1}, {"M", 140}, {"N", 300}},
                     .params = {{"HD", 64}, {"BN", 64}, {"STAGES", 2}},
                     .hooks = std::move(hooks),
                     .file = file};
  if (persistent) request.params.insert({{"BM", 128}, {"TILES", 2}, {"PERSISTENT", 1}});
  return request;
}

struct Case {
  const char* arch;
  Request request;
};

void mutate(const Case& each, std::size_t most, Score& score) {
  Engine engine = testing::recording_engine(each.arch, kProcessors);
  mutate(each.arch, engine, each.request, most, score);
}

const Case kSample[] = {
    {"sm_90a", gemm("gemm_wgmma", {{"BM", 64}, {"BN", 64}, {"STAGES", 3}})},
    {"sm_90a", gemm("gemm_wgmma", {{"BM", 64}, {"BN", 64}, {"STAGES", 2}, {"CLUSTER", 2}})},
    {"sm_100a", gemm("gemm_tcgen05", {{"BN", 64}, {"STAGES", 2}, {"PAIR", 1}})},
    {"sm_100a", gemm("gemm_tcgen05", {{"BN", 64}, {"STAGES", 2}, {"PAIR", 2}})},
    {"sm_121a", gemm("gemm_mma", {{"BM", 64}, {"BN", 64}, {"WM", 32}, {"WN", 32}, {"STAGES", 3}})},
    {"sm_121a", {.kernel = "copy", .dims = {{"M", 70}, {"N", 264}}, .file = "copy_tiled"}},
};

// Kernels that synchronise by templates/device/pipeline, reduce and schedule in the ways in which the sample does not.
const Case kLayer[] = {
    {"sm_90a", {.kernel = "softmax", .dims = {{"M", 3}, {"N", 300}}, .params = {{"LANES", 128}, {"PACKS", 1}}}},
    {"sm_90a",
     {.kernel = "softmax", .dims = {{"M", 3}, {"N", 1000}}, .params = {{"LANES", 128}, {"CLUSTER", 4}, {"PACKS", 1}}}},
    {"sm_90a",
     {.kernel = "layer_norm_backward",
      .dims = {{"M", 70}, {"N", 64}},
      .params = {{"THREADS", 128}, {"LANES", 128}, {"PACKS", 1}, {"BLOCKS", 8}}}},
    {"sm_90a", {.kernel = "reduce", .dims = {{"M", 2}, {"K", 9000}, {"N", 1}}, .params = {{"LANES", 128}}}},
    {"sm_90a", {.kernel = "reduce", .dims = {{"M", 1}, {"K", 2000}, {"N", 8}}, .file = "reduce_columns"}},
    {"sm_90a", {.kernel = "top_k", .dims = {{"M", 1}, {"N", 6000}, {"K", 5}}, .params = {{"THREADS", 128}}}},
    {"sm_90a", {.kernel = "scan", .dims = {{"M", 3}, {"N", 900}}, .params = {{"LANES", 128}}}},
    {"sm_90a", {.kernel = "scan", .dims = {{"M", 2}, {"N", 9000}}, .file = "scan_tiles"}},
    {"sm_90a",
     {.kernel = "scatter_add",
      .dims = {{"R", 20}, {"N", 8}, {"COUNT", 300}},
      .params = {{"THREADS", 128}, {"LIST", 512}}}},
    {"sm_90a", {.kernel = "sample", .dims = {{"M", 1}, {"N", 1000}}, .params = {{"THREADS", 128}, {"CLUSTER", 4}}}},
    {"sm_90a",
     {.kernel = "im2col",
      .dims = {{"BATCH", 1},
               {"H", 12},
               {"W", 12},
               {"C", 16},
               {"R", 2},
               {"S", 2},
               {"STRIDE_H", 1},
               {"STRIDE_W", 1},
               {"DILATION_H", 1},
               {"DILATION_W", 1},
               {"PAD_TOP", 0},
               {"PAD_LEFT", 0},
               {"PAD_BOTTOM", 0},
               {"PAD_RIGHT", 0}}}},
    {"sm_90a", attention("attention_wgmma")},
    {"sm_90a", attention("attention_wgmma", {{"mask", "k <= q"}})},
    {"sm_90a",
     {.kernel = "attention_decode",
      .dims = {{"B", 1}, {"TOKENS", 1}, {"HEADS", 4}, {"KV_HEADS", 1}, {"N", 600}},
      .params = {{"HD", 64}}}},
    {"sm_90a", gemm("gemm_wgmma_split", {{"STAGES", 2}})},
    {"sm_90a", gemm("gemm_mma_cp_async", {})},
    {"sm_100a", attention("attention_tcgen05")},
    {"sm_100a",
     {.kernel = "attention_backward",
      .dims = {{"HEADS", 2}, {"KV_HEADS", 1}, {"M", 140}, {"N", 700}},
      .params = {{"HD", 64}, {"STAGES", 2}, {"RESULTS", 2}},
      .file = "attention_backward_tcgen05"}},
    {"sm_100a", {.kernel = "clusterlaunchcontrol"}},
    {"sm_121a", attention("attention_mma")},
    {"sm_121a", attention("attention_mma", {{"mask", "k <= q"}})},
    {"sm_121a", {.kernel = "schedules", .params = {{"KIND", 4}}}},
};

}  // namespace

TEST_SUITE_BEGIN("mutation");

TEST_CASE("kernels with a weakened synchronisation are reported") {
  Score score;
  if (const char* form = std::getenv("TMA_JIT_MUTATION"); form != nullptr) {
    if (std::string_view(form) != "layer") {
      mutate_all(form, score);
      return check(score);
    }
    for (const Case& each : kSample) mutate(each, 6, score);
    for (const Case& each : kLayer) mutate(each, 6, score);
    return check(score, 97);
  }
  for (const Case& each : kSample) mutate(each, 2, score);
  check(score);
}

TEST_SUITE_END();

}  // namespace tma_jit
