// Epilogues of gemm that read operands: by 16 bytes, in pairs or one by one, in every kind of tile for wgmma, at the
// edges of the tensors and beyond what fits into registers.
#include <doctest/doctest.h>

#include "launches.h"
#include "support/combinations.h"

namespace tma_jit::cli {
namespace {

constexpr const char* kAll = "epilogue=x * s[row] * up[row, column] + bias[column]";

void check_passes(const std::vector<std::string>& words, const std::vector<std::string>& operands,
                  const std::string& epilogue) {
  std::vector<std::string> line = {"gemm", launches::kDevice, launches::kEmulator};
  line.insert(line.end(), words.begin(), words.end());
  for (const std::string& operand : operands) line.insert(line.end(), {"--operand", operand});
  line.insert(line.end(), {"--hook", epilogue});
  launches::check_passes(line);
}

// The words of M, N and K, of a file, and of params.
std::vector<std::string> problem(const char* extents, const char* file, const char* params) {
  std::vector<std::string> words = {"--template-file", file};
  for (const std::string text : {extents, params}) {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find(' ', at), text.size());
      words.push_back(text.substr(at, end - at));
      at = end + 1;
    }
  }
  return words;
}

TEST_CASE("operands of every kind are read in every kind of tile for wgmma") {
  if (!has_compiler() || !kHasEmulator) return;
  const std::vector<std::string> all = {"up : bf16[M, N]", "bias : f32[N]", "s : f32[M]"};
  for (const char* params : {"BM=128 BN=256 STAGES=4", "BM=256 BN=200 STAGES=3", "BM=192 BN=200 STAGES=3",
                             "BM=128 BN=176 STAGES=4 PINGPONG=1", "BM=104 BN=128 STAGES=4 PINGPONG=1 SWAP=1",
                             "BM=152 BN=256 STAGES=4 SWAP=1", "BM=168 BN=128 STAGES=4 PINGPONG=1 SWAP=1",
                             "BM=176 BN=128 STAGES=4 CLUSTER=2 PINGPONG=1 SWAP=1"})
    check_passes(problem("M=300 N=520 K=136", "gemm_wgmma", params), all, kAll);
  for (const char* params : {"BM=128 BN=64 STAGES=8", "BM=256 BN=64 STAGES=4", "BM=40 BN=128 STAGES=4",
                             "BM=64 BN=64 STAGES=6 SPLIT=2", "BM=64 BN=64 STAGES=6 CHUNKS=3", "BM=80 BN=192 STAGES=4"})
    check_passes(problem("M=300 N=520 K=520", "gemm_wgmma_split", params), all, kAll);
}

TEST_CASE("rows of an operand that are no whole 16 bytes are read in pairs or one by one") {
  if (!has_compiler() || !kHasEmulator) return;
  for (const char* extents : {"M=201 N=138 K=72", "M=201 N=137 K=72"}) {
    check_passes(problem(extents, "gemm_wgmma", "BM=128 BN=128 STAGES=4"), {"up : bf16[M, N]"},
                 "epilogue=x * up[row, column]");
    check_passes(problem(extents, "gemm_wgmma_split", "BM=64 BN=64 STAGES=4"), {"up : bf16[M, N]"},
                 "epilogue=x * up[row, column]");
  }
}

TEST_CASE("operands of other types than the result, several of its type, and without a product") {
  if (!has_compiler() || !kHasEmulator) return;
  const auto check = [](const char* extents, const char* types, const std::vector<std::string>& operands,
                        const std::string& epilogue) {
    std::vector<std::string> words = problem(extents, "gemm_wgmma", "BM=128 BN=128 STAGES=4");
    for (const std::string& word : problem("", "gemm_wgmma", types)) {
      if (word.find('=') != std::string::npos) words.push_back(word);
    }
    check_passes(words, operands, epilogue);
  };
  check("M=136 N=264 K=72", "O=f32", {"up : f32[M, N]"}, "epilogue=x * up[row, column]");
  check("M=136 N=264 K=72", "O=f32", {"up : bf16[M, N]"}, "epilogue=x * up[row, column]");
  check("M=136 N=272 K=128", "T=e4m3 O=e4m3", {"up : e4m3[M, N]"}, "epilogue=x + up[row, column]");
  check("M=136 N=264 K=72", "O=bf16", {"up : bf16[M, N]", "C : f16[M, N]"},
        "epilogue=x * up[row, column] + C[row, column]");
  check("M=136 N=264 K=0", "O=bf16", {"up : bf16[M, N]"}, "epilogue=x + up[row, column]");
}

