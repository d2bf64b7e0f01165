// gemm_gated_batched in the files of every architecture against the float64 reference on the emulator, and what it
// refuses.
#include <doctest/doctest.h>

#include "emulated_runs.h"
#include "support/combinations.h"

namespace tma_jit::cli {
namespace {

using Words = std::vector<std::string>;

const std::string kKernel = "gemm_gated_batched ";

// `problem` is the command's words after the kernel's name.
void check_passes(const std::string& device, const std::string& problem, const Words& hooks = {}) {
  emulated::check_passes(device, kKernel + problem, hooks);
}

void check_refused(const std::string& device, const std::string& problem, const char* reason) {
  emulated::check_refused(device, kKernel + problem, reason);
}

struct Configuration {
  const char *device, *words;
};
const Configuration kConfigurations[] = {
    {"sm_90a", "gemm_gated_batched_wgmma BM=128 BN=128 STAGES=4"},
    {"sm_90a:processors=4", "gemm_gated_batched_wgmma BM=128 BN=96 STAGES=4 CLUSTER=2 PINGPONG=1"},
    {"sm_90a", "gemm_gated_batched_wgmma BM=192 BN=96 STAGES=3 CLUSTER=2 O=e4m3"},
    {"sm_90a", "gemm_gated_batched_wgmma BM=256 BN=64 STAGES=4 O=f32"},
    {"sm_90a:processors=5", "gemm_gated_batched_wgmma BM=64 BN=32 STAGES=3 DYNAMIC=1 T=f16"},
    {"sm_100a:processors=4", "gemm_gated_batched_tcgen05 PAIR=1 BN=64 STAGES=3"},
    {"sm_100a:processors=4", "gemm_gated_batched_tcgen05 PAIR=2 BN=128 STAGES=4"},
    {"sm_100a:processors=6", "gemm_gated_batched_tcgen05 PAIR=2 BN=32 DYNAMIC=1"},
    {"sm_103a", "gemm_gated_batched_tcgen05 PAIR=1 BN=128 STAGES=4 O=e4m3"},
    {"sm_80", "gemm_gated_batched_mma_cp_async"},
    {"sm_89", "gemm_gated_batched_mma_cp_async VEC=8 T=f16"},
    {"sm_121a", "gemm_gated_batched_mma_cp_async O=f32 DYNAMIC=1"},
};

TEST_CASE("batches of gated products, with hooks that know the matrix, in every file") {
  if (!emulated::ready()) return;
  const Words hooks = {"--operand", "scale : f32[BATCH]",
                       "--operand", "rows : f32[M]",
                       "--hook",    "gate=gelu_tanh(g * scale[matrix]) * (x * rows[row]) + g",
                       "--operand", "bias : f32[BATCH, N]",
                       "--operand", "residual : bf16[M, N]",
                       "--hook",    "epilogue=x + bias[matrix, column] + residual[row, column]"};
  std::size_t cell = 0;
  for (const auto& [device, words] : kConfigurations) {
    const std::string file = std::string(" --template-file ") + words;
    check_passes(device, "M=300 N=144 K=136 BATCH=3 A_BATCH=3 B_BATCH=3" + file, hooks);
    if (testing::takes(cell++)) check_passes(device, "M=129 N=83 K=72 BATCH=4 A_BATCH=1 B_BATCH=4" + file, hooks);
    if (testing::takes(cell)) check_passes(device, "M=70 N=208 K=200 BATCH=5 A_BATCH=5 B_BATCH=1" + file, hooks);
    if (testing::takes(cell)) check_passes(device, "M=130 N=152 K=0 BATCH=2 A_BATCH=2 B_BATCH=1" + file, hooks);
  }
}

TEST_CASE("batches of gated products with nothing in them, of one matrix and of one for all") {
  if (!emulated::ready()) return;
  for (const char* device : {"sm_80", "sm_90a", "sm_100a", "sm_121a"}) {
    for (const char* sizes :
         {"M=40 N=48 K=64 BATCH=0 A_BATCH=0 B_BATCH=0", "M=40 N=48 K=64 BATCH=0 A_BATCH=1 B_BATCH=1",
          "M=0 N=48 K=64 BATCH=2 A_BATCH=2 B_BATCH=2", "M=40 N=0 K=64 BATCH=2 A_BATCH=2 B_BATCH=2",
          "M=40 N=48 K=64 BATCH=1 A_BATCH=1 B_BATCH=1", "M=1 N=9 K=8 BATCH=9 A_BATCH=1 B_BATCH=1"})
      check_passes(device, sizes);
  }
}

TEST_CASE("batches of gated products of rows that are not aligned") {
  if (!emulated::ready()) return;
  for (const char* device : {"sm_80", "sm_90a", "sm_100a", "sm_121a"}) {
    for (const char* words :
         {"N=81 K=97", "N=67 K=75 --pitch A=78 --pitch G=76 --pitch B=80", "N=65 K=33 O=f32 DYNAMIC=1"})
      check_passes(device, std::string("M=77 BATCH=3 A_BATCH=1 B_BATCH=3 ") + words);
  }
}

TEST_CASE("batches of gated products of 8-bit types, with scales of each matrix") {
  if (!emulated::ready()) return;
  const Words scales = {"--operand", "a_scale : f32[1]",
                        "--operand", "b_scale : f32[BATCH]",
                        "--hook",    "gate=silu(g * (a_scale[0] * b_scale[matrix])) * (x * b_scale[matrix])"};
  const Configuration files[] = {{"sm_90a", "gemm_gated_batched_wgmma BM=128 BN=128 STAGES=4 CLUSTER=2"},
                                 {"sm_90a", "gemm_gated_batched_wgmma BM=64 BN=64 STAGES=4"},
                                 {"sm_100a", "gemm_gated_batched_tcgen05 PAIR=2 BN=128 STAGES=4"},
                                 {"sm_90a", "gemm_gated_batched_mma_cp_async"},
                                 {"sm_89", "gemm_gated_batched_mma_cp_async VEC=4"}};
  std::size_t first = 0;
  for (const auto& [device, words] : files) {
    std::size_t cell = first++;
    for (const char* types : {"T=e4m3 O=e4m3", "T=e5m2 U=e4m3", "T=s8 O=f32", "T=s8 O=s8"})
      if (testing::takes(cell++))
        check_passes(device,
                     std::string("M=140 N=80 K=464 BATCH=2 A_BATCH=2 B_BATCH=2 ") + types + " --template-file " + words,
                     scales);
  }
  check_passes("sm_90a", "M=140 N=80 K=528 BATCH=2 A_BATCH=1 B_BATCH=2 T=e4m3 FAST=1");
}

TEST_CASE("batches of gated products under every policy") {
  if (!emulated::ready()) return;
  for (const char* policy : {"lazy", "random", "split", "starved"}) {
    for (const auto& [device, words] :
         {Configuration{"sm_90a", "gemm_gated_batched_wgmma BM=64 BN=32 STAGES=2 CLUSTER=2"},
          Configuration{"sm_90a", "gemm_gated_batched_wgmma BM=128 BN=32 STAGES=2 PINGPONG=1 DYNAMIC=1"},
          Configuration{"sm_100a", "gemm_gated_batched_tcgen05 PAIR=1 BN=32 STAGES=2 DYNAMIC=1"},
          Configuration{"sm_100a", "gemm_gated_batched_tcgen05 PAIR=2 BN=32 STAGES=2"},
          Configuration{"sm_121a", "gemm_gated_batched_mma_cp_async"}}) {
      for (const char* seed : {"3", "29"})
        check_passes(std::string(device) + ":processors=4:policy=" + policy + ",seed=" + seed,
                     std::string("M=260 N=72 K=264 BATCH=3 A_BATCH=1 B_BATCH=3 --template-file ") + words);
    }
  }
}

TEST_CASE("plans of large batches of gated products, and what they refuse") {
  const CommandResult plan = run_command({"plan", "gemm_gated_batched", "M=65536", "N=65536", "K=8192", "BATCH=64",
                                          "A_BATCH=64", "B_BATCH=64", "--device", "h200", "--json"});
  CAPTURE(plan.err);
  REQUIRE(plan.exit == 0);  // of 2^38 results and 2^35 elements of A
  const CommandResult few = run_command({"plan", "gemm_gated_batched", "M=64", "N=14336", "K=4096", "BATCH=8",
                                         "A_BATCH=8", "B_BATCH=8", "--device", "h200", "--json"});
  REQUIRE(few.exit == 0);
  CHECK(few.json()["config"]["BM"] == 64);  // however many tiles the batch has, half of one of 128 rows would be empty
  if (!emulated::ready()) return;
  check_refused("sm_90a", "M=7 N=8 K=16 BATCH=3 A_BATCH=2 B_BATCH=3", "each product has its own matrix of A");
  check_refused("sm_90a", "M=7 N=8 K=16 BATCH=3 A_BATCH=3 B_BATCH=2", "each product has its own matrices of B and G");
  check_refused("sm_90a", "M=7 N=8 K=16 BATCH=3 A_BATCH=3 B_BATCH=3 T=f16 U=bf16",
                "A, B and G have elements of one type");
  check_refused("sm_90a", "M=2147483647 N=2147483647 K=16 BATCH=1 A_BATCH=1 B_BATCH=1", "tiles are counted in 32 bits");
  check_refused("sm_90a", "M=7 N=8 K=16 BATCH=1 A_BATCH=1 B_BATCH=1 AMAX=1", "AMAX");
  check_refused("sm_90a", "M=300 N=80 K=16 BATCH=2 A_BATCH=2 B_BATCH=2 CLUSTER=2 DYNAMIC=1",
                "a block draws its tiles for itself");
}

}  // namespace
}  // namespace tma_jit::cli
