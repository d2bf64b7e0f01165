// Kernels that compute along rows and groups, and their gradients, with rows of every length, type and way of storing.
#include <fstream>
#include <iterator>
#include <limits>

#include <doctest/doctest.h>

#include "launches.h"
#include "support/combinations.h"

using namespace tma_jit::cli::launches;

namespace tma_jit::cli {
namespace {

TEST_CASE("scores of any size have a logarithm of softmax and a loss") {
  if (!has_compiler() || !kHasEmulator) return;
  for (const char* kernel : {"log_softmax", "cross_entropy"}) {
    check_passes({kernel, kDevice, kEmulator, "M=4", "N=1"});
    check_passes({kernel, kDevice, kEmulator, "M=5", "N=333", "--hook", "score=x * 1000.0f"});
  }
}

TEST_CASE("rows that do not fit into registers are read again in each pass") {
  if (!has_compiler() || !kHasEmulator) return;
  std::size_t cell = 0;
  for (const char* kernel : {"softmax", "log_softmax", "cross_entropy", "rms_norm", "layer_norm", "softmax_backward",
                             "cross_entropy_backward"}) {
    if (testing::takes(cell))
      check_passes({kernel, kDevice, kEmulator, "M=3", "N=5001", "KEPT=0", "THREADS=128", "LANES=128", "PACKS=1"});
    if (testing::takes(++cell))
      check_passes({kernel, kDevice, kEmulator, "M=2", "N=6000", "KEPT=0", "THREADS=128", "LANES=128", "PACKS=2"});
  }
  check_passes({"softmax", kDevice, kEmulator, "M=1", "N=300001", "T=bf16"});
}

TEST_CASE("norms take rows of any length, with and without weights, and store the sum with a residual") {
  if (!has_compiler() || !kHasEmulator) return;
  check_passes({"rms_norm", kDevice, kEmulator, "M=3", "N=2047", "WEIGHT=0"});
  check_passes({"rms_norm", kDevice, kEmulator, "M=5", "N=264", "SUM=1", "--operand", "residual : bf16[M, N]", "--hook",
                "input=x + residual[row, column]"});
  check_passes({"layer_norm", kDevice, kEmulator, "M=5", "N=1", "AFFINE=0"});
  check_passes({"layer_norm", kDevice, kEmulator, "M=3", "N=1001", "AFFINE=2", "SUM=1", "T=f32", "O=f16"});
  check_passes({"layer_norm", kDevice, kEmulator, "M=2", "N=0", "AFFINE=2"});
}

TEST_CASE("what the hook of a row reads at its own row and column is loaded by whole packs, as the row is") {
  if (!has_compiler()) return;
  const std::vector<std::string> matrix = {"--operand", "residual : bf16[M, N]", "--hook",
                                           "input=x + residual[row, column]"};
  for (const char* kernel : {"rms_norm", "layer_norm", "rms_norm_quantize", "layer_norm_quantize", "quantize"}) {
    std::vector<std::string> words = {"build", kernel, "M=64", "N=4096", "T=bf16", "--device", "h100", "--ptx"};
    words.insert(words.end(), matrix.begin(), matrix.end());
    const CommandResult ptx = run_command(words);
    CHECK(ptx.out.find(".target sm_90a") != std::string::npos);
    for (const char* single : {"ld.global.u16", "ld.global.b16", "ld.global.nc.u16", "ld.global.nc.b16"})
      CHECK_MESSAGE(ptx.out.find(single) == std::string::npos, std::string(kernel));
  }
  if (!kHasEmulator) return;
  // Of other types, of one dimension, at its own place and at others, and of rows that are not whole packs.
  check_passes({"rms_norm_quantize", kDevice, kEmulator, "M=5", "N=512", "T=bf16", "SCALES=1", "SUM=1", "--operand",
                "residual : f32[M, N]", "--operand", "bias : bf16[N]", "--hook",
                "input=x + residual[row, column] + bias[column]"});
  check_passes({"layer_norm_quantize", kDevice, kEmulator, "M=7", "N=1024", "T=f32", "SCALES=0", "SUM=1", "--operand",
                "residual : bf16[M, N]", "--operand", "scale : f32[M]", "--hook",
                "input=x * scale[row] + residual[row, column]"});
  check_passes({"layer_norm", kDevice, kEmulator, "M=9", "N=768", "T=f32", "SUM=1", "--operand", "residual : f32[M, N]",
                "--operand", "first : f32[N]", "--operand", "counts : s32[N]", "--hook",
                "input=x + residual[row, column] + first[0] + counts[column]"});
  check_passes({"rms_norm", kDevice, kEmulator, "M=9", "N=768", "T=bf16", "--operand", "up : e4m3[M, N]", "--hook",
                "input=x + up[row, column] * up[row, 0]"});
  check_passes({"rms_norm", kDevice, kEmulator, "M=9", "N=771", "T=bf16", "SUM=1", "--operand", "residual : bf16[M, N]",
                "--hook", "input=x + residual[row, column]"});
  check_passes({"quantize", kDevice, kEmulator, "M=3", "N=3000", "T=bf16", "SCALES=1", "KEPT=0", "THREADS=128",
                "LANES=128", "PACKS=2", "--operand", "up : bf16[M, N]", "--hook", "input=x * up[row, column]"});
}

TEST_CASE("clusters walk over rows that they keep in shared memory until each is stored") {
  if (!has_compiler() || !kHasEmulator) return;
  // Of 17 SMs there is room for one cluster of eight blocks, which has all rows, or three of four.
  const auto passes = [](std::vector<std::string> words) {
    words.insert(words.end(), {kDevice, kEmulator, "--sm-budget", "17"});
    check_passes(words);
  };
  for (const char* vectors : {"WEIGHT=0", "WEIGHT=1"})
    passes({"rms_norm", "M=13", "N=114696", "T=f16", "O=bf16", vectors, "SUM=1", "--template-file", "rms_norm_ring",
            "--operand", "residual : f16[M, N]", "--hook", "input=x + residual[row, column]"});
  passes({"rms_norm", "M=4", "N=131080", "T=f32", "O=bf16", "--template-file", "rms_norm_ring"});
  for (const char* vectors : {"AFFINE=0", "AFFINE=1", "AFFINE=2"})
    passes({"layer_norm", "M=6", "N=114696", "T=bf16", "O=f32", vectors, "SUM=1", "--template-file", "layer_norm_ring",
            "--hook", "input=x + 100"});
  passes({"layer_norm", "M=4", "N=70004", "T=f32", "O=f32", "AFFINE=2", "--template-file", "layer_norm_ring"});
  for (const char* columns : {"N=20000", "N=31000"})  // eight clusters of two blocks
    passes({"layer_norm", "M=33", columns, "T=f16", "AFFINE=2", "--template-file", "layer_norm_ring"});
  passes({"rms_norm", "M=33", "N=40000", "T=bf16", "--template-file", "rms_norm_ring"});
  passes({"softmax", "M=7", "N=131080", "T=bf16", "O=f32", "--template-file", "softmax_ring", "--hook",
          "score=column % 3 == 0 ? -1.0f / 0.0f : row == 2 ? x * 1000.0f : x"});
  passes({"softmax", "M=6", "N=140000", "T=f32", "O=f32", "--template-file", "softmax_ring"});
}

TEST_CASE("clusters of 16 blocks have rows that leave smaller ones no registers for vectors") {
  if (!has_compiler() || !kHasEmulator) return;
  check_passes({"layer_norm", kDevice, kEmulator, "M=28", "N=131088", "T=f32", "AFFINE=2", "CLUSTER=16"});
}

TEST_CASE("threads have several rows that begin at the same place in 16 bytes") {
  if (!has_compiler() || !kHasEmulator) return;
  for (const std::string kernel : {"softmax", "rms_norm", "layer_norm"}) {
    const bool scores = kernel == "softmax";
    const auto passes = [&](std::vector<std::string> words) {
      words.insert(words.begin(), {kernel, kDevice, kEmulator, "WHOLE=2", "BLOCKS=1", "--sm-budget", "8"});
      check_passes(words);
    };
    for (const auto& [columns, pitch] : {std::pair{"N=1", "=9"}, {"N=9", "=105"}, {"N=101", "=109"}})
      passes({"M=300", columns, "LANES=16", "PACKS=1", "T=bf16", "O=bf16", "--pitch",
              (scores ? "S" : "X") + std::string(pitch)});
    passes({"M=77", "N=1001", "LANES=64", "THREADS=64", "PACKS=2", "T=bf16", "O=bf16"});
    passes({"M=19", "N=1017", "LANES=32", "PACKS=4", "T=f16", "O=bf16"});
    passes({"M=43", "N=1021", "LANES=128", "PACKS=2", "T=f32", "O=f32", "--hook",
            scores ? "score=row - x * column" : "output=y * column - row"});
  }
  check_passes({"layer_norm", kDevice, kEmulator, "M=45", "N=505", "WHOLE=2", "LANES=32", "PACKS=2", "AFFINE=2",
                "SUM=1", "BLOCKS=1", "--operand", "residual : bf16[M, N]", "--hook",
                "input=x + residual[row, column]"});
  check_passes({"rms_norm", kDevice, kEmulator, "M=0", "N=9", "WHOLE=2", "LANES=16", "PACKS=1"});
}

TEST_CASE("groups of channels are normalised, whatever the number and the size of channels") {
  if (!has_compiler() || !kHasEmulator) return;
  for (const char* size : {"S=1", "S=5", "S=101", "S=1024"}) {
    check_passes({"group_norm", kDevice, kEmulator, "N=2", "C=12", "G=3", size});
    check_passes({"group_norm", kDevice, "emulator:sm_80", "N=2", "C=6", "G=1", size, "T=f32", "O=f16", "AFFINE=1"});
  }
  check_passes({"group_norm", kDevice, kEmulator, "N=1", "C=4", "S=70001", "G=4", "AFFINE=0"});
  check_passes({"group_norm", kDevice, kEmulator, "N=1", "C=3", "S=9001", "G=1", "KEPT=0", "THREADS=128", "LANES=128",
                "PACKS=2", "CLUSTER=2"});
  check_passes({"group_norm", kDevice, kEmulator, "N=2", "C=4", "S=33", "G=2", "--operand", "residual : bf16[N, C, S]",
                "--hook", "input=x + residual[n, c, s]", "--hook",
                "output=y / (1 + __expf(-y)) + 0.1f * c + 0.01f * s"});
  for (const char* empty : {"N=0", "C=0", "S=0"}) {
    std::vector<std::string> words = {"group_norm", kDevice, kEmulator, empty, "G=2"};
    for (const char* other : {"N=2", "C=4", "S=9"})
      if (other[0] != empty[0]) words.emplace_back(other);
    check_passes(words);
  }
}

TEST_CASE("heads are normalised and rotated by their positions, in pairs of either kind") {
  if (!has_compiler() || !kHasEmulator) return;
  std::size_t first = 0;
  for (const char* pairs : {"PAIRS=0", "PAIRS=1"}) {
    std::size_t row = first++;
    for (const char* size : {"D=2", "D=90", "D=128", "D=512"}) {
      std::size_t cell = row++;
      for (const char* heads : {"HEADS=1", "HEADS=2"})
        if (testing::takes(cell++))
          check_passes({"qk_norm_rope", kDevice, kEmulator, "M=5", "H=3", "L=40", size, pairs, "J=s64", heads});
    }
    check_passes({"qk_norm_rope", kDevice, "emulator:sm_80", "M=7", "H=3", "D=64", "L=5", pairs, "NORM=0",
                  "POSITIONS=0", "T=f32", "O=f16", "F=bf16", "--offset", "X=1"});
  }
  check_passes({"qk_norm_rope", kDevice, kEmulator, "M=0", "H=3", "D=64", "L=0"});
}

TEST_CASE("rows are stored in 8 bits with a scale of groups, of rows and of the user's") {
  if (!has_compiler() || !kHasEmulator) return;
  std::size_t first = 0;
  for (const char* scales : {"SCALES=0", "SCALES=1", "SCALES=2"}) {
    std::size_t cell = first++;
    for (const char* columns : {"N=1", "N=127", "N=130", "N=1000"})
      if (testing::takes(cell++)) check_passes({"quantize", kDevice, kEmulator, "M=5", columns, scales});
    check_passes({"quantize", kDevice, "emulator:sm_80", "M=3", "N=513", scales, "T=f32"});  // cvt has no e4m3
    check_passes({"quantize", kDevice, kEmulator, "M=3", "N=256", scales, "--hook", "input=0"});
    check_passes({"quantize", kDevice, kEmulator, "M=3", "N=0", scales});
    for (const char* input : {"input=sqrt(x)", "input=column == 3 ? 1 / (x * 0) : x"})  // NaN and infinity
      check_passes({"quantize", kDevice, kEmulator, "M=2", "N=200", scales, "--hook", input});
    check_passes({"rms_norm_quantize", kDevice, kEmulator, "M=3", "N=1001", scales, "T=f32", "WEIGHT=0"});
    check_passes({"rms_norm_quantize", kDevice, kEmulator, "M=5", "N=264", scales, "SUM=1", "--operand",
                  "residual : bf16[M, N]", "--hook", "input=x + residual[row, column]"});
    // Rows that are read again in each pass: those of a cluster, of a block, and longer than a block's registers.
    check_passes({"rms_norm_quantize", kDevice, kEmulator, "M=3", "N=5000", scales, "KEPT=0", "THREADS=128",
                  "LANES=128", "PACKS=1", "CLUSTER=2", "SUM=1", "--operand", "residual : bf16[M, N]", "--hook",
                  "input=x + residual[row, column]"});
    check_passes({"layer_norm_quantize", kDevice, kEmulator, "M=3", "N=3003", scales, "KEPT=0", "THREADS=128",
                  "LANES=128", "PACKS=2", "AFFINE=2", "SUM=1", "T=f32", "--hook", "input=x + 3"});
    check_passes({"layer_norm_quantize", kDevice, "emulator:sm_80", "M=1", "N=33001", scales});
  }
  check_passes({"quantize", kDevice, kEmulator, "M=2", "N=5000", "SCALES=1", "KEPT=0", "THREADS=128", "LANES=128"});
}

TEST_CASE("groups of channels are normalised and quantized, each with its scale or by a given one") {
  if (!has_compiler() || !kHasEmulator) return;
  std::size_t first = 0;
  for (const char* scales : {"SCALES=0", "SCALES=1"}) {
    std::size_t cell = first++;
    for (const char* size : {"S=1", "S=3", "S=64", "S=77", "S=0"}) {
      if (testing::takes(cell))
        check_passes({"group_norm_quantize", kDevice, kEmulator, "N=2", "C=12", "G=3", size, scales});
      if (testing::takes(++cell))
        check_passes(
            {"group_norm_quantize", kDevice, "emulator:sm_80", "N=2", "C=6", "G=1", size, scales, "T=f32", "AFFINE=1"});
    }
    check_passes({"group_norm_quantize", kDevice, kEmulator, "N=1", "C=4", "S=9001", "G=2", "AFFINE=0", scales});
    check_passes({"group_norm_quantize", kDevice, kEmulator, "N=1", "C=3", "S=9001", "G=1", "KEPT=0", "THREADS=128",
                  "LANES=128", "CLUSTER=2", scales});
    // In shared memory, by blocks and by clusters, and with a part of a pack's threads beyond the group.
    for (const char* size : {"S=8200", "S=40000"})
      check_passes({"group_norm_quantize", kDevice, kEmulator, "--template-file", "group_norm_quantize_shared", "N=2",
                    "C=4", "G=2", size, scales, "--hook", "input=x + 0.01f * c - 0.0001f * s"});
    check_passes({"group_norm_quantize", kDevice, kEmulator, "--template-file", "group_norm_quantize_shared", "N=1",
                  "C=3", "S=12004", "G=1", "T=f32", "AFFINE=1", scales});
    check_passes({"group_norm_quantize", kDevice, kEmulator, "N=2", "C=4", "S=33", "G=2", scales, "--operand",
                  "residual : bf16[N, C, S]", "--hook", "input=x + residual[n, c, s]"});
    for (const char* input : {"input=0", "input=s == 3 ? sqrt(-1 - x * x) : x"})  // all equal, and NaN
      check_passes({"group_norm_quantize", kDevice, kEmulator, "N=2", "C=4", "S=40", "G=2", scales, "--hook", input});
  }
}

TEST_CASE("zeros have a scale of 0, under which numbers of 8 bits are 0") {
  if (!has_compiler() || !kHasEmulator) return;
  const std::string zero = (scratch_folder() / "zero.raw").string();
  std::ofstream(zero, std::ios::binary) << std::string(4, '\0');
  for (const char* kernel : {"quantize", "rms_norm_quantize", "layer_norm_quantize"})
    check_passes({kernel, kDevice, kEmulator, "M=3", "N=130", "SCALES=0", "--in", "GIVEN=" + zero});
  check_passes(
      {"group_norm_quantize", kDevice, kEmulator, "N=2", "C=4", "S=16", "G=2", "SCALES=0", "--in", "GIVEN=" + zero});
}

TEST_CASE("rows are stored in 8 and in 4 bits with scales of 8 bits, and read again") {
  if (!has_compiler() || !kHasEmulator) return;
  const std::vector<std::vector<std::string>> formats = {
      {"SCALES=3", "O=e4m3", "E=u8"}, {"SCALES=4", "O=u8", "E=u8"}, {"SCALES=5", "O=u8", "E=e4m3", "UNIT=1"}};
  std::size_t first = 0;
  for (const char* device : {kEmulator, "emulator:sm_80", "emulator:sm_100a"}) {
    std::size_t cell = first++;
    for (const std::vector<std::string>& format : formats) {
      const auto check_format = [&](std::vector<std::string> words) {
        if (!testing::takes(cell++)) return;
        words.insert(words.begin(), {"quantize", kDevice, device});
        words.insert(words.end(), format.begin(), format.end());
        check_passes(words);
      };
      for (const char* blocked : {"BLOCKED=0", "BLOCKED=1"}) {
        for (const char* columns : {"N=0", "N=1", "N=37", "N=200", "N=2048"}) check_format({"M=5", columns, blocked});
        check_format({"M=131", "N=300", "T=f32", blocked});
        for (const char* input : {"input=sqrt(x)", "input=column == 3 ? 1 / (x * 0) : x"})  // NaN and infinity
          check_format({"M=2", "N=200", blocked, "--hook", input});
      }
    }
    for (const std::vector<std::string>& format : {std::vector<std::string>{"SCALES=0"},
                                                   {"SCALES=1"},
                                                   {"SCALES=2"},
                                                   {"SCALES=3", "E=u8"},
                                                   {"SCALES=4", "T=u8", "E=u8"},
                                                   {"SCALES=5", "T=u8", "E=e4m3"},
                                                   {"SCALES=5", "T=u8", "E=e4m3", "BLOCKED=1"}}) {
      for (const char* columns : {"N=0", "N=37", "N=2048"}) {
        std::vector<std::string> words = {"dequantize", kDevice, device, "M=5", columns};
        words.insert(words.end(), format.begin(), format.end());
        if (testing::takes(cell++)) check_passes(words);
      }
    }
  }
}

TEST_CASE("scales of nvfp4 are in units of any number, of whatever sign, and of 0, infinity and NaN") {
  if (!has_compiler() || !kHasEmulator) return;
  constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNone = std::numeric_limits<float>::quiet_NaN();
  const std::string given = (scratch_folder() / "unit.raw").string();
  std::size_t first = 0;
  for (const char* device : {"emulator:sm_80", "emulator:sm_100a"}) {
    std::size_t cell = first++;
    for (const float unit : {2.0F, -2.0F, 0.0F, -0.0F, 1e-42F, -1e-40F, 3e38F, kInfinity, -kInfinity, kNone}) {
      std::ofstream(given, std::ios::binary).write(reinterpret_cast<const char*>(&unit), sizeof(unit));
      CAPTURE(unit);
      for (const char* input : {"input=x", "input=column < 20 ? 0 : 1e-38f * x", "input=column == 3 ? sqrt(-1 - x) : x",
                                "input=column == 3 ? 1 / (x * 0) : x"})  // zeros, small numbers, NaN and infinity
        if (testing::takes(cell++))
          check_passes({"quantize", kDevice, device, "M=3", "N=64", "SCALES=5", "O=u8", "E=e4m3", "UNIT=1", "--in",
                        "GIVEN=" + given, "--hook", input});
    }
  }
  // Scales have no sign, and zeros in a unit of 0 are zeros when they are read again.
  const auto scales = [&](float unit, const char* input) {
    const std::string out = (scratch_folder() / "scales.raw").string();
    std::ofstream(given, std::ios::binary).write(reinterpret_cast<const char*>(&unit), sizeof(unit));
    check_passes({"quantize", kDevice, kEmulator, "M=3", "N=64", "SCALES=5", "O=u8", "E=e4m3", "UNIT=1", "--in",
                  "GIVEN=" + given, "--hook", input, "--out", "SCALE=" + out});
    std::ifstream file(out, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  CHECK(scales(0.5F, "input=x") == scales(-0.5F, "input=x"));
  CHECK(scales(0, "input=0") == std::string(12, '\0'));
}

TEST_CASE("gradients of rows of any length, with and without weights, of no rows too") {
  if (!has_compiler() || !kHasEmulator) return;
  for (const char* kernel :
       {"softmax_backward", "cross_entropy_backward", "rms_norm_backward", "layer_norm_backward"}) {
    for (const char* columns : {"N=1", "N=131", "N=1000"}) check_passes({kernel, kDevice, kEmulator, "M=7", columns});
    check_passes({kernel, kDevice, kEmulator, "M=0", "N=5"});
  }
  for (const char* kernel : {"rms_norm_backward", "layer_norm_backward"}) {  // tiles that are read twice
    const std::string file = std::string(kernel) + "_tiles";
    check_passes({kernel, kDevice, kEmulator, "M=19", "N=20003"});
    check_passes({kernel, kDevice, kEmulator, "M=9", "N=4104", "T=f32", "ROWS=4", "--template-file", file});
    check_passes({kernel, kDevice, kEmulator, "M=0", "N=70000"});
    check_passes({kernel, kDevice, kEmulator, "M=3", "N=0", "--template-file", file});
  }
  for (const char* kernel : {"rms_norm_backward", "layer_norm_backward"}) {  // rows that a cluster keeps
    const std::string file = std::string(kernel) + "_ring";
    for (const char* rows : {"M=0", "M=1", "M=70"})
      check_passes({kernel, kDevice, kEmulator, rows, "N=32760", "--template-file", file});
    check_passes({kernel, kDevice, kEmulator, "M=137", "N=5000", "THREADS=256", "CLUSTER=4", "PACKS=2", "STAGES=2",
                  "T=f32", "--template-file", file});
    check_passes({kernel, kDevice, "emulator:sm_90a:policy=starved", "M=141", "N=6000", "THREADS=128", "CLUSTER=8",
                  "PACKS=1", "T=f16", "--hook", "output=dx + row", "--template-file", file});
    check_passes({kernel, kDevice, "emulator:sm_90a:policy=random,seed=3", "M=530", "N=4616", "--template-file", file});
    check_passes({kernel, kDevice, kEmulator, "M=5", "N=40000", "--template-file", file});
  }
  for (const char* kernel : {"rms_norm_backward", "layer_norm_backward"}) {  // rows that begin anywhere in 16 bytes
    for (const char* columns : {"N=1", "N=9", "N=101"})
      check_passes({kernel, kDevice, kEmulator, "M=300", columns, "LANES=16", "THREADS=128", "PACKS=1", "BLOCKS=2",
                    "--pitch", "DY=203", "--pitch", "X=107", "--pitch", "DX=107"});
    check_passes({kernel, kDevice, kEmulator, "M=19", "N=1001", "WHOLE=2", "LANES=32", "PACKS=4", "BLOCKS=1"});
    check_passes({kernel, kDevice, kEmulator, "M=40", "N=503", "T=f32", "WHOLE=2", "LANES=128", "THREADS=128"});
    check_passes({kernel, kDevice, kEmulator, "M=19", "N=1001", "--offset", "X=1"});
  }
  for (const char* kernel : {"rms_norm_backward", "layer_norm_backward"}) {  // rows whose terms cancel
    for (const char* columns : {"N=1", "N=2"}) check_passes({kernel, kDevice, kEmulator, "M=9", columns, "T=f32"});
  }
  check_passes({"rms_norm_backward", kDevice, kEmulator, "M=9", "N=40", "WEIGHT=0"});
  check_passes({"layer_norm_backward", kDevice, kEmulator, "M=9", "N=40", "AFFINE=0"});
  check_passes({"layer_norm_backward", kDevice, kEmulator, "M=9", "N=40", "AFFINE=1", "T=f32", "G=bf16"});
}

TEST_CASE("rows of elements at any stride are normalised by the files that need no neighbours") {
  if (!has_compiler() || !kHasEmulator) return;
  for (const std::string kernel : {"softmax", "log_softmax", "rms_norm", "layer_norm"}) {
    const std::string file = kernel + "_strided";
    for (const char* rows : {"ROWS=1", "ROWS=32"}) {
      for (const char* columns : {"N=0", "N=1", "N=70", "N=5001"})
        check_passes({kernel, kDevice, kEmulator, "M=33", columns, rows, "T=f32", "--template-file", file});
      check_passes({kernel, kDevice, kEmulator, "M=0", "N=9", rows, "--template-file", file});
    }
    check_passes({kernel, kDevice, "emulator:sm_80", "M=7", "N=9", "T=f16", "O=f16", "--template-file", file});
  }
  for (const std::string kernel : {"rms_norm", "layer_norm"}) {
    check_passes({kernel, kDevice, kEmulator, "M=7", "N=99", "SUM=1", "--hook", "input=x + row", "--hook",
                  "output=y * column", "--template-file", kernel + "_strided"});
  }
  check_passes({"layer_norm", kDevice, kEmulator, "M=7", "N=99", "AFFINE=2", "--template-file", "layer_norm_strided"});
  for (const char* columns : {"N=0", "N=1", "N=70", "N=5001"}) {
    for (const char* rows : {"ROWS=1", "ROWS=32"})
      check_passes(
          {"cross_entropy", kDevice, kEmulator, "M=33", columns, rows, "--template-file", "cross_entropy_strided"});
  }
}

}  // namespace
}  // namespace tma_jit::cli
