// The gradients of attention: of its masks and scores, of every size of head, and at every edge; and the derivatives of
// the functions that a score may call.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdint>
#include <fstream>
#include <span>
#include <utility>
#include <vector>

#include "command.h"
#include "npy.h"
#include "support/combinations.h"

namespace tma_jit::cli {
namespace {

using Words = std::vector<std::string>;

CommandResult run_checked(Words words, const Words& more) {
  words.insert(words.begin(), "run");
  words.insert(words.end(), {"--check", "--json"});
  words.insert(words.end(), more.begin(), more.end());
  return run_command(words);
}

void check_passes(const Words& words, const Words& more) {
  const CommandResult result = run_checked(words, more);
  CAPTURE(words);
  CAPTURE(more);
  CAPTURE(result.err);
  CAPTURE(result.out);
  CHECK(result.exit == 0);
}

CommandResult planned(const Words& words) {
  Words all = {"plan", "attention_backward", "--device", "h200"};
  all.insert(all.end(), words.begin(), words.end());
  return run_command(all);
}

// A file of attention_backward and a device for it.
struct File {
  const char *name, *device;
};
constexpr File kFiles[] = {{"attention_backward_mma_cp_async", "emulator:sm_80"},
                           {"attention_backward_wgmma", "emulator:sm_90a:processors=3"}};

// The problems of a file. By wgmma each is there twice, with either order of the sums. Unless all combinations are
// taken, each problem is checked once: by one file, or by the other in one of the orders.
class FileProblems {
 public:
  explicit FileProblems(const File& file) : file_(file) {}

  void check(Words words, const Words& hooks = {}) {
    constexpr std::size_t kWays = 3;
    const std::size_t cell = number_++;
    words.insert(words.begin(), {"attention_backward", "--template-file", file_.name, "--device", file_.device});
    words.emplace_back("ATOMIC=0");
    if (testing::takes(&file_ == kFiles ? cell : cell + 1, kWays)) check_passes(words, hooks);
    words.back() = "ATOMIC=1";
    if (&file_ != kFiles && testing::takes(cell + 2, kWays)) check_passes(words, hooks);
  }

