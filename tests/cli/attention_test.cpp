// Attention on the emulator: masks, scores and sinks, operands of 8 bits, and sequences of different lengths.
#include <array>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "attention_data.h"
#include "launches.h"
#include "support/combinations.h"

using namespace tma_jit::cli::launches;

namespace tma_jit::cli {

TEST_CASE("attention takes masks and scores, also of queries that see no keys, by every file") {
  if (!has_compiler() || !kHasEmulator) return;
  const std::vector<std::pair<const char*, const char*>> files = {{"attention_wgmma", "emulator:sm_90a"},
                                                                  {"attention_wgmma", kTwoProcessors},
                                                                  {"attention_tcgen05", "emulator:sm_100a"},
                                                                  {"attention_mma", "emulator:sm_121a"},
                                                                  {"attention_mma_cp_async", "emulator:sm_80"}};
  std::size_t first = 0;
  for (const auto& [file, device] : files) {
    std::size_t cell = first++;
    const auto passes = [&](const char* queries, const char* keys, std::vector<std::string> words) {
      if (!testing::takes(cell++)) return;
      words.insert(words.begin(), {"attention", "--device", device, "--template-file", file, "HEADS=2", "KV_HEADS=1",
                                   queries, keys, "HD=64", "LSE=1"});
      check_passes(words);
    };
    passes("M=70", "N=700", {"--hook", "mask=k < 70 || q - k < 100"});
    passes("M=64", "N=1000", {"--hook", "mask=(q - k) % 300 == 0"});
    passes("M=150", "N=70", {"--hook", "mask=k <= q", "--hook", "score=s - 0.05f * (q - k)"});
    passes("M=40", "N=0", {"--hook", "mask=k <= q"});
    passes("M=40", "N=200", {"--hook", "mask=0"});
    passes("M=70", "N=200", {"CAUSAL=1", "--operand", "first : s32[N]", "--hook", "mask=k >= first[q]"});
    passes("M=70", "N=200", {"--hook", "mask=const int x = q - k; return x >= 0 && x < 40;"});
    passes("M=150", "N=90", {"CAUSAL=1", "--hook", "mask=q - k < 40", "--hook", "score=s - 0.05f * (q - k)"});
    passes("M=70", "N=200",
           {"--operand", "few : f32[150]", "--operand", "none : f32[0]", "--hook", "score=s + few[k] + none[q]"});
    passes("M=70", "N=200", {"--scalar", "scale=-0.2", "--hook", "score=20 * tanh(s / 20)"});
  }
}

TEST_CASE("tiles that have too few keys for a block's copies are refused") {
  const auto refused = [](std::vector<std::string> words) {
    words.insert(words.begin(), "plan");
    words.insert(words.end(), {"HEADS=1", "KV_HEADS=1", "M=15", "HD=96", "BM=128", "BN=32", "--arch", "sm_80"});
    const CommandResult result = run_command(words);
    CHECK(result.exit == 1);
    CHECK(result.err.find("a copy of a panel takes all threads") != std::string::npos);
  };
  refused({"attention", "N=15"});
  refused({"attention_ragged", "BATCH=1", "N=15", "LONGEST=15"});
  refused({"attention_paged", "BATCH=1", "LONGEST=15", "P=1", "SIZE=8", "MAX_PAGES=9"});
}

TEST_CASE("sequences of different lengths have attention of their own keys, by every file") {
  if (!has_compiler() || !kHasEmulator) return;
  const std::string queries = numbers("queries.npy", {0, 70, 70, 71, 135, 268});
  const std::string keys = numbers("keys.npy", {0, 70, 75, 75, 139, 339});
  const std::vector<std::pair<const char*, const char*>> files = {{"attention_ragged_wgmma", "emulator:sm_90a"},
                                                                  {"attention_ragged_wgmma", kTwoProcessors},
                                                                  {"attention_ragged_mma_cp_async", "emulator:sm_80"}};
  std::size_t first = 0;
  for (const auto& [file, device] : files) {
    std::size_t cell = first++;
    const auto passes = [&](std::vector<std::string> words) {
      if (!testing::takes(cell++)) return;
      words.insert(words.begin(),
                   {"attention_ragged", "--device", device, "--template-file", file, "BATCH=5", "HEADS=2", "KV_HEADS=1",
                    "M=280", "N=350", "LONGEST=133", "HD=64", "LSE=1", "--in", "CU=" + queries, "--in", "CUK=" + keys});
      check_passes(words);
    };
    passes({});
    passes({"CAUSAL=1"});
    passes({"--hook", "mask=abs(q - k) < 40", "--hook", "score=s - 0.1f * head"});
    if (file == std::string("attention_ragged_wgmma")) passes({"VD=32", "CAUSAL=1"});
    check_passes({"attention_ragged", "--device", device, "--template-file", file, "BATCH=0", "HEADS=2", "KV_HEADS=1",
                  "M=10", "N=10", "LONGEST=10"});
  }
}

TEST_CASE("a sink takes weight from keys, in every attention kernel, also where there are no keys") {
  if (!has_compiler() || !kHasEmulator) return;
  const std::vector<std::pair<const char*, const char*>> files = {{"attention_wgmma", "emulator:sm_90a"},
                                                                  {"attention_wgmma", kTwoProcessors},
                                                                  {"attention_tcgen05", "emulator:sm_100a"},
                                                                  {"attention_mma", "emulator:sm_121a"},
                                                                  {"attention_mma_cp_async", "emulator:sm_80"}};
  std::size_t first = 0;
  for (const auto& [file, device] : files) {
    std::size_t cell = first++;
    for (const char* keys : {"N=0", "N=200"})
      if (testing::takes(cell++))
        check_passes({"attention", kDevice, device, "--template-file", file, "HEADS=4", "KV_HEADS=2", "M=70", keys,
                      "HD=64", "LSE=1", "SINKS=1", "SINK_HEADS=2", "CAUSAL=1"});
  }
  check_passes({"attention_decode", kDevice, kEmulator, "B=2", "TOKENS=1", "HEADS=4", "KV_HEADS=2", "N=300", "LSE=1",
                "SINKS=1"});
  check_passes(
      {"attention_decode", kDevice, kEmulator, "B=2", "TOKENS=1", "HEADS=4", "KV_HEADS=2", "N=0", "LSE=1", "SINKS=1"});
}

TEST_CASE("attention by mma.sync has heads of every size, and values of another length than keys") {
  if (!has_compiler() || !kHasEmulator) return;
  std::size_t first = 0;
  for (const char* file : {"attention_mma", "attention_mma_cp_async"}) {
    std::size_t cell = first++;
    const auto passes = [&](std::vector<std::string> words) {
      if (!testing::takes(cell++)) return;
      words.insert(words.begin(), {"attention", kDevice, "emulator:sm_121a", "--template-file", file, "HEADS=2",
                                   "KV_HEADS=1", "M=70", "N=100", "LSE=1"});
      check_passes(words);
    };
    for (const char* size : {"HD=32", "HD=96", "HD=192", "HD=256"}) passes({size});
    passes({"HD=192", "VD=128"});
    passes({"HD=128", "VD=96", "CAUSAL=1"});
  }
}

TEST_CASE("attention takes queries, keys and values of 8 bits with scales of heads") {
  if (!has_compiler() || !kHasEmulator) return;
  const auto passes = [](const std::vector<std::string>& more) {
    for (const char* device : {kEmulator, kTwoProcessors}) {
      std::vector<std::string> words = {"attention", kDevice, device, "T=e4m3", "HEADS=4", "KV_HEADS=2", "LSE=1"};
      words.insert(words.end(), more.begin(), more.end());
      check_passes(words);
    }
  };
  passes({"M=77", "N=301", "HD=128"});
  passes({"M=300", "N=301", "HD=128", "CAUSAL=1", "PERSISTENT=1", "R=f16"});
  passes({"M=77", "N=301", "HD=64", "SCALED=1", "SINKS=1", "SINK_HEADS=4"});
  passes({"M=40", "N=200", "HD=256", "--hook", "mask=k <= q", "--hook", "score=s * 0.5f"});
  passes({"M=40", "N=200", "HD=64", "--scalar", "scale=-0.1"});
  passes({"M=40", "N=0", "HD=128"});
  passes({"M=77", "N=130", "HD=256", "SCALED=1"});
  passes({"M=300", "N=300", "HD=64", "PERSISTENT=1", "TILES=2", "--hook", "mask=k <= q && q - k < 100"});
  passes({"M=40", "N=200", "HD=64", "VD=192"});
  // The slot of a block's only tile is published again, as the end, once each warp has read what it needs.
  passes({"M=300", "N=300", "HD=64", "BM=64", "BN=128", "PERSISTENT=0", "--hook", "mask=k <= q && q - k < 70"});
}

TEST_CASE("scores are capped by softcap alone, or by it and more, with a cap of all scores or of a head") {
  if (!has_compiler() || !kHasEmulator) return;
  std::size_t cell = 0;
  const auto passes = [&](const char* device, std::vector<std::string> words) {
    if (!testing::takes(cell++)) return;
    words.insert(words.begin(), {"attention", kDevice, device, "HEADS=4", "KV_HEADS=2", "M=70", "N=150", "LSE=1",
                                 "--operand", "cap : f32 = 2", "--operand", "caps : f32[4]"});
    check_passes(words);
  };
  for (const char* score : {"score=softcap(s, cap)", "score=softcap_approx(s, cap)"}) {
    passes("emulator:sm_100a", {"HD=128", "--hook", score});
    passes(kEmulator, {"HD=128", "CAUSAL=1", "--hook", score, "--scalar", "scale=-3"});
    passes("emulator:sm_121a", {"HD=64", "--hook", score, "--hook", "mask=k <= q"});
    passes(kEmulator, {"HD=64", "--hook", score, "--hook", "mask=abs(q - k) < 40"});
    passes(kEmulator, {"HD=128", "--hook", score, "SINKS=1", "SINK_HEADS=4", "T=f16"});
    passes(kEmulator, {"HD=128", "--hook", score, "T=e4m3"});
  }
  for (const char* score : {"score=softcap(s, -3)", "score=softcap(s, 1 + caps[head])", "score=2 * softcap(s, cap)",
                            "score=return softcap(s, cap);", "score=softcap(s, cap) - 0.1f * (q - k)"})
    for (const char* device : {kEmulator, "emulator:sm_100a"}) passes(device, {"HD=64", "--hook", score});
}

TEST_CASE("values of 8 bits are transposed once by all blocks, whatever their order, and as often as a block does it") {
  if (!has_compiler() || !kHasEmulator) return;
  std::size_t cell = 0;
  for (const char* policy : {":policy=lazy,seed=6", ":policy=eager,seed=2", ":policy=random,seed=3", ":processors=1"}) {
    const auto passes = [&](std::vector<std::string> words) {
      if (!testing::takes(cell++)) return;
      words.insert(words.begin(), {"attention", kDevice, std::string(kEmulator) + policy, "T=e4m3", "HEADS=4",
                                   "KV_HEADS=2", "LSE=1", "PERSISTENT=1", "TRANSPOSE_ONCE=1"});
      check_passes(words);
    };
    passes({"M=260", "N=900", "HD=128", "BM=128", "BN=192", "TILES=2", "STAGES=3"});
    passes({"M=260", "N=500", "HD=128", "CAUSAL=1", "BM=128", "BN=96", "VD=64"});
    passes({"M=260", "N=900", "HD=128", "BM=128", "BN=256", "TILES=2"});
    passes({"M=300", "N=330", "HD=128", "CAUSAL=1", "BM=128", "BN=256", "TILES=1"});
    passes({"M=300", "N=500", "HD=128", "CAUSAL=1", "BM=128", "BN=224", "TILES=2"});
    passes({"M=300", "N=310", "HD=64", "CAUSAL=1", "BM=192", "BN=160", "SCALED=1", "TILES=2"});
    passes({"M=200", "N=150", "HD=256", "BM=128", "BN=96", "TILES=2"});
    passes({"M=130", "N=0", "HD=128"});
  }
  const CommandResult result = run_command({"plan", "attention", "T=e4m3", "HEADS=2", "KV_HEADS=1", "M=40", "N=200",
                                            "HD=128", "TRANSPOSE_ONCE=1", "--hook", "mask=k <= q", "--arch", "sm_90a"});
  CHECK(result.exit == 1);
  CHECK(result.err.find("under a mask not all values may be needed") != std::string::npos);
}

TEST_CASE("a step of which queries see 1 to 192 columns leaves out whole parts of 64, and no key that is seen") {
  if (!has_compiler() || !kHasEmulator) return;
  std::size_t cell = 0;
  for (const char* keys : {"N=1", "N=64", "N=65", "N=129", "N=193", "N=257"})
    for (const char* queries : {"M=1", "M=200"})
      for (const char* type : {"T=bf16", "T=e4m3"}) {
        if (!testing::takes(cell++)) continue;
        check_passes({"attention", kDevice, kEmulator, type, "HEADS=2", "KV_HEADS=1", "HD=128", keys, queries,
                      "CAUSAL=1", "LSE=1", "BM=128", std::string(type) == "T=e4m3" ? "BN=192" : "BN=128"});
      }
}

TEST_CASE("values of 8 bits that are not whole units of their transposition are refused") {
  const CommandResult result = run_command(
      {"plan", "attention", "T=e4m3", "HEADS=2", "KV_HEADS=1", "M=40", "N=200", "HD=128", "VD=96", "--arch", "sm_90a"});
  CHECK(result.exit == 1);
  CHECK(result.err.find("values are transposed 64 elements at a time") != std::string::npos);
}

TEST_CASE("two blocks of a cluster load keys and values for each other, also where one has no queries") {
  if (!has_compiler() || !kHasEmulator) return;
  const auto passes = [](std::vector<std::string> words) {
    words.insert(words.begin(), {"attention", kDevice, kEmulator, "--template-file", "attention_wgmma", "CLUSTER=2",
                                 "HEADS=2", "KV_HEADS=1", "LSE=1"});
    check_passes(words);
  };
  passes({"M=300", "N=301", "HD=128", "PERSISTENT=1", "TILES=2", "BM=128", "BN=128"});
  passes({"M=70", "N=200", "HD=64", "PERSISTENT=0", "TILES=1", "BM=64", "BN=64"});
  passes({"M=70", "N=0", "HD=64", "BM=64", "BN=64"});
}

TEST_CASE("blocks draw the tiles under a mask, and a warp finds their steps, in any order") {
  if (!has_compiler() || !kHasEmulator) return;
  for (const char* policy : {"random,seed=3", "lazy,seed=7", "starved,seed=4"})
    check_passes({"attention", kDevice, std::string("emulator:sm_90a:policy=") + policy, "--template-file",
                  "attention_wgmma", "HEADS=4", "KV_HEADS=2", "HD=64", "LSE=1", "M=300", "N=300", "--hook",
                  "mask=k <= q && q - k < 100", "PERSISTENT=1", "TILES=2", "BM=128", "BN=64"});
}

TEST_CASE("the steps of a mask that reads operands are found once for all heads, and again where it names the head") {
  if (!has_compiler() || !kHasEmulator) return;
  std::vector<std::int32_t> document(2600);
  for (std::size_t i = 0; i < document.size(); ++i) document[i] = i < 40 ? 0 : i < 300 ? 1 : i < 2500 ? 2 : 3;
  const std::string file = "document=" + raw("documents.bin", document.data(), document.size() * 4);
  std::size_t cell = 0;
  for (const char* policy : {":policy=lazy,seed=6", ":policy=eager,seed=2", ":policy=random,seed=3", ":processors=1"})
    for (const char* mask : {"mask=document[q] == document[k]", "mask=document[q] == document[k] && k > head"}) {
      const char* const type = cell % 3 == 0 ? "T=e4m3" : "T=bf16";
      if (!testing::takes(cell++)) continue;
      check_passes({"attention",
                    kDevice,
                    std::string(kEmulator) + policy,
                    type,
                    "HEADS=2",
                    "KV_HEADS=1",
                    "M=140",
                    "N=2600",
                    "HD=64",
                    "LSE=1",
                    "PERSISTENT=1",
                    "TILES=2",
                    "BM=128",
                    "BN=64",
                    "--operand",
                    "document : s32[N]",
                    "--in",
                    file,
                    "--hook",
                    mask});
    }
}

TEST_CASE("steps that a mask leaves are found from operands of any type, address and part in the tensor") {
  if (!has_compiler() || !kHasEmulator) return;
  std::vector<std::int32_t> wide(300);
  for (std::size_t i = 0; i < wide.size(); ++i) wide[i] = static_cast<std::int32_t>(1 + i / 37);
  const std::vector<std::uint16_t> narrow(wide.begin(), wide.end());
  const std::vector<std::pair<std::string, std::string>> operands = {
      {"document : s32[N]", "document=" + raw("wide.bin", wide.data(), wide.size() * 4)},
      {"document : u16[N]", "document=" + raw("narrow.bin", narrow.data(), narrow.size() * 2)}};
  std::size_t cell = 0;
  for (const char* device : {kEmulator, kTwoProcessors, "emulator:sm_80"}) {
    for (const auto& [operand, file] : operands) {
      for (const char* at : {"", " + 3", " - 70"}) {
        if (!testing::takes(cell++)) continue;
        const std::string mask = fmt::format("mask=document[q{0}] == document[k{0}]", at);
        check_passes({"attention", kDevice, device, "HEADS=2", "KV_HEADS=1", "HD=64", "M=200", "N=300", "--operand",
                      operand, "--in", file, "--hook", mask});
      }
    }
  }
}

TEST_CASE("a mask may be one of its own arguments, and may read a broadcast operand from a negative position on") {
  if (!has_compiler() || !kHasEmulator) return;
  const std::string limit = numbers("limit.npy", {300});
  for (const char* device : {"emulator:sm_90a", "emulator:sm_80"}) {
    const std::vector<std::string> words = {"attention", "--device", device, "HEADS=1", "KV_HEADS=1", "HD=64"};
    const auto passes = [&](std::vector<std::string> more) {
      more.insert(more.begin(), words.begin(), words.end());
      check_passes(more);
    };
    passes({"M=70", "N=100", "--operand", "flag : s32 = 1", "--hook", "mask=flag > 0 ? q : k"});
    passes({"M=500", "N=400", "--operand", "limit : s32[1]", "--in", "limit=" + limit, "--hook", "mask=k < limit[q]"});
  }
}

}  // namespace tma_jit::cli
