// The gradients of groups of channels: of every file and division of a group, wherever channels begin and end. Needs
// NVRTC.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "command.h"
#include "support/combinations.h"

namespace tma_jit::cli {
namespace {

using Words = std::vector<std::string>;

// With channels of `size` elements, and room for so many between them.
void check_passes(const char* device, const std::string& size, const Words& more, int room = 0) {
  Words words = {"run", "group_norm_backward", "--check", "--json", "--device", device, "S=" + size};
  for (const char* tensor : {"X=", "DY=", "DX="})
    words.insert(words.end(), {"--pitch", tensor + std::to_string(std::stoi(size) + room)});
  words.insert(words.end(), more.begin(), more.end());
  const CommandResult result = run_command(words);
  CAPTURE(words);
  CAPTURE(result.err);
  CAPTURE(result.out);
  CHECK(result.exit == 0);
}

constexpr const char* kHopper = "emulator:sm_90a";
constexpr const char* kAmpere = "emulator:sm_80";
constexpr const char* kSmall = "emulator:sm_121a";
constexpr const char* kStarved = "emulator:sm_90a:policy=starved";

}  // namespace

TEST_CASE("gradients of groups that a warp, a block or a cluster keeps in shared memory agree with their reference") {
  if (!has_compiler() || !kHasEmulator) return;
  for (const char* size : {"2", "6", "50", "64"}) {  // a warp has a group, and a block those of four batches
    check_passes(kHopper, size, {"N=9", "C=12", "G=3"});
    check_passes(kAmpere, size, {"N=5", "C=12", "G=2", "T=f32", "LANES=32", "THREADS=128"});
  }
  std::size_t first = 0;
  for (const char* affine : {"AFFINE=0", "AFFINE=1", "AFFINE=2"}) {
    std::size_t cell = first++;
    const auto passes = [&](const char* device, const char* size, Words words) {
      if (!testing::takes(cell++)) return;
      words.emplace_back(affine);
      check_passes(device, size, words);
    };
    passes(kHopper, "698", {"N=3", "C=12", "G=3", "CLUSTER=1", "D=bf16"});
    passes(kAmpere, "700", {"N=2", "C=6", "G=1", "T=f16"});
    passes(kHopper, "700", {"N=2", "C=6", "G=2", "T=f32", "THREADS=128", "LANES=128", "CLUSTER=8"});
    passes(kStarved, "78", {"N=3", "C=12", "G=3", "THREADS=128", "LANES=128", "CLUSTER=4"});
  }
  check_passes(kHopper, "5", {"N=2", "C=4096", "G=1", "CLUSTER=2"});  // more channels than threads
  for (const char* size : {"1", "3", "49", "257"}) {                  // groups begin and end anywhere in 16 bytes
    check_passes(kHopper, size, {"N=9", "C=15", "G=5"});
    check_passes(kAmpere, size, {"N=3", "C=9", "G=3", "T=f32", "AFFINE=1"});
  }
  check_passes(kStarved, "701", {"N=3", "C=9", "G=3", "CLUSTER=8", "THREADS=128", "LANES=128"});
  for (const char* file : {"group_norm_backward", "group_norm_backward_shared"}) {  // what a group gives cancels
    for (const char* size : {"1", "2"})
      check_passes(kHopper, size, {"N=3", "C=8", "G=8", "T=f32", "--template-file", file});
  }
  check_passes(kHopper, "33",
               {"N=2", "C=4", "G=2", "--operand", "residual : bf16[N, C, S]", "--hook",
                "output=dx + residual[n, c, s] + 0.1f * c"});
}

TEST_CASE("gradients of groups that clusters walk over agree with their reference, wherever groups begin and end") {
  if (!has_compiler() || !kHasEmulator) return;
  const auto check_walk = [&](const char* device, const char* size, Words words) {
    const Words ring = {"--template-file", "group_norm_backward_ring"};
    words.insert(words.end(), ring.begin(), ring.end());
    check_passes(device, size, words);
  };
  check_walk(kHopper, "1704", {"N=4", "C=16", "G=2", "CLUSTER=2"});
  check_walk(kStarved, "3344", {"N=3", "C=8", "G=1", "CLUSTER=4", "AFFINE=1"});
  check_walk(kStarved, "516", {"N=5", "C=18", "G=3", "T=f32", "AFFINE=1"});
  check_walk(kHopper, "516", {"N=1", "C=36", "G=6", "T=f32", "AFFINE=0"});
  check_walk(kStarved, "8", {"N=3", "C=1420", "G=2", "T=f16"});
  // On few SMs, which many small groups keep busy; groups begin and end anywhere in 16 bytes.
  check_walk(kSmall, "79", {"N=45", "C=992", "G=32"});
  check_walk(kHopper, "968",
             {"N=2", "C=12", "G=2", "--operand", "residual : bf16[N, C, S]", "--hook",
              "output=dx + residual[n, c, s] + 0.1f * c"});
}

TEST_CASE("gradients of groups in tiles, which blocks read twice, agree with their reference") {
  if (!has_compiler() || !kHasEmulator) return;
  const Words tiles = {"--template-file", "group_norm_backward_tiles", "THREADS=128", "PACKS=2", "G=2"};
  const auto check_tiles = [&](const char* device, const char* size, Words words) {
    words.insert(words.end(), tiles.begin(), tiles.end());
    check_passes(device, size, words);
  };
  std::size_t first = 0;
  for (const char* affine : {"AFFINE=0", "AFFINE=1", "AFFINE=2"}) {
    std::size_t cell = first++;
    const auto passes = [&](const char* device, const char* size, Words words) {
      if (!testing::takes(cell++)) return;
      words.emplace_back(affine);
      check_tiles(device, size, words);
    };
    passes(kHopper, "1040", {"N=3", "C=6"});
    passes(kStarved, "1043", {"N=3", "C=8", "T=f32", "D=f16"});
    passes(kAmpere, "2056", {"N=2", "C=2", "T=f16"});
  }
  check_tiles(kHopper, "3", {"N=2", "C=4096"});
  check_tiles(kHopper, "1043", {"N=3", "C=10"});  // groups that begin and end anywhere in 16 bytes
  check_tiles(kAmpere, "3", {"N=2", "C=3010", "T=f32"});
}

TEST_CASE("gradients of groups whose tiles blocks keep, or give up, agree with their reference") {
  if (!has_compiler() || !kHasEmulator) return;
  for (const char* patience : {"PATIENCE=200", "PATIENCE=0"}) {
    const auto check_kept = [&](const char* device, const char* size, Words words) {
      const Words tiles = {"--template-file", "group_norm_backward_tiles", "THREADS=128", "PACKS=2", "KEEP=1",
                           patience};
      words.insert(words.end(), tiles.begin(), tiles.end());
      check_passes(device, size, words);
    };
    check_kept(kHopper, "1043", {"N=3", "C=40", "G=2"});
    check_kept(kStarved, "1040", {"N=2", "C=8", "G=1", "AFFINE=0", "T=f32"});
    check_kept(kStarved, "1040", {"N=2", "C=144", "G=2"});  // more tiles than a block looks for
    check_kept(kAmpere, "2056", {"N=2", "C=2", "G=2", "AFFINE=1"});
  }
}

TEST_CASE("gradients of groups over whose tiles blocks walk agree with their reference") {
  if (!has_compiler() || !kHasEmulator) return;
  const auto check_walk = [](const char* device, const char* size, Words words) {  // of few SMs, which hold few tiles
    const Words walk = {"--template-file", "group_norm_backward_walk"};
    words.insert(words.end(), walk.begin(), walk.end());
    check_passes(device, size, words);
  };
  constexpr const char* kTwo = "emulator:sm_90a:processors=2";
  check_walk(kTwo, "4104", {"N=2", "C=24", "G=3"});
  check_walk(kTwo, "520", {"N=3", "C=112", "G=2", "T=f16", "THREADS=128", "PACKS=2", "STAGES=2", "BLOCKS=4"});
  check_walk(kTwo, "2056", {"N=2", "C=15", "G=1", "AFFINE=1", "THREADS=128", "PACKS=2", "BLOCKS=2"});
  check_walk(kTwo, "1032", {"N=2", "C=32", "G=2", "T=f32", "AFFINE=0", "THREADS=256", "PACKS=2", "STAGES=4"});
  check_walk(
      "emulator:sm_100a:processors=2:policy=random,seed=5", "1032",
      {"N=5", "C=30", "G=1", "THREADS=128", "PACKS=2", "--hook", "output=dx + 0.5f * n - 0.25f * c + 0.001f * s"});
}

TEST_CASE("gradients of groups whose channels have room between them, and of none, agree with their reference") {
  if (!has_compiler() || !kHasEmulator) return;
  for (const char* size : {"1", "9", "101"}) {
    check_passes(kHopper, size, {"N=2", "C=12", "G=3"}, 3);
    check_passes(kAmpere, size, {"N=2", "C=6", "G=1", "T=f32", "AFFINE=1"}, 8);
    check_passes(kHopper, size, {"N=2", "C=6", "G=2", "--offset", "DY=1"});
  }
  check_passes(kHopper, "9", {"N=0", "C=6", "G=2"});
  check_passes(kHopper, "0", {"N=3", "C=6", "G=2"});
  check_passes(kHopper, "9", {"N=3", "C=0", "G=2"});
}

}  // namespace tma_jit::cli