 private:
  const File& file_;
  std::size_t number_ = 0;  // of the next problem
};

Words backward(const File& file) {
  return {"attention_backward", "--template-file", file.name, "--device", file.device, "HEADS=2", "KV_HEADS=1"};
}

// Each function of the expression has its derivative; x is from 0.1 to 0.9.
constexpr const char* kDifferentiable[] = {
    "fabs(x) + abs(-x) + sqrt(x) * rsqrtf(x + 1) - cbrt(x) / rcbrtf(x)",
    "exp(x) + exp2f(-x) + 0.1f * exp10(x) + expm1f(x) * __expf(x)",
    "log(x) + log2f(x) * log10(x) - log1pf(x) + __logf(x + 1) * __log2f(x) + __log10f(x)",
    "__sinf(x) * __cosf(2 * x) + __exp10f(x)",
    "asin(x) + acosf(x) * atan(x) + 1 / (1 + x)",
    "sinh(x) * coshf(x) - tanh(x) + asinhf(x) + acosh(1 + x) * atanhf(x)",
    "erf(x) + erfcf(x) * x + normcdf(x) - +x",
    "floor(10 * x) * x + ceilf(10 * x) * x + trunc(10 * x) * x",
    "roundf(10 * x) * x + rint(10 * x) * x + nearbyintf(10 * x) * x",
    "max(x, 0.5f) + min(x * x, 0.3f) + fmaxf(2 * x, 1) + fminf(x, 0.7f) + fdimf(x, 0.2f)",
    "fmodf(3 * x, 0.7f) + remainderf(3 * x, 0.7f) + copysignf(x, -1.0f) + hypot(x, 2 * x) + atan2f(x, 1 + x * x)",
    "powf(x, 3) + pow(2, x) + __powf(x, 1.5f) + __fdividef(1 + x, 2 + x) + fma(x, x, x) + fmaf(2, x, 1) + ldexpf(x, 2)",
    "sigmoid(3 * x - 1) + silu(x) - gelu(2 * x) * gelu_tanh(1 - 2 * x)",
    "softcap(2 * x, 3) + softcap(x, 2 * x) - softcap(0.7f, x) * softcap(x - 3, 0.5) + softcap_approx(x, 2)",
    "(x)",
    "x + sqrt(fmaxf(x - 2, 0)) + cbrt(min(x, 0.0f)) + asin(max(x, 1.0f)) + exp(log(fminf(x, 0)))",
    "x < 0.5f ? x * x : x > 0.7f ? -x : 3",
    "(isnan(x) || isinf(x) || !isfinite(x) ? 0.0f : x) * (x == 2 || x != 3) * (x <= 1 && x >= 0)",
};

}  // namespace

TEST_CASE("the derivative of a text is that of differences, whatever function it calls") {
  if (!has_compiler() || !kHasEmulator) return;
  const std::filesystem::path folder = scratch_folder() / "slopes";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "slope.cu") << R"(//! kernel slope
//! arch sm_80
//! dim N
//! tensor D : f32[N] out
//! hook apply(f32 x) : f32 generic = x
//! launch grid ceil_div(N, 128) block 128
//! reference slope_reference grid ceil_div(N, 128) block 128 bits 8
#include "device/tile/dual.cuh"
// Between the steps of functions that have them.
__device__ f64 argument(int i, int n) { return 0.1033 + 0.8 * i / n; }
#ifndef TMA_JIT_REFERENCE
extern "C" __global__ void slope(View<f32, 1> D, const Dims dims, const __grid_constant__ Hooks hooks) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < dims.N) D.data[i] = Dual<f32>(hooks.apply_of(Dual<f32>(argument(i, dims.N), 1))).slope;
}
#else
extern "C" __global__ void slope_reference(View<f64, 1> D, const Dims dims, const __grid_constant__ Hooks hooks) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= dims.N) return;
  const f64 x = argument(i, dims.N), step = 1e-4;
  D.data[i] = (hooks.apply(x + step) - hooks.apply(x - step)) / (2 * step);
}
#endif
)";
  for (const char* text : kDifferentiable)
    check_passes({"slope", "--templates", folder.string(), "--device", "emulator:sm_80", "N=37"},
                 {"--hook", std::string("apply=") + text});
}

TEST_CASE("the sums that gradients of scores need are those of each query") {
  if (!has_compiler() || !kHasEmulator) return;
  for (const char* size : {"HD=32", "HD=96", "HD=128", "HD=192"})
    check_passes({"attention_delta", "--device", "emulator:sm_80", "HEADS=3", "M=77"}, {size});
}

TEST_CASE("the gradient of a sink is a sum that docs/attention.md shows") {
  if (!has_compiler() || !kHasEmulator) return;
  check_passes(
      {"reduce", "--device", "emulator:sm_80", "M=16", "K=409"},
      {"--hook", "input=-x * expf(sink[m] - l[m, k])", "--operand", "sink : f32[M]", "--operand", "l : f32[M, K]"});
}

TEST_CASE("attention has gradients of every size of head, of keys and of values") {
  if (!has_compiler() || !kHasEmulator) return;
  for (const File& file : kFiles) {
    FileProblems problems(file);
    for (const char* size : {"HD=32", "HD=64", "HD=96", "HD=128"})
      problems.check({"HEADS=2", "KV_HEADS=1", "M=37", "N=133", size, "CAUSAL=1", "T=f16"});
    for (const char* size : {"HD=192", "HD=256"})
      problems.check({"HEADS=1", "KV_HEADS=1", "M=20", "N=70", size, "CAUSAL=1"});
    problems.check({"HEADS=2", "KV_HEADS=1", "M=70", "N=135", "HD=192", "VD=128"});
    problems.check({"HEADS=2", "KV_HEADS=1", "M=170", "N=230", "HD=192", "VD=64", "CAUSAL=1"});
    problems.check({"HEADS=1", "KV_HEADS=1", "M=40", "N=30", "HD=256", "VD=64", "T=f16"});
    problems.check({"HEADS=1", "KV_HEADS=1", "M=70", "N=30", "HD=128", "VD=64"});
    problems.check({"HEADS=1", "KV_HEADS=1", "M=70", "N=30", "HD=96", "VD=32"});
  }
}

