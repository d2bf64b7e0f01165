// Launch geometry within the limits of CUDA and of the device.
#include "planning_fixture.h"

namespace tma_jit::plan {
namespace {

std::string launched(std::string_view launch, std::string_view cluster = "", std::string_view on = "h100") {
  const std::string text =
      fmt::format("//! kernel k\n//! arch sm_90a, sm_121a\n//! dim N in 0..2147483647 : s64\n{}//! launch {}\n",
                  cluster.empty() ? "" : fmt::format("//! cluster {}\n", cluster), launch);
  const Result<Plan> planned = plan(text, {.kernel = "k", .dims = {{"N", 6}}}, on);
  if (!planned.has_value()) return planned.error().detail.substr(planned.error().detail.find("\n  ") + 3);
  const Geometry& g = planned->geometry;
  return fmt::format("{} {} {} / {} {} {} / {} {} {} / {}{}", g.grid[0], g.grid[1], g.grid[2], g.block[0], g.block[1],
                     g.block[2], g.cluster[0], g.cluster[1], g.cluster[2], g.smem_bytes, g.programmatic ? " pdl" : "");
}

}  // namespace

TEST_CASE("grid, block, cluster, shared memory and programmatic launch") {
  CHECK(launched("grid N block 32") == "6 1 1 / 32 1 1 / 1 1 1 / 0");
  CHECK(launched("grid N, 2, 3 block 32, 4, 2 smem 100 * N pdl", "2, 1, 3") == "6 2 3 / 32 4 2 / 2 1 3 / 600 pdl");
  CHECK(launched("grid 2147483647, 65535, 65535 block 1024") == "2147483647 65535 65535 / 1024 1 1 / 1 1 1 / 0");
}

TEST_CASE("a grid of 0 is an empty launch") {
  CHECK(launched("grid N - 6 block 32") == "0 1 1 / 32 1 1 / 1 1 1 / 0");
  CHECK(launched("grid N - 6 block 32", "2") == "0 1 1 / 32 1 1 / 2 1 1 / 0");
}

TEST_CASE("beyond CUDA's limits") {
  CHECK(launched("grid 2147483647 + N block 32") == "grid x = 2147483653 is outside 0..2147483647");
  CHECK(launched("grid 1, 65530 + N block 32") == "grid y = 65536 is outside 0..65535");
  CHECK(launched("grid 1, 1, 65530 + N block 32") == "grid z = 65536 is outside 0..65535");
  CHECK(launched("grid 0 - N block 32") == "grid x = -6 is outside 0..2147483647");
  CHECK(launched("grid 1 block N - 6") == "block x = 0 is outside 1..1024");
  CHECK(launched("grid 1 block 1, 1, 59 + N") == "block z = 65 is outside 1..64");
  CHECK(launched("grid 1 block 512, N") == "a block of 3072 threads; h100 takes 1024");
  CHECK(launched("grid 1 block 32 smem 0 - N") == "-6 bytes of shared memory");
}

TEST_CASE("the launch of a reference is that of its own line") {
  const std::string text =
      "//! kernel k\n//! arch sm_90a\n//! dim N\n//! launch grid 1 block 32\n"
      "//! reference k_reference grid 1 block 2000\n";
  CHECK(refusal(text, {.kernel = "k", .dims = {{"N", 4}}, .reference = true}) ==
        "no_config: k: no configuration satisfies this request\n"
        "  k.cu:5: the only configuration violates  the launch of k_reference\n"
        "    block x = 2000 is outside 1..1024");
}

TEST_CASE("beyond the device's limits") {
  CHECK(launched("grid 1 block 32 smem 232442 + N") == "1 1 1 / 32 1 1 / 1 1 1 / 232448");
  CHECK(launched("grid 1 block 32 smem 232443 + N") == "232449 bytes of shared memory; a block on h100 has 232448");
  CHECK(launched("grid 1 block 32 smem 101370 + N", "", "gb10") == "1 1 1 / 32 1 1 / 1 1 1 / 101376");
  CHECK(launched("grid 1 block 32 smem 102400", "", "gb10") ==
        "102400 bytes of shared memory; a block on gb10 has 101376");
}

TEST_CASE("clusters need no multicast, must divide the grid, and have 16 blocks where a device has such") {
  CHECK(launched("grid N block 32", "2", "gb10") == "6 1 1 / 32 1 1 / 2 1 1 / 0");
  CHECK(launched("grid N block 32", "4") == "grid x = 6 is not a multiple of cluster x = 4");
  CHECK(launched("grid 16, 3 block 32", "1, 2") == "grid y = 3 is not a multiple of cluster y = 2");
  CHECK(launched("grid 17 block 32", "17") == "cluster x = 17 is outside 1..16");
  CHECK(launched("grid 16 block 32", "16") == "16 1 1 / 32 1 1 / 16 1 1 / 0");
  CHECK(launched("grid 16, 16 block 32", "4, 8") == "a cluster of 32 blocks; h100 takes 16");
  CHECK(launched("grid 16, 16 block 32", "4, 4", "gb10") == "a cluster of 16 blocks; gb10 takes 8");
}

TEST_CASE("a launch that no configuration makes possible is told at its line") {
  const std::string text = R"(//! kernel k
//! arch sm_90a
//! param WARPS = 40 in {40, 64}
//! launch grid 1 block 32 * WARPS
)";
  CHECK(refusal(text, {.kernel = "k"}) ==
        "no_config: k: no configuration satisfies this request\n"
        "  k.cu:4: all 2 violate  the launch\n"
        "    block x = 1280 is outside 1..1024");
}

TEST_CASE("a smaller device gets a smaller configuration of the same template") {
  const std::string text = R"(//! kernel k
//! arch sm_90a, sm_121a
//! param STAGES = 6 in 2..8
//! launch grid device.sm_count block 128 smem STAGES * 32768
//! preset STAGES = 7
//! preset STAGES = 6
)";
  CHECK(config(plan(text, {.kernel = "k"})) == "STAGES=7");
  const Plan small = plan(text, {.kernel = "k"}, "gb10").value();
  CHECK(config(small) == "STAGES=2");
  CHECK(small.arch == "sm_121a");
  CHECK(small.geometry.grid[0] == 48);
}

}  // namespace tma_jit::plan
