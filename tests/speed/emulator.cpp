// How fast the emulator is on one core, all checks on: the launches alone, not the compiles. Needs NVRTC.
//   speed_emulator [REPEATS [WORD]]     only the rows whose name has WORD in it
// Prints the least and the median processor time of REPEATS launches, which other processes disturb less than the
// clock's, what they executed, and thread-instructions a second.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <tma_jit/device.h>

#include "emulator/devices.h"
#include "emulator/numeric/float_bits.h"
#include "support/engines.h"
#include "support/temporary_folder.h"

namespace {

using namespace tma_jit;

int repeats = 5;
std::string wanted;

[[noreturn]] void fail(const std::string& text) {
  std::fprintf(stderr, "speed_emulator: %s\n", text.c_str());
  std::exit(1);
}

template <class T> T checked(Result<T> result) {
  if (!result) fail(result.error().text());
  return std::move(*result);
}

void report(const std::string& name, Launch launch, const std::string& arch) {
  std::vector<double> milliseconds;
  for (int i = 0; i < repeats; ++i) {
    const std::clock_t start = std::clock();
    const Result<void> done = launch.launch();
    if (!done) fail(name + ": " + done.error().text());
    milliseconds.push_back(1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  std::ranges::sort(milliseconds);
  const emulator::Counters counters = testing::device_of(arch).last;
  const double best = milliseconds.front();
  std::printf("| %-34s | %9.2f | %9.2f | %9.3f | %9.3f | %6.2f |\n", name.c_str(), best,
              milliseconds[milliseconds.size() / 2], static_cast<double>(counters.instructions) * 1e-6,
              static_cast<double>(counters.thread_instructions) * 1e-6,
              static_cast<double>(counters.thread_instructions) * 1e-6 / best);
  std::fflush(stdout);
}

DeviceBuffer filled(Engine& engine, std::int64_t count) {
  std::mt19937 generator(1);
  std::normal_distribution<float> normal;
  std::vector<std::uint16_t> values(static_cast<std::size_t>(count));
  for (auto& value : values) value = emulator::numeric::f32_to_bf16(normal(generator));
  DeviceBuffer buffer = checked(DeviceBuffer::allocate(engine, values.size() * 2));
  if (!buffer.upload(values.data(), values.size() * 2)) fail("upload");
  return buffer;
}

struct Problem {
  const char* arch;
  const char* file;
  std::int64_t size;
  std::map<std::string, std::int64_t> params;
};

void gemm(const Problem& problem, const std::string& note = "", bool reference = false) {
  const std::string name =
      std::string(problem.file) + (reference ? " reference " : " ") + std::to_string(problem.size) + "^3" + note;
  if (name.find(wanted) == std::string::npos) return;
  Engine engine = testing::emulated_engine(problem.arch);
  const std::int64_t n = problem.size;
  const DeviceBuffer a = filled(engine, n * n), b = filled(engine, n * n);
  const DeviceBuffer d = checked(DeviceBuffer::allocate(engine, static_cast<std::size_t>(n * n) * 8));
  Request request{.kernel = "gemm", .params = problem.params, .file = problem.file};
  request.reference = reference;
  request.tensors = {{"A", Tensor::row_major(a.address(), DType::bf16, {n, n})},
                     {"B", Tensor::row_major(b.address(), DType::bf16, {n, n})},
                     {"D", Tensor::row_major(d.address(), reference ? DType::f64 : DType::bf16, {n, n})}};
  if (reference) request.types = {{"O", DType::bf16}};
  report(name, checked(engine.prepare(request)), problem.arch);
}

// A kernel of the user's own: `work` on eight independent values of a thread, 4096 times.
void arithmetic(const std::string& name, const std::string& type, const std::string& work) {
  if (name.find(wanted) == std::string::npos) return;
  std::string text =
      "//! kernel  arithmetic  \"plain arithmetic\"\n//! arch    sm_90a\n//! dim     N in 1..1048576\n"
      "//! tensor  D : f32[N]  out\n//! launch  grid ceil_div(N, 256)  block 256\n\n"
      "extern \"C\" __global__ void arithmetic(View<float, 1> D, const Dims dims) {\n"
      "  const unsigned at = blockIdx.x * 256 + threadIdx.x;\n  " +
      type + " x[8];\n  for (int i = 0; i < 8; ++i) x[i] = at + i;\n" +
      "  for (int k = 0; k < 4096; ++k) {\n#pragma unroll\n    for (int i = 0; i < 8; ++i) {" + work + "}\n  }\n  " +
      type + " sum = 0;\n  for (int i = 0; i < 8; ++i) sum += x[i];\n" +
      "  if (at < dims.N) D.data[at] = static_cast<float>(sum);\n}\n";
  const TemporaryFolder folder;
  Options options;
  options.cache_dir = folder.path();
  Engine engine = testing::engine_with(options, testing::driver_of("sm_90a"));
  if (const auto added = engine.add_template("arithmetic.cu", text); !added) fail(added.error().text());
  const DeviceBuffer d = checked(DeviceBuffer::allocate(engine, 1024 * 4));
  Request request{.kernel = "arithmetic"};
  request.tensors = {{"D", Tensor::row_major(d.address(), DType::f32, {1024})}};
  report(name, checked(engine.prepare(request)), "sm_90a");
}

}  // namespace

int main(int count, char** words) {
  if (count > 1) repeats = std::max(1, std::atoi(words[1]));
  if (count > 2) wanted = words[2];
  std::printf(
      "| launch, all checks                 |  least ms | median ms | M warp in | M thread  | G th/s |\n"
      "|------------------------------------|----------:|----------:|----------:|----------:|-------:|\n");
  for (const std::int64_t size : {128, 512, 1024}) gemm({"sm_90a", "gemm_wgmma", size, {}});
  for (const std::int64_t size : {128, 512, 1024}) gemm({"sm_100a", "gemm_tcgen05", size, {}});
  for (const std::int64_t size : {128, 512, 1024}) gemm({"sm_121a", "gemm_mma", size, {}});
  for (const std::int64_t size : {512, 1024}) gemm({"sm_90a", "gemm_wgmma", size, {}}, "", true);
  arithmetic("f32 fused multiply-adds", "float", "x[i] = x[i] * 1.0001f + 0.5f;");
  arithmetic("u32 mixed", "unsigned", "x[i] = (x[i] * 1664525u + 1013904223u) ^ (x[i] >> 7);");
}