TEST_CASE("attention has gradients by tcgen05, of every size of head and at every edge, in both orders of their sums") {
  if (!has_compiler() || !kHasEmulator) return;
  int index = 0;
  const auto passes = [&](const Words& words, const Words& hooks = {}) {
    Words all = {"attention_backward",
                 "--template-file",
                 "attention_backward_tcgen05",
                 "--device",
                 "emulator:sm_100a:processors=3",
                 "HEADS=2",
                 "KV_HEADS=1",
                 fmt::format("ATOMIC={}", index++ % 2)};
    all.insert(all.end(), words.begin(), words.end());
    check_passes(all, hooks);
  };
  passes({"M=37", "N=133", "HD=96", "CAUSAL=1", "T=f16"});
  passes({"M=70", "N=30", "HD=128", "VD=64"});
  passes({"M=150", "N=30", "HD=32", "CAUSAL=1"});
  passes({"M=30", "N=0"});
  passes({"M=140", "N=300", "CAUSAL=1"});
  passes({"M=20", "N=140", "HD=128"});
  passes({"M=40", "N=200"}, {"--hook", "mask=0"});
  passes({"M=70", "N=400"}, {"--hook", "mask=k / 130 == 2"});
  passes({"M=150", "N=70", "HD=128"}, {"--hook", "mask=k <= q && q - k < 40", "--hook", "score=20 * tanh(s / 20)"});
  passes({"M=77", "N=150", "HD=256", "CAUSAL=1", "T=f16"});
  passes({"M=70", "N=100", "HD=192", "VD=128"});
  passes({"M=1", "N=70", "HD=192", "VD=64", "CAUSAL=1"});
  passes({"M=30", "N=0", "HD=256"});
  passes({"M=130", "N=140", "HD=192"}, {"--hook", "mask=k <= q && k / 64 != 1"});
  passes({"M=100", "N=70", "HD=256", "VD=96"}, {"--hook", "mask=abs(q - k) < 40", "--hook", "score=20 * tanh(s / 20)"});
}

TEST_CASE("attention of numbers of 8 bits has gradients on every architecture, with scales and without") {
  if (!has_compiler() || !kHasEmulator) return;
  const auto passes = [](const char* device, const Words& words, const Words& hooks = {}) {
    Words all = {"attention_backward", "--device", device, "HEADS=4", "KV_HEADS=2", "T=e4m3"};
    all.insert(all.end(), words.begin(), words.end());
    check_passes(all, hooks);
  };
  passes("emulator:sm_80", {"M=37", "N=133", "HD=64", "R=f16"});
  passes("emulator:sm_90a", {"M=37", "N=70", "HD=128", "SCALED=1", "CAUSAL=1"});
  passes("emulator:sm_100a", {"M=20", "N=33", "HD=256", "VD=128", "SCALED=1"});
  passes("emulator:sm_121a", {"M=37", "N=33", "HD=96", "VD=32", "SCALED=1", "R=f16"},
         {"--hook", "score=20 * tanh(s / 20)", "--hook", "mask=abs(q - k) < 20"});
  const CommandResult other = run_checked({"attention_backward", "--device", "emulator:sm_80", "HEADS=1", "KV_HEADS=1"},
                                          {"M=1", "N=1", "T=bf16", "SCALED=1"});
  CHECK(other.err.find("only numbers of 8 bits have scales") != std::string::npos);
}

