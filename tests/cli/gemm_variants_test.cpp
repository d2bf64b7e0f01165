// gemm's types, layouts, batches, schedules and extra results, in the files of every architecture, against the float64
// reference on the emulator; and what it refuses.
#include <doctest/doctest.h>

#include "emulated_runs.h"
#include "support/combinations.h"

using namespace tma_jit::cli::emulated;

namespace tma_jit::cli {
namespace {

const std::vector<std::string> kBias = {"--operand", "bias : f32[N]", "--hook", "epilogue=x + bias[column]"};

TEST_CASE("A and B have the two kinds of 8-bit floats, in either order, in every file") {
  if (!ready()) return;
  const std::pair<const char*, const char*> files[] = {
      {"sm_90a", "gemm_wgmma"}, {"sm_90a", "gemm_wgmma_split"},    {"sm_100a", "gemm_tcgen05"},
      {"sm_121a", "gemm_mma"},  {"sm_100a", "gemm_tcgen05_split"}, {"sm_89", "gemm_mma_cp_async"},
      {"sm_90a", "gemm_mma"}};
  std::size_t first = 0;
  for (const auto& [device, file] : files) {
    std::size_t cell = first++;
    for (const char* types : {"T=e4m3 U=e5m2", "T=e5m2 U=e4m3"}) {
      if (testing::takes(cell++))
        check_passes(device, std::string("gemm M=70 N=80 K=208 O=f32 ") + types + " --template-file " + file);
    }
  }
  for (const auto& [device, file] : {std::pair{"sm_90a", "gemm_batched_wgmma"},
                                     {"sm_121a", "gemm_batched_mma"},
                                     {"sm_100a", "gemm_batched_tcgen05"},
                                     {"sm_89", "gemm_batched_mma_cp_async"}})
    check_passes(device, std::string("gemm_batched M=70 N=80 K=96 BATCH=2 A_BATCH=1 B_BATCH=2 T=e4m3 U=e5m2 "
                                     "--template-file ") +
                             file);
  check_refused("sm_90a", "gemm M=70 N=80 K=96 T=f16 U=bf16",
                "A and B have elements of one type, or 8-bit floats of both");
  check_refused("sm_90a", "gemm M=70 N=80 K=96 T=e4m3 U=s8", "A and B have elements of one type");
}

TEST_CASE("batches by tcgen05, and by cp.async where rows are not aligned") {
  if (!ready()) return;
  for (const char* words : {"PAIR=1 BN=96 STAGES=3", "PAIR=2 BN=160 STAGES=2", "PAIR=1 BN=128 TA=1 TB=1", "O=f32 T=f32",
                            "PAIR=2 BN=64 DYNAMIC=1"})
    check_passes("sm_100a", std::string("gemm_batched M=200 N=304 K=104 BATCH=3 A_BATCH=3 B_BATCH=1 "
                                        "--template-file gemm_batched_tcgen05 ") +
                                words);
  for (const char* words : {"N=81 K=97", "N=81 K=97 T=e4m3 O=f32", "N=80 K=97 TA=1", "N=67 K=35 T=f32 O=f32 TB=1",
                            "N=67 K=36 T=f32 O=f32 TERMS=3", "N=65 K=0", "N=65 K=33 T=s8 O=s32 DYNAMIC=1"})
    check_passes("sm_90a", std::string("gemm_batched M=70 BATCH=3 A_BATCH=1 B_BATCH=3 "
                                       "--template-file gemm_batched_mma_cp_async ") +
                               words);
  check_passes("sm_80", "gemm_batched M=70 N=80 K=64 BATCH=5 A_BATCH=5 B_BATCH=5",
               {"--operand", "s : f32[BATCH]", "--hook", "epilogue=x * s[matrix]"});
  check_passes("sm_100a", "gemm_batched M=0 N=80 K=64 BATCH=2 A_BATCH=2 B_BATCH=2");
}

TEST_CASE("two products, of which one gates the other") {
  if (!ready()) return;
  const std::vector<std::string> hooks = {"--hook",    "gate=gelu_tanh(g) * x + g",
                                          "--operand", "residual : bf16[M, N]",
                                          "--operand", "scale : f32[M]",
                                          "--hook",    "epilogue=x * scale[row] + residual[row, column]"};
  std::size_t cell = 0;
  for (const char* words :
       {"BM=128 BN=128 STAGES=4", "BM=128 BN=88 STAGES=5 PINGPONG=1 T=f16 O=f16", "BM=128 BN=96 CLUSTER=2 PINGPONG=1",
        "BM=256 BN=64 STAGES=4 O=f32", "BM=192 BN=96 STAGES=3 CLUSTER=2 O=e4m3", "BM=64 BN=16 STAGES=12"}) {
    const std::string problem = std::string(" --template-file gemm_gated_wgmma --sm-budget 4 ") + words;
    for (const char* sizes : {"gemm_gated M=300 N=304 K=136", "gemm_gated M=257 N=203 K=72 --pitch D=208"}) {
      if (testing::takes(cell++)) check_passes("sm_90a", sizes + problem, hooks);
    }
    check_passes("sm_90a", "gemm_gated M=130 N=152 K=0" + problem);
  }
  for (const char* device : {"sm_80", "sm_89", "sm_100a", "sm_121a"}) {
    for (const char* words : {"gemm_mma_cp_async M=300 N=131 K=200", "gemm_mma_cp_async M=300 N=131 K=200 VEC=8 T=f16",
                              "gemm_mma_cp_async M=300 N=72 K=75 --pitch A=78 --pitch G=76 --pitch B=80",
                              "gemm_mma_cp_async M=300 N=65 K=77 O=e4m3", "gemm_mma_cp_async M=300 N=65 K=0 O=f32",
                              "gemm_few_rows M=1 N=100 K=1000", "gemm_few_rows M=13 N=77 K=200 O=f32",
                              "gemm_few_rows M=16 N=9 K=44 VEC=8 T=f16", "gemm_few_rows M=8 N=8 K=0",
                              "gemm_few_rows M=3 N=50 K=330 VEC=4 --pitch G=332"}) {
      const std::string file = std::string("gemm_gated") + (words + 4);
      if (testing::takes(cell++)) check_passes(device, "gemm_gated --template-file " + file, hooks);
    }
  }
  check_passes("sm_90a", "gemm_gated M=0 N=80 K=64");
  check_passes("sm_90a", "gemm_gated M=70 N=0 K=64");
  check_refused("sm_90a", "gemm_gated M=70 N=80 K=96 T=f16 U=bf16", "A, B and G have elements of one type");
  check_refused("sm_90a", "gemm_gated M=70 N=80 K=96 T=e4m3 U=s8", "or 8-bit floats: B and G of one, A of the other");
}

TEST_CASE("gated products by tcgen05, and their edges") {
  if (!ready()) return;
  const std::vector<std::string> hooks = {"--operand", "rows : f32[M]",
                                          "--operand", "columns : f32[N]",
                                          "--hook",    "gate=silu(g * rows[row]) * (x * columns[column])",
                                          "--operand", "residual : bf16[M, N]",
                                          "--hook",    "epilogue=x + residual[row, column]"};
  const std::pair<const char*, const char*> files[] = {
      {"sm_100a", "gemm_gated_tcgen05 PAIR=1 BN=64"},
      {"sm_100a", "gemm_gated_tcgen05 PAIR=2 BN=128 STAGES=4"},
      {"sm_100a", "gemm_gated_tcgen05 PAIR=2 BN=96 O=f32"},
      {"sm_103a", "gemm_gated_tcgen05 PAIR=1 BN=128 STAGES=4 O=e4m3"},
  };
  std::size_t cell = 0;
  for (const auto& [device, words] : files) {
    const std::string file = std::string(" --template-file ") + words;
    const std::string few = std::string(device) + ":processors=4";
    check_passes(few, "gemm_gated M=300 N=304 K=136" + file, hooks);
    if (testing::takes(cell++)) check_passes(device, "gemm_gated M=257 N=203 K=328 --pitch D=208" + file, hooks);
    if (testing::takes(cell)) check_passes(device, "gemm_gated M=130 N=152 K=0" + file);
  }
  for (const char* policy : {"lazy", "random", "split", "starved"}) {
    for (const char* words :
         {"sm_100a gemm_gated_tcgen05 PAIR=1 BN=32 STAGES=2", "sm_100a gemm_gated_tcgen05 PAIR=2 BN=32 STAGES=2"}) {
      const std::string text = words, device = text.substr(0, 7) + ":processors=4:policy=" + policy;
      check_passes(device, "gemm_gated M=520 N=136 K=264 --template-file" + text.substr(7));
    }
  }
}

TEST_CASE("gated products of 8-bit types, with scales, in every file") {
  if (!ready()) return;
  const std::vector<std::string> scales = {"--operand", "a_scale : f32[1]",
                                           "--operand", "b_scale : f32[1]",
                                           "--hook",    "gate=silu(g * a_scale[0]) * (x * b_scale[0])"};
  const std::pair<const char*, const char*> files[] = {
      {"sm_90a", "gemm_gated_wgmma BM=128 BN=128 STAGES=4"},
      {"sm_90a", "gemm_gated_wgmma BM=128 BN=96 STAGES=4 CLUSTER=2"},
      {"sm_90a", "gemm_gated_wgmma BM=64 BN=64 STAGES=4"},
      {"sm_100a", "gemm_gated_tcgen05 PAIR=2 BN=128 STAGES=4"},
      {"sm_90a", "gemm_gated_mma_cp_async"},
      {"sm_89", "gemm_gated_mma_cp_async VEC=4"},
  };
  std::size_t first = 0;
  for (const auto& [device, words] : files) {
    std::size_t cell = first++;
    for (const char* types : {"T=e4m3 O=e4m3", "T=e5m2 U=e4m3", "T=s8 O=f32", "T=s8 O=s8"})
      if (testing::takes(cell++))
        check_passes(device, std::string("gemm_gated M=140 N=208 K=464 ") + types + " --template-file " + words,
                     scales);
  }
  for (const char* depth : {"0", "112", "528"})
    check_passes("sm_90a",
                 std::string("gemm_gated M=140 N=208 T=e4m3 FAST=1 --template-file gemm_gated_wgmma K=") + depth);
  for (const char* device : {"sm_89", "sm_90a", "sm_121a"})
    check_passes(device, "gemm_gated M=77 N=65 K=77 T=e4m3 O=e4m3");
  check_refused("sm_80", "gemm_gated M=70 N=80 K=96 T=e4m3", "mma.sync multiplies 8-bit floats from sm_89 on");
  check_refused("sm_90a", "gemm_gated M=70 N=80 K=96 T=s8 FAST=1", "only sums of 8-bit floats can be cut short");
  check_refused("sm_103a", "gemm_gated M=70 N=80 K=96 T=s8 --template-file gemm_gated_tcgen05",
                "of sm_100a and sm_103a only the first multiplies s8");
  check_refused("sm_86", "gemm_gated M=7 N=80 K=96 T=e4m3 --template-file gemm_gated_few_rows",
                "mma.sync multiplies 8-bit floats from sm_89 on");
}

TEST_CASE("few rows of 8-bit types, in any alignment") {
  if (!ready()) return;
  const std::vector<std::string> hook = {"--operand", "scale : f32[M]", "--hook", "epilogue=x * scale[row]"};
  std::size_t cell = 0;
  for (const char* device : {"sm_89", "sm_90a", "sm_100a", "sm_121a"}) {
    for (const char* words :
         {"gemm M=1 N=70 K=608 T=e4m3", "gemm M=16 N=40 K=1040 T=e5m2 U=e4m3 CHUNKS=3 BN=32 WARPS=4 O=f32",
          "gemm M=9 N=33 K=1168 T=e4m3 RING=1 STEPS=2 WARPS=4 O=e4m3", "gemm M=3 N=50 K=301 T=e4m3 FAST=1",
          "gemm M=11 N=77 K=33 T=s8 --pitch A=36 --pitch B=40", "gemm M=5 N=31 K=0 T=e5m2",
          "gemm M=5 N=31 K=129 T=s8 O=s8"})
      if (testing::takes(cell++)) check_passes(device, std::string(words) + " --template-file gemm_few_rows", hook);
    for (const char* words :
         {"gemm_gated M=13 N=77 K=208 T=e4m3 O=f32", "gemm_gated M=16 N=9 K=44 VEC=4 T=s8",
          "gemm_gated M=3 N=50 K=331 --pitch A=336 --pitch B=336 --pitch G=352 T=e4m3 U=e5m2 O=e4m3 FAST=1"})
      if (testing::takes(cell++)) check_passes(device, std::string(words) + " --template-file gemm_gated_few_rows");
  }
  check_passes("sm_80", "gemm M=7 N=31 K=129 T=s8 O=s32 S=s32 --template-file gemm_few_rows");
  check_refused("sm_86", "gemm M=7 N=80 K=96 T=e4m3 --template-file gemm_few_rows",
                "mma.sync multiplies 8-bit floats from sm_89 on");
  check_refused("sm_90a", "gemm M=7 N=80 K=96 T=s8 FAST=1 --template-file gemm_few_rows",
                "only sums of 8-bit floats can be cut short");
}

TEST_CASE("tiles of every width, and 8-bit operands along M or N, by tcgen05") {
  if (!ready()) return;
  for (const char* words :
       {"BN=32 PAIR=1", "BN=96 PAIR=1", "BN=160 PAIR=2", "BN=224 PAIR=2 O=e4m3", "BN=192 PAIR=1 O=f32",
        "TA=1 TB=1 T=e4m3 BN=128 PAIR=1", "TA=1 T=e5m2 PAIR=2", "TB=1 T=s8 O=s32 BN=256 PAIR=2"})
    check_passes("sm_100a", std::string("gemm M=300 N=304 K=144 --template-file gemm_tcgen05 ") + words);
}

TEST_CASE("few rows and a divided K by tcgen05") {
  if (!ready()) return;
  for (const char* words :
       {"M=5 BM=16", "M=200 BM=64 CHUNKS=3", "M=70 BM=128 CHUNKS=4 T=f32 O=f32", "M=130 BM=64 TA=1 TB=1",
        "M=130 BM=128 TA=1 TB=1 T=e4m3 CHUNKS=16 O=e4m3", "M=40 BM=32 CHUNKS=16 K=0"}) {
    const std::string k = std::string(words).find("K=0") == std::string::npos ? "K=720 " : "";
    check_passes("sm_100a", "gemm N=304 " + k + "--template-file gemm_tcgen05_split " + words, kBias);
  }
  // Without a bias, which f32 rounds before the result is rounded to an integer, sums of integers are exact.
  check_passes("sm_100a", "gemm N=304 K=720 --template-file gemm_tcgen05_split M=33 BM=32 CHUNKS=2 T=s8 O=s32");
  check_passes("sm_103a", "gemm M=9 N=305 K=4096");
  check_refused("sm_100a", "gemm M=9 N=304 K=720 CHUNKS=2 INVARIANT=1 --template-file gemm_tcgen05_split",
                "a sum over K that is divided has other bits");
}

TEST_CASE("a divided K by mma.sync, summed in one order under every policy") {
  if (!ready()) return;
  std::size_t first = 0;
  for (const char* device : {"sm_121a", "sm_121a:policy=lazy", "sm_121a:policy=random"}) {
    std::size_t cell = first++;
    for (const char* words : {"M=70 CHUNKS=3", "M=130 CHUNKS=16 T=e4m3 U=e5m2", "M=65 T=f32 O=f32 TERMS=3 CHUNKS=4",
                              "M=65 T=s8 O=s32", "M=64 TA=1 TB=1 CHUNKS=2"})
      if (testing::takes(cell++))
        check_passes(device, std::string("gemm N=136 K=1040 --template-file gemm_mma_split ") + words);
  }
  check_passes("sm_121a", "gemm M=77 N=136 K=0 --template-file gemm_mma_split");
  check_refused("sm_121a", "gemm M=70 N=136 K=1040 INVARIANT=1 --template-file gemm_mma_split",
                "a sum over K that is divided has other bits");
}

TEST_CASE("f32 at the accuracy of f32 by tcgen05, by one block and by pairs") {
  if (!ready()) return;
  for (const char* words : {"PAIR=1 BN=64", "PAIR=2 BN=128 STAGES=2", "PAIR=2 BN=64 DYNAMIC=1", "K=0"}) {
    const std::string k = std::string(words) == "K=0" ? "" : "K=200 ";
    check_passes("sm_100a:processors=6",
                 "gemm M=300 N=304 T=f32 O=f32 TERMS=3 --template-file gemm_f32_tcgen05 " + k + words);
  }
  check_refused("sm_100a", "gemm M=30 N=40 K=50 TERMS=3", "only f32 is multiplied in terms of tf32");
}

TEST_CASE("clusters take over the tiles of those that have not begun") {
  if (!ready()) return;
  std::size_t first = 0;
  for (const char* device : {"sm_100a:processors=4", "sm_100a:processors=4:policy=lazy",
                             "sm_100a:processors=4:policy=starved", "sm_100a:processors=4:policy=random"}) {
    std::size_t cell = first++;
    for (const char* words : {"PAIR=1 BN=64", "PAIR=2 BN=64"})
      if (testing::takes(cell++))
        check_passes(device, std::string("gemm M=700 N=504 K=112 DYNAMIC=1 --template-file gemm_tcgen05 ") + words);
  }
}

TEST_CASE("the largest magnitude is that of all results before they are rounded, whichever block is last") {
  if (!ready()) return;
  const std::pair<const char*, const char*> files[] = {
      {"sm_90a", "gemm_wgmma O=e4m3"},
      {"sm_90a", "gemm_wgmma BM=128 BN=128 PINGPONG=1"},
      {"sm_90a:processors=3", "gemm_wgmma BM=64 BN=64 DYNAMIC=1"},
      {"sm_121a", "gemm_mma O=f32"},
      {"sm_80", "gemm_mma_cp_async"},
      {"sm_100a", "gemm_tcgen05 O=e4m3"},
      {"sm_100a:processors=6", "gemm_tcgen05 PAIR=1 DYNAMIC=1 BN=32"},
      {"sm_90a", "gemm_f32_wgmma T=f32 O=f32 TERMS=3"},
      {"sm_100a", "gemm_f32_tcgen05 T=f32 O=f32 TERMS=3"},
      {"sm_90a", "gemm_gated_wgmma O=e4m3"},
      {"sm_90a:processors=4", "gemm_gated_wgmma BM=128 BN=80 PINGPONG=1 CLUSTER=2"},
      {"sm_80", "gemm_gated_mma_cp_async"},
      {"sm_121a", "gemm_gated_mma_cp_async T=e4m3 O=f32"},
      {"sm_100a", "gemm_gated_tcgen05 PAIR=1 BN=64 O=e4m3"},
      {"sm_100a:processors=6", "gemm_gated_tcgen05 PAIR=2 BN=32"},
  };
  for (const auto& [device, words] : files) {
    const std::string kernel = std::string_view(words).starts_with("gemm_gated") ? "gemm_gated" : "gemm";
    check_passes(device, kernel + " M=405 N=136 K=96 AMAX=1 --template-file " + words, kBias);
  }
  check_refused("sm_90a", "gemm_gated M=3 N=136 K=96 AMAX=1 --template-file gemm_gated_few_rows",
                "results of few rows are not compared");
  check_passes("sm_90a", "gemm_gated M=3 N=136 K=96 AMAX=1");
  check_passes("sm_90a", "gemm M=205 N=137 K=97 AMAX=1");
  check_passes("sm_90a", "gemm M=205 N=144 K=96 AMAX=1 T=s8 O=s32");
  check_refused("sm_90a", "gemm M=0 N=80 K=96 AMAX=1", "one of the results is the largest: there must be some");
  check_refused("sm_90a", "gemm M=10 N=80 K=96 AMAX=1 --template-file gemm_wgmma_split",
                "results of tiles that several blocks sum are not compared");
}

TEST_CASE("tiles of 320 and 384 rows, and of as many columns with operands swapped") {
  if (!ready()) return;
  std::size_t cell = 0;
  for (const char* words :
       {"BM=384 BN=96 STAGES=3 CLUSTER=2", "BM=320 BN=80 STAGES=3 PINGPONG=1", "BM=96 BN=384 STAGES=3 SWAP=1 CLUSTER=1",
        "BM=80 BN=320 STAGES=4 SWAP=1 PINGPONG=1", "BM=384 BN=64 STAGES=3 PINGPONG=1 SHARE_N=2 O=f32",
        "BM=384 BN=96 STAGES=3 SHARE_N=4 T=e4m3 FAST=1"})
    if (testing::takes(cell++))
      check_passes("sm_90a", std::string("gemm M=912 N=464 K=272 --sm-budget 4 --template-file gemm_wgmma ") + words);
  const std::string file = " --template-file gemm_wgmma";
  check_refused("sm_90a", "gemm M=400 N=96 K=64 BM=320 BN=64 PINGPONG=0 SWAP=0" + file,
                "PINGPONG = 1 makes such tiles");
  check_refused("sm_90a", "gemm M=400 N=400 K=64 BM=64 BN=320 SWAP=0" + file,
                "wgmma multiplies by 256 columns at most");
}

TEST_CASE("tiles for which wgmma has the registers and the shared memory, and those that it refuses") {
  if (!ready()) return;
  const std::string wide = "gemm M=200 N=248 K=72 --template-file gemm_wgmma CLUSTER=1 ";
  check_passes("sm_90a", wide + "PINGPONG=0 BM=192 BN=200 STAGES=3");
  for (const char* width : {"208", "224", "240"})
    check_refused("sm_90a", wide + "PINGPONG=0 BM=192 STAGES=3 BN=" + width, "accumulators must fit in registers");
  check_passes("sm_90a", wide + "PINGPONG=1 BM=128 BN=176 STAGES=5");  // no room for two tiles of results
  check_passes("sm_90a",
               "gemm M=300 N=328 K=104 --template-file gemm_wgmma BM=192 BN=144 STAGES=3 CLUSTER=1 SHARE_N=2");
  check_passes(
      "sm_90a",
      "gemm M=300 N=328 K=104 --template-file gemm_wgmma BM=128 BN=144 STAGES=3 CLUSTER=2 SHARE_N=2 PINGPONG=1");
  check_refused("sm_90a", "gemm M=304 N=328 K=104 TA=1 --template-file gemm_wgmma SHARE_N=2",
                "a block loads panels of 64 rows of D");
  const std::string split = "gemm M=300 N=136 K=520 --template-file gemm_wgmma_split SPLIT=1 ";
  check_passes("sm_90a",
               split + "BM=256 BN=128 STAGES=2 CHUNKS=1 SHARE_M=1 SHARE_N=1");  // results need most of the ring
  check_passes("sm_90a", split + "BM=192 BN=128 STAGES=5 CHUNKS=2 SHARE_M=1 SHARE_N=1 O=f32");
  check_passes("sm_90a", split + "BM=64 BN=64 STAGES=4 CHUNKS=1 SHARE_M=4 SHARE_N=2");
}

TEST_CASE("tiles that several blocks sum lie along the shorter side of D, whichever it is") {
  if (!ready()) return;
  for (const char* extents : {"M=440 N=136", "M=136 N=440", "M=264 N=264"}) {
    for (const char* params :
         {"BM=88 BN=64 STAGES=3 SPLIT=1 CHUNKS=3 SHARE_M=2 SHARE_N=1",
          "BM=104 BN=64 STAGES=3 SPLIT=1 CHUNKS=1 SHARE_M=1 SHARE_N=1", "BM=64 BN=64 STAGES=3 SPLIT=2 CHUNKS=2"})
      check_passes("sm_90a", std::string("gemm K=328 --template-file gemm_wgmma_split ") + extents + " " + params);
  }
}

TEST_CASE("the first step is loaded before the blocks of a cluster know of each other, the last or the only one too") {
  if (!ready()) return;
  std::size_t first = 0;
  for (const char* depth : {"0", "8", "64", "136"}) {
    std::size_t cell = first++;
    for (const char* words :
         {"gemm_wgmma BM=64 BN=152 STAGES=2 CLUSTER=2", "gemm_wgmma BM=128 BN=104 STAGES=2 CLUSTER=2 SHARE_N=2",
          "gemm_wgmma BM=128 BN=176 STAGES=2 CLUSTER=4 PINGPONG=1", "gemm_wgmma BM=80 BN=128 STAGES=2 CLUSTER=2 SWAP=1",
          "gemm_wgmma BM=128 BN=128 STAGES=2 DYNAMIC=1", "gemm_wgmma_split BM=64 BN=64 STAGES=2 SHARE_M=2 SHARE_N=4",
          "gemm_wgmma_split BM=32 BN=64 STAGES=2 SPLIT=4 CHUNKS=2"})
      if (testing::takes(cell++))
        check_passes("sm_90a", std::string("gemm M=300 N=520 K=") + depth + " --template-file " + words);
  }
}

TEST_CASE("tiles of swapped operands: rows, types, layouts, clusters and schedules") {
  if (!ready()) return;
  const std::string swapped = "gemm --template-file gemm_wgmma SWAP=1 STAGES=3 ";
  for (const char* words : {
           "M=301 N=200 K=200 BM=104 BN=128 PINGPONG=0",
           "M=301 N=203 K=72 BM=152 BN=256 PINGPONG=0 O=f32",     // two blocks of 64 columns a consumer, and single
                                                                  // elements
           "M=130 N=137 K=72 BM=56 BN=128 PINGPONG=1 CLUSTER=1",  // the last rows of a tile are stored by themselves
           "M=301 N=200 K=0 BM=48 BN=64",
           "M=301 N=328 K=200 BM=80 BN=128 CLUSTER=2 SHARE_N=2",
           "M=301 N=200 K=200 BM=72 BN=64 T=f16 INVARIANT=1",
           "M=301 N=200 K=200 BM=64 BN=64 TA=1",
           "M=301 N=200 K=200 BM=104 BN=64 TB=1 CLUSTER=2",
           "M=304 N=200 K=200 BM=128 BN=64 TA=1 TB=1",
           "M=301 N=208 K=208 BM=80 BN=128 T=e4m3 U=e5m2 O=e4m3 PINGPONG=0",
           "M=301 N=200 K=104 BM=88 BN=64 T=f32 O=f32",
           "M=301 N=201 K=96 BM=104 BN=64 AMAX=1",
       })
    check_passes("sm_90a", swapped + words, kBias);
  check_passes("sm_90a", swapped + "M=301 N=208 K=208 BM=96 BN=128 T=s8 O=s32");
  check_passes("sm_90a:processors=5", swapped + "M=700 N=328 K=96 BM=104 BN=64 CLUSTER=1 SHARE_N=1 DYNAMIC=1");
  const std::string one = "N=200 K=200 CLUSTER=1 SHARE_N=1 PINGPONG=0 ", rows = one + "M=301 ";
  check_refused("sm_90a", swapped + rows + "BM=128 BN=80", "BM or, with SWAP, BN is a multiple of 64");
  check_refused("sm_90a", "gemm --template-file gemm_wgmma SWAP=0 BN=128 BM=104 STAGES=3 " + rows,
                "BM or, with SWAP, BN is a multiple of 64");
  check_refused("sm_90a", swapped + one + "M=304 BM=104 BN=128 TA=1", "a block loads panels of 64 rows of D");
}

TEST_CASE("sums of 8-bit floats in whole tiles and in parts of their columns") {
  if (!ready()) return;
  std::size_t first = 0;
  for (const char* words : {"BM=128 BN=128 STAGES=4 CLUSTER=1", "BM=128 BN=192 STAGES=4 CLUSTER=2",
                            "BM=128 BN=256 STAGES=4 CLUSTER=1", "BM=192 BN=128 STAGES=4 CLUSTER=1"}) {
    std::size_t cell = first++;
    for (const char* depth : {"0", "100", "128", "456"})
      if (testing::takes(cell++))
        check_passes("sm_90a", std::string("gemm M=200 N=264 T=e4m3 --template-file gemm_wgmma PINGPONG=0 FAST=0 K=") +
                                   depth + " " + words);
  }
}

TEST_CASE("a budget of SMs on the command line, and what it cannot do") {
  if (!ready()) return;
  const CommandResult result = run_on("sm_90a", "gemm M=700 N=504 K=64 --sm-budget 5");
  REQUIRE(result.exit == 0);
  CHECK(result.json()["check"]["passed"] == true);
  check_refused("sm_90a", "gemm M=700 N=504 K=64 --sm-budget 5 --template-file gemm_wgmma_split",
                "blocks for a budget of 5 SMs");
  check_refused("sm_121a", "gemm M=700 N=504 K=64 DYNAMIC=1 --sm-budget 5", "blocks for a budget of 5 SMs");
}

}  // namespace
}  // namespace tma_jit::cli
