// Masks as bits: attention_mask makes them, and attention reads them by packed().
#include <filesystem>
#include <fstream>
#include <iterator>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "launches.h"
#include "support/combinations.h"

using namespace tma_jit::cli::launches;

namespace tma_jit::cli {
namespace {

struct Problem {
  int queries, keys;
  std::string mask;
  std::string divisor = "32";  // by which the text divides the number of a key
};

std::string scratch(const std::string& name) {
  return (scratch_folder() / name).string();
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Computes the problem's mask into files, and returns the words by which attention reads it.
std::vector<std::string> packed(const Problem& problem, const std::string& device) {
  const std::string bits = scratch("bits.npy"), blocks = scratch("blocks.npy");
  check_passes({"attention_mask", kDevice, device, "HEADS=1", fmt::format("M={}", problem.queries),
                fmt::format("N={}", problem.keys), "--hook", "mask=" + problem.mask, "--out", "BITS=" + bits, "--out",
                "BLOCKS=" + blocks});
  return {
      "--hook",
      fmt::format("mask=packed(blocks[0, (q - first) / 128, k / 64], bits[0, q - first, k / {}], k)", problem.divisor),
      "--operand",
      fmt::format("first : s32 = {}", problem.keys - problem.queries),
      "--operand",
      "blocks : u8[1, ceil_div(M, 128), ceil_div(N, 64)]",
      "--operand",
      "bits : s32[1, M, ceil_div(N, 32)]",
      "--in",
      "blocks=" + blocks,
      "--in",
      "bits=" + bits};
}

}  // namespace

TEST_CASE("a mask's bits are right at every edge, on every target") {
  if (!has_compiler() || !kHasEmulator) return;
  std::size_t cell = 0;
  for (const char* device : {"emulator:sm_80", "emulator:sm_90a", "emulator:sm_100a", "emulator:sm_121a"}) {
    const auto passes = [&](std::vector<std::string> words) {
      if (!testing::takes(cell++)) return;
      words.insert(words.begin(), {"attention_mask", kDevice, device, "--hook",
                                   "mask=k <= q && (q * 7 + k * 3 + head) % 61 > 1 || q % 200 < 20"});
      check_passes(words);
    };
    passes({"HEADS=1", "M=300", "N=1100"});
    passes({"HEADS=3", "M=129", "N=65", "THREADS=128"});
    passes({"HEADS=1", "M=1", "N=1", "THREADS=512"});
    passes({"HEADS=2", "M=0", "N=7"});
    passes({"HEADS=2", "M=7", "N=0"});
  }
}

TEST_CASE("attention by a mask's bits has the bits of attention by its text, whatever number keys are divided by") {
  if (!has_compiler() || !kHasEmulator) return;
  std::size_t cell = 0;
  for (const char* device : {kEmulator, kTwoProcessors, "emulator:sm_100a", "emulator:sm_121a", "emulator:sm_80"}) {
    const auto same = [&](const Problem& problem, const std::vector<std::string>& size) {
      if (!testing::takes(cell++)) return;
      const std::vector<std::string> by_bits = packed(problem, device);
      const auto attend = [&](const std::vector<std::string>& mask, const std::string& result) {
        std::vector<std::string> words = {"attention",
                                          kDevice,
                                          device,
                                          "HEADS=2",
                                          "KV_HEADS=1",
                                          fmt::format("M={}", problem.queries),
                                          fmt::format("N={}", problem.keys),
                                          "--out",
                                          "O=" + result};
        words.insert(words.end(), size.begin(), size.end());
        words.insert(words.end(), mask.begin(), mask.end());
        check_passes(words);
        return bytes_of(result);
      };
      CHECK(attend(by_bits, scratch("by_bits.npy")) ==
            attend({"--hook", "mask=" + problem.mask}, scratch("by_text.npy")));
    };
    same({300, 300, "k <= q && q - k < 100"}, {"HD=64"});
    same({200, 330, "k <= q && (q - k) % 4 == 0"}, {"HD=128"});
    same({70, 330, "k < 70 || q - k < 40", "(2 * 16)"}, {"HD=256"});
    same({130, 200, "k / 50 == q / 50"}, {"HD=192"});
  }
}

TEST_CASE("keys that are divided by less than 32 are read one by one") {
  if (!has_compiler() || !kHasEmulator) return;
  std::vector<std::string> words = packed({64, 64, "(q * 3 + k) % 7 > 2", "16"}, kEmulator);
  words.insert(words.begin(), {"attention", kDevice, kEmulator, "HEADS=1", "KV_HEADS=1", "M=64", "N=64", "HD=64"});
  check_passes(words);
}

TEST_CASE("gradients by a mask's bits are right") {
  if (!has_compiler() || !kHasEmulator) return;
  const auto passes = [](const Problem& problem, const std::vector<std::string>& more) {
    std::vector<std::string> words = packed(problem, kEmulator);
    words.insert(words.begin(), {"attention_backward", kDevice, kEmulator, "HEADS=2", "KV_HEADS=1",
                                 fmt::format("M={}", problem.queries), fmt::format("N={}", problem.keys)});
    words.insert(words.end(), more.begin(), more.end());
    check_passes(words);
  };
  passes({140, 200, "k <= q && q - k < 70"}, {"HD=64"});
  passes({200, 200, "(q * 5 + k * 3) % 7 > 2"}, {"HD=128", "CAUSAL=1"});
  passes({130, 170, "(q * 5 + k * 3) % 7 > 2"}, {"HD=128", "--hook", "score=s - 0.01f * (q - k)"});
  passes({70, 150, "(q * 5 + k * 3) % 7 > 2"}, {"HD=256"});
  passes({70, 64, "(q * 5 + k * 3) % 7 > 2", "16"}, {"HD=64"});
}

}  // namespace tma_jit::cli