TEST_CASE("attention has gradients, also of queries that see no keys, of none, and of heads that share keys") {
  if (!has_compiler() || !kHasEmulator) return;
  for (const File& file : kFiles) {
    FileProblems problems(file);
    problems.check({"HEADS=2", "KV_HEADS=1", "M=1", "N=1"});
    problems.check({"HEADS=2", "KV_HEADS=1", "M=150", "N=30", "CAUSAL=1"});
    problems.check({"HEADS=2", "KV_HEADS=1", "M=0", "N=30"});
    problems.check({"HEADS=2", "KV_HEADS=2", "M=30", "N=0", "CAUSAL=1"});
    problems.check({"HEADS=6", "KV_HEADS=2", "M=33", "N=165"});
    problems.check({"HEADS=2", "KV_HEADS=2", "M=140", "N=300", "CAUSAL=1"});
  }
}

TEST_CASE("tiles of few heads begin at steps of their own and wrap around, with the same gradients") {
  if (!has_compiler() || !kHasEmulator) return;
  std::size_t cell = 0;
  for (const char* policy : {"eager,seed=1", "lazy,seed=5", "random,seed=3"}) {
    const auto passes = [&](Words words) {
      if (!testing::takes(cell++)) return;
      words.insert(words.begin(), {"attention_backward", "--template-file", "attention_backward_wgmma", "--device",
                                   std::string("emulator:sm_90a:processors=3,policy=") + policy, "HEADS=2", "WRAP=1"});
      check_passes(words, {});
    };
    passes({"KV_HEADS=2", "M=400", "N=300", "HD=128"});  // steps two apart
    passes({"KV_HEADS=1", "M=300", "N=300", "HD=64"});
    passes({"KV_HEADS=2", "M=150", "N=300", "HD=256"});  // more tiles than steps
    passes({"KV_HEADS=2", "M=100", "N=300", "HD=192", "VD=128"});
    passes({"KV_HEADS=1", "M=100", "N=60", "HD=128"});  // one tile
    passes({"KV_HEADS=1", "M=100", "N=0", "HD=64"});
  }
  CHECK(planned({"HEADS=8", "KV_HEADS=8", "M=2048", "N=2048", "HD=128"}).out.find("WRAP=1") != std::string::npos);
  CHECK(planned({"HEADS=80", "KV_HEADS=80", "M=2048", "N=2048", "HD=128"}).out.find("WRAP=0") != std::string::npos);
  CHECK(planned({"HEADS=8", "KV_HEADS=8", "M=2048", "N=2048", "CAUSAL=1", "HD=128"}).out.find("WRAP=0") !=
        std::string::npos);
  CHECK(planned({"HEADS=8", "KV_HEADS=8", "M=2048", "N=2048", "CAUSAL=1", "WRAP=1", "HD=128"})
            .err.find("tiles go round whose order is fixed and that all visit the same steps") != std::string::npos);
}

