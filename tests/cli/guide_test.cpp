// The hooks that docs/embedding.md and docs/attention.md show, run as they stand there, the plan of docs/cli.md, and
// what docs/manifest.md says of the 8-bit floats. The kernels of docs/writing-templates.md are tutorial_test.cpp's.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

#include "command.h"
#include "launches.h"

namespace tma_jit::cli {
namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// A line of the examples in docs/attention.md, as words of `run`.
struct Example {
  std::string name;
  std::vector<std::string> words;
};

// The columns of a line, between which there are at least two blanks.
std::vector<std::string> columns_of(const std::string& line) {
  std::vector<std::string> columns;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t end = std::min(line.find("  ", at), line.size());
    columns.push_back(line.substr(at, end - at));
    at = std::min(line.find_first_not_of(' ', end), line.size());
  }
  return columns;
}

std::vector<Example> examples_of(const std::string& page) {
  std::vector<Example> examples;
  const std::size_t begin = page.find("```hooks\n") + 9;
  std::istringstream lines(page.substr(begin, page.find("\n```", begin) - begin));
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string> columns = columns_of(line);
    Example& example = examples.emplace_back(Example{columns.front(), {}});
    for (auto column = columns.begin() + 1; column != columns.end(); ++column) {
      const bool hook = column->starts_with("mask=") || column->starts_with("score=");
      example.words.insert(example.words.end(), {hook ? "--hook" : "--operand", *column});
    }
  }
  return examples;
}

CommandResult checked(const std::string& kernel, const std::filesystem::path& folder, const std::string& device,
                      std::vector<std::string> words) {
  words.insert(words.begin(), {"run", kernel, "--templates", folder.string(), "--check", "--device", device});
  return run_command(words);
}

}  // namespace

TEST_CASE("the hooks that docs/embedding.md shows for map agree with their references") {
  if (!has_compiler() || !kHasEmulator) return;
  const std::string page = text_of(TMA_JIT_SOURCE_DIR "/docs/embedding.md");
  std::vector<std::string> texts;
  for (std::size_t at = page.find("```cuda\n"); at != std::string::npos; at = page.find("```cuda\n", at + 1))
    texts.push_back("apply=" + page.substr(at + 8, page.find("\n```", at) - at - 8));
  REQUIRE(texts.size() == 2);
  const auto check = [&](const std::string& text, std::vector<std::string> words) {
    words.insert(words.begin(),
                 {"run", "map", "--check", "--device", "emulator:sm_90a", "T=bf16", "O=bf16", "--hook", text});
    const CommandResult result = run_command(words);
    CHECK_MESSAGE(result.exit == 0, text << ": " << result.out << result.err);
  };
  check(texts[0], {"N=1003", "--operand", "seed : u64 = 7", "--operand", "rate : f32 = 0.1"});
  check(texts[1], {"M=5", "N=512", "--operand", "x : bf16[M, N]", "--operand", "cosine : f32[M, 64]", "--operand",
                   "sine : f32[M, 64]"});
}

TEST_CASE("docs/cli.md shows what plan prints") {
  const std::string page = text_of(TMA_JIT_SOURCE_DIR "/docs/cli.md"), prompt = "$ tma-jit ";
  const std::size_t begin = page.find(prompt + "plan ") + prompt.size(), end = page.find('\n', begin);
  const std::string shown = page.substr(end + 1, page.find("  ...\n", end) - end - 1);
  std::istringstream line(page.substr(begin, end - begin));
  const CommandResult planned = run_command({std::istream_iterator<std::string>(line), {}});
  CHECK(planned.out.substr(0, shown.size()) == shown);
}

TEST_CASE("attention's examples of masks and scores agree with their references on every architecture") {
  if (!has_compiler() || !kHasEmulator) return;
  const std::vector<Example> examples = examples_of(text_of(TMA_JIT_SOURCE_DIR "/docs/attention.md"));
  REQUIRE(examples.size() == 14);
  constexpr const char* kDevices[] = {launches::kTwoProcessors, "emulator:sm_100a", "emulator:sm_121a",
                                      "emulator:sm_80"};
  for (std::size_t i = 0; i < examples.size(); ++i) {
    std::vector<std::string> words = {"run",        "attention", "--check", "--device", kDevices[i % 4], "HEADS=2",
                                      "KV_HEADS=1", "M=70",      "N=200",   "HD=64",    "LSE=1"};
    words.insert(words.end(), examples[i].words.begin(), examples[i].words.end());
    const CommandResult result = run_command(words);
    CHECK_MESSAGE(result.exit == 0, examples[i].name << ": " << result.out << result.err);
  }
}

TEST_CASE("attention's examples of masks and scores have gradients, whose derivatives are found from the texts") {
  if (!has_compiler() || !kHasEmulator) return;
  const std::vector<Example> examples = examples_of(text_of(TMA_JIT_SOURCE_DIR "/docs/attention.md"));
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const char* const device = i % 2 == 0 ? "emulator:sm_80" : "emulator:sm_90a";
    std::vector<std::string> words = {"run",     "attention_backward", "--check", "--device", device,
                                      "HEADS=2", "KV_HEADS=1",         "M=40",    "N=140",    "HD=64"};
    words.insert(words.end(), examples[i].words.begin(), examples[i].words.end());
    const CommandResult result = run_command(words);
    CHECK_MESSAGE(result.exit == 0, examples[i].name << ": " << result.out << result.err);
  }
}

TEST_CASE("8-bit floats are rounded alike by the instruction and without it, whatever the number") {
  if (!has_compiler() || !kHasEmulator) return;
  const std::filesystem::path folder = scratch_folder() / "rounding";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "round.cu") << R"(//! kernel round_f8
//! arch sm_90a
//! type O = e4m3 in {e4m3, e5m2}
//! dim N
//! tensor D : u32[N] out
//! launch grid ceil_div(N, 128) block 128
//! reference round_f8_reference grid ceil_div(N, 128) block 128
#include "device/ptx/cvt.cuh"
// Every exponent and sign with the mantissas around each tie, and all that is no number.
__device__ f32 number(u32 i) {
  const u32 top = i >> 2 << 18, low = (i & 3) == 0 ? 0 : (i & 3) == 1 ? 1 : (i & 3) == 2 ? 0x3ffff : 0x20000;
  return __uint_as_float(top | low);
}
#ifndef TMA_JIT_REFERENCE
extern "C" __global__ void round_f8(View<u32, 1> D, const Dims dims) {
  const u32 i = blockIdx.x * 128 + threadIdx.x;
  if (i < dims.N) D.data[i] = from_f32<O>(number(i)).bits;
}
#else
template <class F> __device__ u32 code(f32 x);
template <> __device__ u32 code<e4m3>(f32 x) { return to_f8<3, 7, 0x7e>(x); }
template <> __device__ u32 code<e5m2>(f32 x) { return to_f8<2, 15, 0x7b>(x); }
extern "C" __global__ void round_f8_reference(View<f64, 1> D, const Dims dims) {
  const u32 i = blockIdx.x * 128 + threadIdx.x;
  if (i < dims.N) D.data[i] = code<O>(number(i));
}
#endif
)";
  for (const char* type : {"O=e4m3", "O=e5m2"}) {
    const CommandResult result = checked("round_f8", folder, "emulator:sm_90a", {"N=65536", type});
    CHECK_MESSAGE(result.exit == 0, type << ": " << result.out << result.err);
  }
}

}  // namespace tma_jit::cli