TEST_CASE("what hooks call for numbers of f32 the reference calls for those of f64 beside constants of f32") {
  if (!has_compiler() || !kHasEmulator) return;
  for (const char* text :
       {"fmin(fmax(x, 0.5f), a) + fdim(x, a) + fma(x, 2.0f, a)", "fmod(x, 3.0f) + remainder(a, x) + copysign(1.0f, x)",
        "hypot(x, a) + atan2(x, 2.0f) + pow(fabs(x) + 1, 0.5f) + pow(x, 2)", "sin(x) + cos(a)"})
    check_passes({"M=16", "N=24", "K=64"}, {"a : f32 = 4.5"}, std::string("epilogue=") + text);
}

TEST_CASE("an operand may have any name that hooks do not have") {
  if (!has_compiler() || !kHasEmulator) return;
  for (const std::string name : {"f", "F", "own"})
    check_passes({"M=16", "N=24", "K=64"}, {name + " : f32[N]"}, "epilogue=x + " + name + "[column]");
}

TEST_CASE("a matrix that registers do not hold is copied to where the results go, at any edge and of any type") {
  if (!has_compiler() || !kHasEmulator) return;
  const auto check = [](const char* extents, const char* params, const std::vector<std::string>& operands,
                        const std::string& epilogue) {
    check_passes(problem(extents, "gemm_wgmma", params), operands, epilogue);
  };
  const std::vector<std::string> one = {"up : bf16[M, N]", "bias : f32[N]"};
  const std::string gate = "epilogue=silu(x + bias[column]) * up[row, column]";
  std::size_t first = 0;
  for (const char* params : {"BM=128 BN=192 STAGES=5 PINGPONG=1", "BM=128 BN=160 STAGES=5 PINGPONG=1 CLUSTER=2",
                             "BM=128 BN=176 STAGES=5 PINGPONG=1", "BM=256 BN=176 STAGES=3"}) {
    std::size_t cell = first++;
    for (const char* extents : {"M=300 N=520 K=136", "M=257 N=344 K=0"})
      if (testing::takes(cell++)) check(extents, params, one, gate);
  }
  check("M=300 N=521 K=136", "BM=128 BN=192 STAGES=5 PINGPONG=1", one, gate);
  check("M=300 N=520 K=136", "BM=128 BN=192 STAGES=5 PINGPONG=1", {"up : bf16[M, N]", "C : bf16[M, N]"},
        "epilogue=x * up[row, column] + C[row, column]");
  check("M=300 N=520 K=136", "BM=128 BN=176 STAGES=4 PINGPONG=1 O=f32", {"up : f32[M, N]"},
        "epilogue=x * up[row, column]");
  check("M=300 N=520 K=136", "BM=128 BN=176 STAGES=4 PINGPONG=1 O=f32", {"up : bf16[M, N]"},
        "epilogue=x * up[row, column]");
}

TEST_CASE("activations agree with their references") {
  if (!has_compiler() || !kHasEmulator) return;
  for (const char* activation : {"sigmoid", "silu", "gelu", "gelu_tanh"})
    check_passes(problem("M=136 N=144 K=40", "gemm_wgmma", "BM=128 BN=128 STAGES=4"), {"bias : f32[N]"},
                 std::string("epilogue=") + activation + "(x + bias[column])");
}

}  // namespace
}  // namespace tma_jit::cli