TEST_CASE("blocks share a tile of keys by heads or by steps, with the same gradients") {
  if (!has_compiler() || !kHasEmulator) return;
  std::size_t cell = 0;
  for (const char* policy : {"eager,seed=1", "lazy,seed=5", "random,seed=3"}) {
    const auto passes = [&](Words words, const Words& hooks = {}) {
      if (!testing::takes(cell++)) return;
      words.insert(words.begin(), {"attention_backward", "--template-file", "attention_backward_wgmma", "--device",
                                   std::string("emulator:sm_90a:processors=3,policy=") + policy});
      check_passes(words, hooks);
    };
    passes({"HEADS=7", "KV_HEADS=1", "M=100", "N=150", "HD=64", "CAUSAL=1", "SPLIT=4"});
    passes({"HEADS=4", "KV_HEADS=2", "M=100", "N=150", "HD=256", "SPLIT=2", "WRAP=1"});
    passes({"HEADS=2", "KV_HEADS=2", "M=300", "N=200", "HD=128", "SPLIT=2", "WRAP=1"});  // by steps
    passes({"HEADS=2", "KV_HEADS=1", "M=300", "N=200", "HD=192", "SPLIT=4", "CAUSAL=1"});
    passes({"HEADS=2", "KV_HEADS=2", "M=300", "N=200", "HD=64", "SPLIT=2", "ATOMIC=1"});
    passes({"HEADS=4", "KV_HEADS=2", "M=200", "N=300", "HD=128", "SPLIT=2"}, {"--hook", "mask=k <= q && q - k < 70"});
    passes({"HEADS=2", "KV_HEADS=1", "M=100", "N=0", "HD=64", "SPLIT=2"});
    passes({"HEADS=2", "KV_HEADS=1", "M=0", "N=100", "HD=64", "SPLIT=2"});
  }
  const Words shared = {"HEADS=28", "KV_HEADS=4", "M=1024", "N=1024"};
  const auto with = [&](Words more) {
    more.insert(more.begin(), shared.begin(), shared.end());
    return planned(more);
  };
  CHECK(with({"HD=128", "CAUSAL=1"}).out.find("SPLIT=4") != std::string::npos);
  CHECK(planned({"HEADS=28", "KV_HEADS=28", "M=4096", "N=4096", "HD=128"}).out.find("SPLIT=1") != std::string::npos);
  const auto batch = [&](const std::string& length, Words more) {  // eight sequences of 32 heads that share 8 of keys
    more.insert(more.begin(), {"KV_HEADS=64", "HEADS=256", "M=" + length, "N=" + length});
    return planned(more).out;
  };
  CHECK(batch("2048", {"HD=128", "CAUSAL=1"}).find("SPLIT=1") != std::string::npos);
  CHECK(batch("512", {"HD=256", "CAUSAL=1"}).find("SPLIT=2") != std::string::npos);
  CHECK(batch("512", {"HD=256", "--hook", "mask=k <= q"}).find("SPLIT=2") != std::string::npos);
  CHECK(batch("512", {"HD=64", "CAUSAL=1"}).find("SPLIT=1") != std::string::npos);
  const char* refused =
      "tiles are shared whose results are stored from registers, by heads, or by steps if all see them";
  CHECK(with({"HD=192", "VD=128", "TILE=96", "SPLIT=2"}).err.find(refused) != std::string::npos);
  CHECK(with({"HD=128", "SPLIT=8", "--hook", "mask=k <= q"}).err.find(refused) != std::string::npos);
}

TEST_CASE("attention's gradients are those of masks and scores, whose derivative is found from the text") {
  if (!has_compiler() || !kHasEmulator) return;
  for (const File& file : kFiles) {
    FileProblems problems(file);
    const auto passes = [&](const char* queries, const char* keys, const Words& hooks) {
      problems.check({"HEADS=2", "KV_HEADS=1", queries, keys}, hooks);
    };
    passes("M=70", "N=400", {"--hook", "mask=k < 70 || q - k < 100"});
    passes("M=400", "N=70", {"--hook", "mask=(q - k) % 300 == 0"});
    passes("M=150", "N=270", {"--hook", "mask=k <= q && q - k < 40", "--hook", "score=s - 0.05f * (q - k)"});
    passes("M=40", "N=200", {"--hook", "mask=0"});
    passes("M=100", "N=200", {"--hook", "mask=k <= q - 30 * head"});
    passes("M=70", "N=200", {"CAUSAL=1", "--operand", "first : s32[N]", "--hook", "mask=k >= first[q]"});
    passes("M=70", "N=100", {"--hook", "mask=const int x = q - k; return x >= 0 && x < 40;"});
    passes("M=70", "N=100", {"--scalar", "scale=-0.2", "--hook", "score=20 * tanh(s / 20)"});
    passes("M=70", "N=100", {"--hook", "score=q % 3 == 0 ? -1.0f / 0.0f : s * s * 0.01f"});
    passes("M=0", "N=70", {"HD=192"});
    passes("M=70", "N=150", {"HD=256", "--hook", "mask=k <= q && q - k < 40", "--hook", "score=20 * tanh(s / 20)"});
    passes("M=40", "N=140", {"HD=192", "--hook", "mask=k < 64"});
    passes("M=70", "N=140", {"HD=192", "VD=128", "--hook", "mask=k <= q && q - k < 40"});
    passes("M=70", "N=140", {"HD=192", "VD=128", "CAUSAL=1", "--hook", "score=20 * tanh(s / 20)"});
  }
}

