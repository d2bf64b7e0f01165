// run and bench on a device: right kernels pass, wrong ones are found out, files travel whole. Nothing without a
// device.
#include <doctest/doctest.h>

#include "command.h"
#include "npy.h"

namespace tma_jit::cli {
namespace {

CommandResult run_own(std::vector<std::string> words) {
  words.insert(words.begin(), "run");
  words.insert(words.end(), {"--check", "--json", "--templates", template_folder()});
  return run_command(words, shared_cache());
}

constexpr const char* kDevice = "--device";
constexpr const char* kEmulator = "emulator:sm_90a";

void check_passes(const std::vector<std::string>& words) {
  const CommandResult result = run_own(words);
  CAPTURE(words);
  CAPTURE(result.err);
  CAPTURE(result.out);
  CHECK(result.exit == 0);
  CHECK(result.json()["check"]["passed"] == true);
}

TEST_CASE("the library's kernels agree with their references") {
  if (!has_device()) return;
  check_passes({"copy", "N=1000003"});
  check_passes({"copy", "N=1000003", "T=bf16", "--offset", "S=1"});
  check_passes({"map", "N=1000003", "--hook", "apply=a + b"});
  check_passes({"map", "N=1000003", "--hook", "apply=a + b", "T=bf16", "O=bf16", "--data", "integers"});
  check_passes({"gemm", "M=512", "N=768", "K=640"});
  check_passes({"gemm", "M=500", "N=300", "K=64", "--operand", "bias : f32[N]", "--operand", "up : bf16[M, N]",
                "--operand", "alpha : f32 = 0.5", "--hook", "epilogue=alpha * (x + bias[column]) * up[row, column]",
                "--pitch", "D=304", "--offset", "up=1", "--scalar", "alpha=2"});
  check_passes({"gemm", "M=512", "N=768", "K=640", "--data", "integers", "--fix", "K"});
  check_passes({"gemm", "M=100", "N=200", "K=300", "--pitch", "A=304", "--pitch", "B=304", "--pitch", "D=208"});
  check_passes({"gemm", "M=1", "N=4096", "K=4096"});
  check_passes({"gemm", "M=13", "N=1000", "K=777", "--pitch", "A=777", "--pitch", "B=777", "--operand", "bias : f32[N]",
                "--hook", "epilogue=x + bias[column]"});
  for (const char* type : {"T=e4m3", "T=e5m2", "T=s8", "T=f32"})
    check_passes({"gemm", "M=200", "N=304", "K=400", type, "O=f32"});
  check_passes({"gemm", "M=200", "N=304", "K=400", "T=s8", "O=s32"});
  check_passes({"gemm", "M=200", "N=304", "K=400", "T=s8", "O=s8", "--hook", "epilogue=x * 0.0078125f"});
  check_passes({"gemm", "M=200", "N=304", "K=400", "T=e4m3", "O=e4m3", "--operand", "scale : f32 = 0.25", "--hook",
                "epilogue=x * scale"});
  check_passes({"gemm", "M=65", "N=67", "K=69", "T=s8", "O=s32"});
  check_passes({"gemm", "M=1", "N=1", "K=1", "--pitch", "A=4", "--template-file", "gemm_mma_cp_async"});
  for (const char* order : {"TA=1", "TB=1"}) check_passes({"gemm", "M=136", "N=200", "K=75", order});
  check_passes({"gemm", "M=200", "N=304", "K=75", "TA=1", "TB=1", "--template-file", "gemm_mma"});
  check_passes({"gemm", "M=33", "N=37", "K=75", "TA=1", "T=e4m3", "O=f32"});
  check_passes({"gemm", "M=136", "N=144", "K=40", "--operand", "C : bf16[M, N]", "--operand", "alpha : f32 = 2",
                "--operand", "beta : f32 = 0.5", "--hook", "epilogue=alpha * x + beta * C[row, column]"});
  check_passes(
      {"gemm", "M=136", "N=144", "K=40", "--operand", "bias : f32[N]", "--hook", "epilogue=gelu(x + bias[column])"});
  check_passes({"gemm", "M=136", "N=144", "K=40", "--operand", "up : bf16[M, N]", "--hook",
                "epilogue=silu(x) * up[row, column]"});
  check_passes({"gemm_batched", "M=130", "N=136", "K=72", "BATCH=3", "A_BATCH=3", "B_BATCH=1"});
  check_passes(
      {"gemm_batched", "M=136", "N=144", "K=40", "BATCH=5", "A_BATCH=1", "B_BATCH=5", "TA=1", "TB=1", "O=f32"});
}

TEST_CASE("an optional input exists because it is given, pinned or named by a hook") {
  if (!has_device()) return;
  check_passes({"scale", "N=2000"});
  check_passes({"scale", "N=2000", "WITH_Z=1", "--scalar", "alpha=0.5"});
  check_passes({"scale", "N=2000", "--hook", "finish=x * z"});
}

TEST_CASE("faults are found and named") {
  if (!has_device()) return;
  check_passes({"wrong", "N=1000"});
  const nlohmann::json unwritten = run_own({"wrong", "N=1000", "FAULT=1"}).json()["check"]["outputs"][0];
  CHECK(unwritten["mismatches"] == 1);
  CHECK(unwritten["unwritten"] == 1);
  CHECK(unwritten["first"][0]["index"] == std::vector<int>{5});
  const CommandResult off = run_own({"wrong", "N=1000", "FAULT=2"});
  CHECK(off.exit == 1);
  CHECK(off.json()["check"]["outputs"][0]["first"][0]["index"] == std::vector<int>{7});
  CHECK(run_own({"wrong", "N=1000", "FAULT=3"}).json()["check"]["outputs"][0]["stray_bytes"] == 4);
}

TEST_CASE("a matrix in a file binds the dims of copy and of map, a vector those of their other files") {
  if (!has_compiler() || !kHasEmulator) return;
  const std::string matrix = (scratch_folder() / "matrix.npy").string();
  const std::vector<float> values(24 * 40, 1.5F);
  const std::vector<std::int64_t> shape = {24, 40};
  REQUIRE(write_npy(matrix, DType::f32, shape, std::as_bytes(std::span(values))).has_value());
  check_passes({"copy", kDevice, kEmulator, "--in", "S=" + matrix});
  check_passes({"map", kDevice, kEmulator, "--in", "A=" + matrix, "--hook", "apply=a + 1"});
  check_passes({"map", kDevice, kEmulator, "--in", "B=" + matrix, "--hook", "apply=a"});
  check_passes({"map", kDevice, kEmulator, "--in", "A=" + matrix, "--hook", "apply=a + b + c"});
  const nlohmann::json ran = run_own({"map", kDevice, kEmulator, "--in", "B=" + matrix, "--hook", "apply=a"}).json();
  CHECK(ran["config"]["INPUTS"] == 2);
  CHECK(ran["dims"][0]["value"] == 24);
  CHECK(ran["dims"][1]["value"] == 40);
}

TEST_CASE("without dims an example is run") {
  if (!has_compiler() || !kHasEmulator) return;
  for (const char* kernel : {"copy",
                             "map",
                             "gemm",
                             "softmax",
                             "log_softmax",
                             "cross_entropy",
                             "rms_norm",
                             "layer_norm",
                             "group_norm",
                             "group_norm_quantize",
                             "qk_norm_rope",
                             "softmax_backward",
                             "cross_entropy_backward",
                             "rms_norm_backward",
                             "layer_norm_backward",
                             "group_norm_backward",
                             "quantize",
                             "rms_norm_quantize",
                             "dequantize",
                             "reduce",
                             "argmax",
                             "scan",
                             "top_k",
                             "fill",
                             "concat",
                             "pad",
                             "split",
                             "sample",
                             "gather",
                             "scatter",
                             "scatter_add",
                             "transpose",
                             "attention_decode",
                             "attention_delta"})
    check_passes({kernel, kDevice, kEmulator});
}

TEST_CASE("scores of any size have a logarithm of softmax and a loss") {
  if (!has_compiler() || !kHasEmulator) return;
  for (const char* kernel : {"log_softmax", "cross_entropy"}) {
    check_passes({kernel, kDevice, kEmulator, "M=4", "N=1"});
    check_passes({kernel, kDevice, kEmulator, "M=5", "N=333", "--hook", "score=x * 1000.0f"});
  }
}

TEST_CASE("rows that do not fit into registers are read again in each pass") {
  if (!has_compiler() || !kHasEmulator) return;
  for (const char* kernel : {"softmax", "log_softmax", "cross_entropy", "rms_norm", "layer_norm", "softmax_backward",
                             "cross_entropy_backward"}) {
    check_passes({kernel, kDevice, kEmulator, "M=3", "N=5001", "KEPT=0", "THREADS=128", "LANES=128", "PACKS=1"});
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
  for (const char* pairs : {"PAIRS=0", "PAIRS=1"}) {
    for (const char* size : {"D=2", "D=90", "D=128", "D=512"})
      for (const char* heads : {"HEADS=1", "HEADS=2"})
        check_passes({"qk_norm_rope", kDevice, kEmulator, "M=5", "H=3", "L=40", size, pairs, "J=s64", heads});
    check_passes({"qk_norm_rope", kDevice, "emulator:sm_80", "M=7", "H=3", "D=64", "L=5", pairs, "NORM=0",
                  "POSITIONS=0", "T=f32", "O=f16", "F=bf16", "--offset", "X=1"});
  }
  check_passes({"qk_norm_rope", kDevice, kEmulator, "M=0", "H=3", "D=64", "L=0"});
}

TEST_CASE("rows are stored in 8 bits with a scale of groups, of rows and of the user's") {
  if (!has_compiler() || !kHasEmulator) return;
  for (const char* scales : {"SCALES=0", "SCALES=1", "SCALES=2"}) {
    for (const char* columns : {"N=1", "N=127", "N=130", "N=1000"})
      check_passes({"quantize", kDevice, kEmulator, "M=5", columns, scales});
    check_passes({"quantize", kDevice, "emulator:sm_80", "M=3", "N=513", scales, "T=f32"});  // cvt has no e4m3
    check_passes({"quantize", kDevice, kEmulator, "M=3", "N=256", scales, "--hook", "input=0"});
    check_passes({"quantize", kDevice, kEmulator, "M=3", "N=0", scales});
    for (const char* input : {"input=sqrt(x)", "input=column == 3 ? 1 / (x * 0) : x"})  // NaN and infinity
      check_passes({"quantize", kDevice, kEmulator, "M=2", "N=200", scales, "--hook", input});
    check_passes({"rms_norm_quantize", kDevice, kEmulator, "M=3", "N=1001", scales, "T=f32", "WEIGHT=0"});
    check_passes({"rms_norm_quantize", kDevice, kEmulator, "M=5", "N=264", scales, "SUM=1", "--operand",
                  "residual : bf16[M, N]", "--hook", "input=x + residual[row, column]"});
  }
  check_passes({"quantize", kDevice, kEmulator, "M=2", "N=5000", "SCALES=1", "KEPT=0", "THREADS=128", "LANES=128"});
}

TEST_CASE("groups of channels are normalised and quantized, each with its scale or by a given one") {
  if (!has_compiler() || !kHasEmulator) return;
  for (const char* scales : {"SCALES=0", "SCALES=1"}) {
    for (const char* size : {"S=1", "S=3", "S=64", "S=77", "S=0"}) {
      check_passes({"group_norm_quantize", kDevice, kEmulator, "N=2", "C=12", "G=3", size, scales});
      check_passes(
          {"group_norm_quantize", kDevice, "emulator:sm_80", "N=2", "C=6", "G=1", size, scales, "T=f32", "AFFINE=1"});
    }
    check_passes({"group_norm_quantize", kDevice, kEmulator, "N=1", "C=4", "S=9001", "G=2", "AFFINE=0", scales});
    check_passes({"group_norm_quantize", kDevice, kEmulator, "N=1", "C=3", "S=9001", "G=1", "KEPT=0", "THREADS=128",
                  "LANES=128", "CLUSTER=2", scales});
    check_passes({"group_norm_quantize", kDevice, kEmulator, "N=2", "C=4", "S=33", "G=2", scales, "--operand",
                  "residual : bf16[N, C, S]", "--hook", "input=x + residual[n, c, s]"});
    for (const char* input : {"input=0", "input=s == 3 ? sqrt(-1 - x * x) : x"})  // all equal, and NaN
      check_passes({"group_norm_quantize", kDevice, kEmulator, "N=2", "C=4", "S=40", "G=2", scales, "--hook", input});
  }
}

TEST_CASE("rows are stored in 8 and in 4 bits with scales of 8 bits, and read again") {
  if (!has_compiler() || !kHasEmulator) return;
  const std::vector<std::vector<std::string>> formats = {
      {"SCALES=3", "O=e4m3", "E=u8"}, {"SCALES=4", "O=u8", "E=u8"}, {"SCALES=5", "O=u8", "E=e4m3", "UNIT=1"}};
  for (const char* device : {kEmulator, "emulator:sm_80", "emulator:sm_100a"}) {
    for (const std::vector<std::string>& format : formats) {
      const auto check_format = [&](std::vector<std::string> words) {
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
        check_passes(words);
      }
    }
  }
}

TEST_CASE("rows, columns and whole tensors are reduced, by sums and by combinations of the user's") {
  if (!has_compiler() || !kHasEmulator) return;
  check_passes({"reduce", kDevice, kEmulator, "M=1", "K=70001", "N=1"});
  check_passes({"reduce", kDevice, kEmulator, "M=9", "K=101", "N=1", "T=bf16", "O=bf16", "OP=2"});
  check_passes({"reduce", kDevice, kEmulator, "M=2", "K=300", "N=33", "T=f16", "OP=1"});
  check_passes({"reduce", kDevice, kEmulator, "M=3", "K=0", "N=8", "OP=3"});
  const nlohmann::json ran = run_own({"reduce", kDevice, kEmulator, "M=2", "K=3000", "N=2", "--hook", "combine=a * b",
                                      "--hook", "input=1 + x / 64", "--scalar", "neutral=1"})
                                 .json();
  CHECK(ran["config"]["OP"] == 5);
  CHECK(ran["check"]["passed"] == true);
}

TEST_CASE("products of many factors agree within what every step rounds") {
  if (!has_compiler() || !kHasEmulator) return;
  for (const char* columns : {"N=1", "N=24"})
    check_passes({"reduce", kDevice, kEmulator, "M=2", "K=50000", columns, "--hook", "combine=a * b", "--hook",
                  "input=1 + 0.0001f * x", "--scalar", "neutral=1"});
}

TEST_CASE("the greatest elements of rows are found with their indices, the lowest of equal ones first") {
  if (!has_compiler() || !kHasEmulator) return;
  check_passes({"argmax", kDevice, kEmulator, "M=3", "K=5003", "T=bf16"});
  check_passes({"argmax", kDevice, kEmulator, "M=2", "K=70001", "VALUES=0", "J=s32", "--hook", "key=-x"});
  check_passes({"argmax", kDevice, kEmulator, "M=2", "K=999", "--hook", "key=sqrt(x)"});  // NaN is the greatest
  check_passes({"argmax", kDevice, kEmulator, "M=4", "K=0"});
  check_passes({"top_k", kDevice, kEmulator, "M=2", "N=9001", "K=64", "T=bf16"});
  check_passes({"top_k", kDevice, kEmulator, "M=2", "N=5000", "K=33", "--hook", "key=x * 0"});
  check_passes({"top_k", kDevice, kEmulator, "M=3", "N=64", "K=64", "J=s32", "--hook", "key=-sqrt(x)"});
  // More equal elements than there is room for, of blocks and of warps, and few that are not minus infinity.
  check_passes({"top_k", kDevice, kEmulator, "M=2", "N=20000", "K=64", "KEEP=64", "--hook", "key=floorf(x * 2)"});
  check_passes({"top_k", kDevice, kEmulator, "M=5", "N=1000", "K=16", "T=bf16", "--hook", "key=floorf(x)"});
  check_passes({"top_k", kDevice, kEmulator, "M=5", "N=257", "K=8", "LANES=32", "THREADS=128", "--pitch", "X=259",
                "--hook", "key=column % 100 == 7 ? x : -1.0f / 0.0f"});
}

TEST_CASE("rows are scanned, in registers and across blocks, with and without their own element") {
  if (!has_compiler() || !kHasEmulator) return;
  for (const char* exclusive : {"EXCLUSIVE=0", "EXCLUSIVE=1"}) {
    for (const char* columns : {"N=1", "N=7", "N=130", "N=1001", "N=5000"})
      check_passes({"scan", kDevice, kEmulator, "M=3", columns, exclusive});
    check_passes({"scan", kDevice, kEmulator, "M=2", "N=30001", exclusive, "T=bf16", "--pitch", "X=30003"});
    check_passes({"scan", kDevice, kEmulator, "M=5", "N=333", exclusive, "T=f16", "OP=2", "--offset", "Y=3"});
    check_passes({"scan", kDevice, "emulator:sm_80", "M=2", "N=2000", exclusive, "OP=3", "O=bf16"});
  }
  for (const char* columns : {"N=1", "N=100", "N=3001", "N=40001"})
    check_passes({"scan", kDevice, kEmulator, "M=2", columns, "T=s32", "EXCLUSIVE=1", "--offset", "X=1"});
  for (const char* along : {"ALONG=1", "ALONG=4", "ALONG=16", "ALONG=32"})
    check_passes({"scan", kDevice, kEmulator, "M=37", "N=1001", along, "T=bf16", "--template-file", "scan_transposed"});
  // More tiles than a group has.
  check_passes({"scan", kDevice, kEmulator, "M=2", "N=150001", "THREADS=128", "PACKS=2", "BLOCKS=8"});
  check_passes({"scan", kDevice, "emulator:sm_90a:policy=starved", "M=1", "N=140000", "THREADS=128", "PACKS=2"});
  check_passes({"scan", kDevice, kEmulator, "M=3", "N=150001", "THREADS=128", "PACKS=2", "BYTES=8", "T=bf16",
                "AHEAD=256", "--pitch", "X=150003"});
  for (const char* rows : {"M=0", "M=3"}) check_passes({"scan", kDevice, kEmulator, rows, "N=0"});
}

TEST_CASE("long rows are scanned by blocks that walk over tiles in shared memory") {
  if (!has_compiler() || !kHasEmulator) return;
  const auto check = [](std::vector<std::string> words) {
    words.insert(words.begin(), {"scan", kDevice});
    words.insert(words.end(), {"--template-file", "scan_ring", "--sm-budget", "3"});
    check_passes(words);
  };
  check({kEmulator, "M=1", "N=300000"});
  check({kEmulator, "M=3", "N=100008", "T=bf16", "THREADS=128", "PACKS=2", "STAGES=3", "EXCLUSIVE=1"});
  check({"emulator:sm_90a:policy=starved", "M=2", "N=150000", "THREADS=128", "PACKS=2", "STAGES=3"});
  check({"emulator:sm_90a:policy=random,seed=5", "M=1", "N=500000", "T=f16", "O=f16", "OP=2", "THREADS=128", "--hook",
         "input=x * (1 + column % 3)"});
}

TEST_CASE("scans take combinations that do not commute, and begin anew with segments") {
  if (!has_compiler() || !kHasEmulator) return;
  for (const char* columns : {"N=100", "N=3000", "N=40000"}) {
    const nlohmann::json ran = run_own({"scan", kDevice, kEmulator, "M=2", columns, "--hook", "combine=b == 0 ? a : b",
                                        "--hook", "input=column % 77 == 5 ? x : 0", "--hook", "output=y + row"})
                                   .json();
    CHECK(ran["config"]["OP"] == 5);
    CHECK(ran["check"]["passed"] == true);
  }
  check_passes({"scan", kDevice, kEmulator, "M=2", "N=3000", "--hook", "combine=a * b", "--hook", "input=1 + x / 256",
                "--scalar", "neutral=1"});
  const std::string flags = (scratch_folder() / "flags.npy").string();
  for (const std::int64_t columns : {60, 1003, 30000}) {
    std::vector<std::uint8_t> values(static_cast<std::size_t>(2 * columns));
    for (std::size_t i = 0; i < values.size(); i += 37 + i % 5) values[i] = static_cast<std::uint8_t>(1 + i % 3);
    const std::vector<std::int64_t> shape = {2, columns};
    REQUIRE(write_npy(flags, DType::u8, shape, std::as_bytes(std::span(values))).has_value());
    for (const char* exclusive : {"EXCLUSIVE=0", "EXCLUSIVE=1"})
      check_passes({"scan", kDevice, kEmulator, "--in", "B=" + flags, exclusive, "T=bf16", "O=f32"});
  }
}

TEST_CASE("matrices are filled with a number or an expression of the indices, whatever the elements") {
  if (!has_compiler() || !kHasEmulator) return;
  for (const char* type : {"T=u8", "T=bf16", "T=e4m3", "T=f32", "T=f64"}) {
    check_passes({"fill", kDevice, kEmulator, "M=5", "N=100", type, "--scalar", "x=3"});
    check_passes({"fill", kDevice, kEmulator, "M=7", "N=33", type, "--pitch", "Y=33", "--hook", "value=row + column"});
    check_passes({"fill", kDevice, kEmulator, "M=3", "N=1001", type, "--pitch", "Y=1003", "--offset", "Y=1", "--hook",
                  "value=row + column % 50"});
    check_passes({"fill", kDevice, kEmulator, "M=3", "N=21", type, "NEIGHBOURS=0"});
    for (const char* flat : {"FLAT=0", "FLAT=1"})
      check_passes({"fill", kDevice, kEmulator, "M=3", "N=4128", type, flat, "WHOLE=1", "UNROLL=2", "--scalar", "x=3"});
  }
  check_passes({"fill", kDevice, kEmulator, "M=2", "N=9", "T=s64", "F=s64", "--hook", "value=x - column"});
  check_passes({"fill", kDevice, kEmulator, "M=3", "N=4001", "UNROLL=4", "--scalar", "x=-1.5"});
  for (const char* rows : {"M=0", "M=3"}) check_passes({"fill", kDevice, kEmulator, rows, "N=0"});
}

TEST_CASE("matrices are padded and cropped, on any side, at any address") {
  if (!has_compiler() || !kHasEmulator) return;
  const auto check_pad = [](std::vector<std::string> words) {
    words.insert(words.begin(), {"pad", kDevice, kEmulator, "--scalar", "value=7"});
    check_passes(words);
  };
  for (const char* type : {"T=u8", "T=bf16", "T=f64"}) {
    check_pad({"B=2", "M=30", "N=100", "R=20", "C=70", type, "--scalar", "top=3", "--scalar", "left=5"});
    check_pad({"B=2", "M=9", "N=100", "R=20", "C=170", type, "--scalar", "top=-3", "--scalar", "left=-50"});
    check_pad({"B=1", "M=9", "N=1001", "R=4", "C=1300", type, "--scalar", "top=2", "--scalar", "left=-1250", "--pitch",
               "S=1305", "--pitch", "D=1003", "--offset", "D=1"});
    check_pad({"B=1", "M=3", "N=101", "R=4", "C=13", type, "NEIGHBOURS=0", "--scalar", "left=15"});
  }
  for (const char* type : {"T=u8", "T=bf16", "T=f64"}) {
    check_pad({"M0=2", "M1=3", "M2=4", "M3=5", "M4=100", "N0=2", "N1=2", "N2=5", "N3=3", "N4=90", type, "--scalar",
               "before1=1", "--scalar", "before2=-1", "--scalar", "before3=1", "--scalar", "before4=3"});
    check_pad({"M0=1", "M1=1", "M2=1", "M3=5", "M4=10", "N0=1", "N1=1", "N2=1", "N3=0", "N4=90", type});
  }
  check_pad({"B=1", "M=3", "N=101", "R=0", "C=13"});
  check_pad({"B=1", "M=3", "N=0", "R=2", "C=13"});
}

TEST_CASE("tensors of different extents are joined along a dimension, and split") {
  if (!has_compiler() || !kHasEmulator) return;
  for (const char* kernel : {"concat", "split"}) {
    for (const char* type : {"T=u8", "T=bf16", "T=f64"}) {
      check_passes({kernel, kDevice, kEmulator, "M=1", "N0=5", "N1=3", "K=100", type});
      check_passes({kernel, kDevice, kEmulator, "M=9", "N0=16", "N1=0", "N2=33", "K=1", type});
      check_passes({kernel, kDevice, kEmulator, "M=3", "N0=1001", "N1=999", "K=1", type});
      check_passes({kernel, kDevice, kEmulator, "M=3", "N0=4", "N1=2", "N2=1", "N3=3", "K=700", type, "RUN=1"});
      check_passes({kernel, kDevice, kEmulator, "M=3", "N0=4", "N1=2", "K=33", type, "RUN=0"});
      check_passes({kernel, kDevice, kEmulator, "M=3", "N0=7", "K=33", type});
      check_passes({kernel, kDevice, kEmulator, "M=3", "N0=4", "N1=2", "N2=0", "N3=5", "N4=1", "N5=300", "N6=8", "N7=3",
                    "K=9", type});
    }
    for (const char* rows : {"M=0", "M=3"}) check_passes({kernel, kDevice, kEmulator, rows, "N0=4", "N1=2", "K=8"});
    check_passes({kernel, kDevice, kEmulator, "M=3", "N0=0", "N1=0", "K=8"});
  }
  check_passes({"concat", kDevice, kEmulator, "M=3", "N0=5", "N1=7", "K=33", "--pitch", "S0=35", "--pitch", "D=41",
                "--offset", "S1=1"});
  check_passes({"concat", kDevice, kEmulator, "PARTS=5", "T=bf16"});
  for (const char* kernel : {"concat", "split"}) {
    check_passes({kernel, kDevice, kEmulator, "M=3", "N0=1008", "N1=32", "K=1", "WHOLE=1"});
    check_passes({kernel, kDevice, kEmulator, "M=3", "N0=4", "N1=2", "K=2064", "T=bf16", "RUN=1", "WHOLE=1"});
    check_passes({kernel, kDevice, kEmulator, "M=300", "N0=1", "N1=4", "K=16", "WHOLE=1"});
  }
  check_passes({"split", kDevice, kEmulator, "M=3", "N0=5", "N1=7", "K=33", "--pitch", "D0=35", "--pitch", "S=41",
                "--offset", "D1=1"});
}

TEST_CASE("tokens are drawn as the reference draws them, ties, infinities and numbers that are none included") {
  if (!has_compiler() || !kHasEmulator) return;
  const auto draw = [](const char* device, std::vector<std::string> words) {
    words.insert(words.begin(), {"sample", kDevice, device, "LOGS=1"});
    check_passes(words);
  };
  for (const char* device : {kEmulator, "emulator:sm_80", "emulator:sm_121a"}) {
    draw(device, {"M=2", "N=9001", "--scalar", "top_k=50", "--scalar", "top_p=0.9"});
    draw(device,
         {"M=3", "N=777", "T=bf16", "--scalar", "top_k=100", "--scalar", "top_p=0.9", "--hook", "logit=floorf(x * 2)"});
  }
  for (const char* seed : {"seed=1", "seed=4503599627370497"})
    draw(kEmulator, {"M=6", "N=500", "T=f16", "J=s64", "--scalar", "top_p=0.3", "--scalar", seed, "--scalar",
                     "offset=12345678901", "--hook", "logit=x * 0"});
  for (const char* logit : {"logit=sqrt(x)", "logit=column % 50 == 3 ? 1 / (x * 0) : x", "logit=log(x - 100)"})
    draw(kEmulator, {"M=3", "N=501", "--scalar", "top_p=0.6", "--hook", logit});
  for (const char* temperature : {"temperature=0", "temperature=0.0001", "temperature=100000"})
    draw(kEmulator, {"M=3", "N=501", "--scalar", temperature, "--scalar", "top_k=10", "--hook", "logit=floorf(x * 9)"});
  draw(kEmulator, {"M=3", "N=501", "--scalar", "top_p=0", "--offset", "X=1", "--pitch", "X=505"});
  draw(kEmulator, {"M=2", "N=5003", "--scalar", "top_p=0.9", "--scalar", "top_k=3000", "THREADS=256", "CLUSTER=8"});
  draw(kEmulator,
       {"M=2", "N=5003", "--scalar", "top_k=1000", "THREADS=256", "CLUSTER=8", "--hook", "logit=floorf(x * 2)"});
  draw(kEmulator, {"M=2", "N=5003", "--scalar", "top_p=0.7", "THREADS=256", "CLUSTER=4", "--hook", "logit=x * 0"});
  draw(kEmulator, {"M=2", "N=5000", "T=bf16", "--scalar", "top_p=0.9", "KEPT=0", "THREADS=128", "CLUSTER=2"});
  for (const char* columns : {"N=0", "N=1"}) draw(kEmulator, {"M=3", columns});
  draw(kEmulator, {"M=0", "N=10"});
}

TEST_CASE("rows are gathered, scattered and summed by their numbers, at any pitch and address") {
  if (!has_compiler() || !kHasEmulator) return;
  for (const char* device : {kEmulator, "emulator:sm_80"}) {
    check_passes({"gather", kDevice, device, "R=40", "N=33", "COUNT=77", "T=u8"});
    check_passes({"gather", kDevice, device, "R=40", "N=64", "COUNT=9", "T=bf16", "J=s64", "--offset", "S=1"});
    check_passes({"gather", kDevice, device, "R=0", "N=3", "COUNT=9"});
    check_passes({"gather", kDevice, device, "R=40", "N=33", "COUNT=77", "NEIGHBOURS=0"});
    check_passes({"scatter", kDevice, device, "R=60", "N=33", "COUNT=77"});
    check_passes({"scatter", kDevice, device, "R=30", "N=1000", "COUNT=100", "T=f16", "ROWS=32", "--pitch", "D=1003"});
    check_passes({"scatter", kDevice, device, "R=30", "N=64", "COUNT=500", "T=bf16", "J=s64", "ROWS=256", "LANES=8"});
    check_passes({"scatter_add", kDevice, device, "R=7", "N=1100", "COUNT=300", "T=f16", "O=f16", "J=s64"});
    check_passes({"scatter_add", kDevice, device, "R=600", "N=40", "COUNT=90", "O=bf16", "--offset", "S=1", "--pitch",
                  "D=43", "--hook", "input=x * row + column"});
    check_passes({"scatter_add", kDevice, device, "R=260", "N=2100", "COUNT=200", "T=bf16", "O=bf16"});
    for (const char* columns : {"N=0", "N=41", "N=1100"})
      check_passes({"scatter_add", kDevice, device, "ATOMIC=1", "R=70", columns, "COUNT=300"});
    check_passes({"scatter_add", kDevice, device, "R=60", "N=64", "COUNT=3000", "T=f32", "LIST=512", "THREADS=128"});
  }
  for (const char* kernel : {"scatter", "scatter_add"}) {
    check_passes({kernel, kDevice, kEmulator, "R=0", "N=9", "COUNT=5"});
    check_passes({kernel, kDevice, kEmulator, "R=7", "N=0", "COUNT=5"});
    check_passes({kernel, kDevice, kEmulator, "R=7", "N=9", "COUNT=0"});
  }
}

TEST_CASE("what no number names keeps what it held, and sums are added to it") {
  if (!has_compiler() || !kHasEmulator) return;
  const std::string held = (scratch_folder() / "held.npy").string(),
                    numbers = (scratch_folder() / "numbers.npy").string();
  std::vector<float> values(60 * 33);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) / 7;
  const std::vector<std::int64_t> shape = {60, 33}, count = {9},
                                  rows = {5, 5, 2, -1, std::int64_t{1} << 40, 59, 60, 5, 2};
  REQUIRE(write_npy(held, DType::f32, shape, std::as_bytes(std::span(values))).has_value());
  REQUIRE(write_npy(numbers, DType::s64, count, std::as_bytes(std::span(rows))).has_value());
  check_passes({"scatter", kDevice, kEmulator, "--in", "D=" + held, "--in", "I=" + numbers});
  check_passes({"scatter_add", kDevice, kEmulator, "T=f32", "INTO=1", "--in", "D=" + held, "--in", "I=" + numbers});
}

TEST_CASE("rows to which hundreds and thousands go are summed by whole blocks, wherever they stand in the list") {
  if (!has_compiler() || !kHasEmulator) return;
  const std::string numbers = (scratch_folder() / "many.npy").string();
  for (const std::int64_t sources : {257, 1000, 9000}) {
    std::vector<std::int32_t> rows(static_cast<std::size_t>(sources));
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::int32_t>(i * i % 5 % 3);
    const std::vector<std::int64_t> shape = {sources};
    REQUIRE(write_npy(numbers, DType::s32, shape, std::as_bytes(std::span(rows))).has_value());
    for (const char* extent : {"R=1", "R=3"})
      check_passes({"scatter_add", kDevice, kEmulator, extent, "N=5", "T=f32", "--in", "I=" + numbers});
  }
}

TEST_CASE("matrices of any shape and pitch are transposed, and of any element") {
  if (!has_compiler() || !kHasEmulator) return;
  for (const char* type : {"T=u8", "T=bf16", "T=f32", "T=f64"}) {
    check_passes({"transpose", kDevice, kEmulator, "B=2", "M=80", "N=144", type});
    check_passes(
        {"transpose", kDevice, kEmulator, "B=1", "M=131", "N=77", type, "--pitch", "S=80", "--pitch", "D=144"});
    check_passes(
        {"transpose", kDevice, kEmulator, "B=3", "M=131", "N=77", type, "--pitch", "S=77", "--pitch", "D=131"});
    check_passes({"transpose", kDevice, kEmulator, "B=1", "M=33", "N=21", type, "--offset", "S=1", "--offset", "D=3"});
    check_passes({"transpose", kDevice, kEmulator, "B=2", "M=65", "N=33", type, "NEIGHBOURS=0"});
  }
  check_passes({"transpose", kDevice, kEmulator, "B=1", "M=0", "N=16"});
}

TEST_CASE("dimensions change places, the innermost too, with and without TMA") {
  if (!has_compiler() || !kHasEmulator) return;
  for (const char* type : {"T=u8", "T=bf16", "T=f64"}) {
    check_passes({"permute", kDevice, kEmulator, "N0=2", "N1=3", "N2=48", "N3=5", "N4=80", "P0=4", "P1=1", "P2=0",
                  "P3=3", "P4=2", type});
    check_passes({"permute", kDevice, kEmulator, "N0=2", "N1=3", "N2=5", "N3=7", "N4=16", "P0=3", "P1=2", "P2=1",
                  "P3=0", "P4=4", type});
    for (const char* device : {kEmulator, "emulator:sm_80"})
      check_passes({"permute", kDevice, device, "N0=2", "N1=3", "N2=5", "N3=7", "N4=9", "P0=4", "P1=3", "P2=2", "P3=1",
                    "P4=0", type});
  }
}

TEST_CASE("permute has an example, and takes rows at any pitch and address") {
  if (!has_compiler() || !kHasEmulator) return;
  check_passes({"permute", kDevice, kEmulator});
  check_passes({"permute", kDevice, kEmulator, "N0=1", "N1=3", "N2=37", "N3=45", "N4=2", "P0=0", "P1=2", "P2=3", "P3=1",
                "P4=4", "T=f64"});  // elements of 16 bytes
  for (const char* type : {"T=u8", "T=bf16", "T=f64"}) {
    for (const char* pitch : {"D=17", "D=24"}) {
      for (const char* offset : {"D=0", "D=1"})
        check_passes({"permute", kDevice, kEmulator, "N0=2", "N1=3", "N2=4", "N3=5", "N4=16", "P0=0", "P1=2", "P2=1",
                      "P3=3", "P4=4", type, "--pitch", pitch, "--offset", offset});
    }
  }
}

TEST_CASE("columns of a matrix are copied from it and into it") {
  if (!has_compiler() || !kHasEmulator) return;
  for (const char* type : {"T=u8", "T=bf16", "T=f32"}) {
    for (const char* whole : {"S", "D"}) {
      const std::string pitch = std::string(whole) + "=192", offset = whole;
      for (const char* first : {"=30", "=64"})
        check_passes({"copy", kDevice, kEmulator, "M=6", "N=64", type, "--pitch", pitch, "--offset", offset + first});
    }
  }
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
  check_passes({"rms_norm_backward", kDevice, kEmulator, "M=9", "N=40", "WEIGHT=0"});
  check_passes({"layer_norm_backward", kDevice, kEmulator, "M=9", "N=40", "AFFINE=0"});
  check_passes({"layer_norm_backward", kDevice, kEmulator, "M=9", "N=40", "AFFINE=1", "T=f32", "G=bf16"});
}

TEST_CASE("a matrix without rows is mapped, whatever the types") {
  if (!has_compiler() || !kHasEmulator) return;
  for (const char* type : {"O=f32", "O=f16"}) {
    check_passes({"map", kDevice, kEmulator, "M=0", "N=67", "T=bf16", type, "--hook", "apply=a"});
  }
}

TEST_CASE("plan, emit and build have the layouts that run has") {
  if (!has_compiler() || !kHasEmulator) return;
  const std::vector<std::string> words = {"copy", "M=40", "N=100", "--pitch", "S=101", "--offset", "S=1"};
  const auto said = [&](const char* verb) {
    std::vector<std::string> all = {verb, "--json", kDevice, kEmulator};
    all.insert(all.end(), words.begin(), words.end());
    return run_command(all).json();
  };
  const nlohmann::json ran = said("run"), planned = said("plan");
  CHECK(planned["file"] == ran["file"]);
  CHECK(planned["config"] == ran["config"]);
  CHECK(planned["reason"] ==
        "S begins at 1 byte, rows of S are 101 bytes apart: without TMA, by copy_rows instead of "
        "copy_tiled");
  CHECK(ran["reason"] == planned["reason"]);
  CHECK(said("emit")["name"] == ran["file"]);
  CHECK(said("build")["config"] == ran["config"]);
  CHECK(run_command({"plan", "copy", "N=100", "--offset", "X=1"}).exit == 2);
  CHECK(run_command({"plan", "copy", "N=100", "--pitch", "S=128", "--device", "h100"}).exit == 2);
}

TEST_CASE("files go in and come out whole") {
  if (!has_device()) return;
  const std::string in = (scratch_folder() / "in.npy").string();
  const std::string out = (scratch_folder() / "out.npy").string();
  const std::string raw = (scratch_folder() / "out.raw").string();
  std::vector<float> values(1001);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) / 3;
  const std::vector<std::int64_t> shape = {1001};
  REQUIRE(write_npy(in, DType::f32, shape, std::as_bytes(std::span(values))).has_value());
  check_passes({"copy", "--in", "S=" + in, "--out", "D=" + out});  // N and T are the file's
  check_passes({"copy", "--in", "S=" + in, "--out", "D=" + raw, "--offset", "D=3"});
  const auto written = read_npy(out);
  REQUIRE(written.has_value());
  CHECK(written->bytes == read_npy(in)->bytes);
  CHECK(read_bytes(raw).value() == written->bytes);
  const CommandResult wrong = run_command({"run", "copy", "N=1000", "T=f32", "--in", "S=" + raw});
  CHECK(wrong.exit == 1);
  CHECK(wrong.err.find("4004 bytes, but S is [1000] of f32, 4000 bytes") != std::string::npos);
}

TEST_CASE("bench states its method") {
  if (!has_device()) return;
  const CommandResult result = run_command({"bench", "copy", "N=67108864", "--repeat", "10", "--host-launches", "100"});
  CHECK(result.exit == 0);
  for (const char* part : {"method    events around each launch", "10 repeats", "median", "GB/s", "us a launch call"})
    CHECK(result.out.find(part) != std::string::npos);
}

}  // namespace
}  // namespace tma_jit::cli