TEST_CASE("sequences of different lengths have gradients of their own, by every file") {
  if (!has_compiler() || !kHasEmulator) return;
  const std::string queries = (scratch_folder() / "rows_of_queries.npy").string();
  const std::string keys = (scratch_folder() / "rows_of_keys.npy").string();
  const std::vector<std::int64_t> shape = {6};
  const std::vector<std::int32_t> first_query = {5, 75, 75, 76, 140, 273}, first_key = {0, 70, 75, 75, 139, 339};
  REQUIRE(write_npy(queries, DType::s32, shape, std::as_bytes(std::span(first_query))).has_value());
  REQUIRE(write_npy(keys, DType::s32, shape, std::as_bytes(std::span(first_key))).has_value());
  const std::vector<std::pair<const char*, const char*>> files = {
      {"attention_ragged_backward_mma_cp_async", "emulator:sm_80"},
      {"attention_ragged_backward_tcgen05", "emulator:sm_100a:processors=2,policy=lazy"},
      {"attention_ragged_backward_wgmma", "emulator:sm_90a:processors=3"}};
  for (const auto& [file, device] : files) {
    const bool one_order = file == files[0].first, few = file == files[1].first;
    std::size_t first = one_order ? 0 : 1;
    for (const char* order : {"ATOMIC=0", "ATOMIC=1"}) {
      std::size_t cell = first++;
      const Words words = {"attention_ragged_backward", "--template-file", file, "--device", device, order};
      const auto check = [&](Words more) {
        more.insert(more.end(), {"BATCH=5", "HEADS=2", "KV_HEADS=1", "M=280", "N=350", "--in", "CU=" + queries, "--in",
                                 "CUK=" + keys});
        check_passes(words, more);
      };
      const auto passes = [&](const Words& more) {
        if (testing::takes(cell++, 3)) check(more);  // of each problem one file and order
      };
      if (few) {  // of the second problem some tiles have no steps
        check(order == std::string("ATOMIC=0") ? Words{"HD=128", "CAUSAL=1"}
                                               : Words{"HD=64", "--hook", "mask=k / 130 == 1 && abs(q - k) < 140"});
        check(order == std::string("ATOMIC=0") ? Words{"HD=192", "VD=128", "CAUSAL=1"} : Words{"HD=256"});
      } else {
        passes({"HD=64", "CAUSAL=1"});
        passes({"HD=128", "T=f16"});
        passes({"HD=192", "VD=128", "CAUSAL=1"});
        passes({"HD=96", "VD=32", "--hook", "mask=abs(q - k) < 40", "--hook", "score=s - 0.1f * head"});
      }
      check_passes(words, {"BATCH=0", "HEADS=2", "KV_HEADS=1", "M=10", "N=10"});
      if (one_order) break;
    }
  }
}

TEST_CASE("a derivative that the request gives is used, a wrong one is found, and a missing one is asked for") {
  if (!has_compiler() || !kHasEmulator) return;
  constexpr const char* kBody = "score=const float half = 0.1f * s; return half * half;";
  for (const File& file : kFiles) {
    const Words words = backward(file);
    const Words small = {"M=37", "N=70", "--hook", kBody};
    const auto given = [&](const char* slope) {
      Words more = small;
      if (slope != nullptr) more.insert(more.end(), {"--hook", slope});
      return run_checked(words, more);
    };
    CHECK(given("score_gradient=0.02f * s").exit == 0);
    const CommandResult wrong = given("score_gradient=0.03f * s");
    CHECK(wrong.exit != 0);
    CHECK(wrong.json()["check"]["passed"] == false);
    const CommandResult missing = given(nullptr);
    CHECK(missing.exit != 0);
    CHECK(missing.err.find("give its derivative by s as the hook score_gradient") != std::string::npos);
    const CommandResult alone = run_checked(words, {"M=37", "N=70", "--hook", "score_gradient=2"});
    CHECK(alone.err.find("score_gradient is the derivative of a score of yours") != std::string::npos);
  }
}

}  // namespace tma_jit::cli
