// What docs/embedding.md shows that needs no device: plans, builds ahead, hooks, forks, several engines. Ends with 77
// where there is no NVRTC.
#include <sys/wait.h>
#include <unistd.h>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include <tma_jit/tma_jit.h>

using namespace tma_jit;

namespace {

int report(const Error& error) {
  std::fprintf(stderr, "%s\n", error.text().c_str());
  return error.code == ErrorCode::nvrtc ? 77 : 1;
}

int build_ahead() {
  Engine engine({.device = Device::known("h100")});
  auto plan = engine.plan({.kernel = "gemm", .dims = {{"M", 4096}, {"N", 4096}, {"K", 4096}}});
  if (!plan) return report(plan.error());
  std::printf("%s: %u blocks of %u threads\n", plan->file.c_str(), plan->geometry.grid[0], plan->geometry.block[0]);
  auto cubin = engine.build(*plan);  // from the cache, or by NVRTC and into the cache
  if (!cubin) return report(cubin.error());
  return 0;
}

int build_a_hook(Engine& engine, const std::string& expression) {
  auto request =
      Request{.kernel = "map", .dims = {{"N", 1 << 20}}, .params = {{"INPUTS", 2}}, .hooks = {{"apply", expression}}};
  auto plan = engine.plan(request);
  if (!plan) return report(plan.error());
  auto cubin = engine.build(*plan);
  return cubin ? 0 : report(cubin.error());
}

int build_in_threads() {
  Engine engine({.device = Device::known("h100"), .use_cache = false});
  std::vector<int> outcomes(4);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] { outcomes[i] = build_a_hook(engine, "a * b + 1.0f"); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int outcome : outcomes) {
    if (outcome != 0) return outcome;
  }
  return engine.stats().compiles == 1 ? 0 : 1;  // the others waited for it
}

// A device cannot be used on both sides of a fork; plans, texts and builds can.
int build_after_a_fork() {
  Engine engine({.device = Device::known("h100"), .use_cache = false});
  if (const int outcome = build_a_hook(engine, "a + b"); outcome != 0) return outcome;
  const pid_t child = ::fork();
  if (child == 0) ::_exit(build_a_hook(engine, "a - b"));
  int status = 0;
  if (::waitpid(child, &status, 0) != child || !WIFEXITED(status)) return 1;
  return WEXITSTATUS(status) != 0 ? WEXITSTATUS(status) : build_a_hook(engine, "a * b");
}

int build_with_operands() {
  Engine engine({.device = Device::known("h100")});
  auto gated = Request{.kernel = "gemm",
                       .dims = {{"M", 4096}, {"N", 4096}, {"K", 4096}},
                       .scalars = {{"alpha", 0.5}},
                       .hooks = {{"epilogue", "fmaxf(alpha * x + bias[column], 0) * up[row, column]"}},
                       .operands = {"bias : f32[N]", "up : bf16[M, N]", "alpha : f32"}};
  auto plan = engine.plan(gated);
  if (!plan) return report(plan.error());
  auto cubin = engine.build(*plan);
  return cubin ? 0 : report(cubin.error());
}

// At most `sms` SMs run it: it has at most that many blocks, which divide the tiles among them.
Request within(Request request, int sms) {
  request.sm_budget = sms;
  return request;
}

// Each block takes the next tile when it has finished one, so that no tile waits for a block that begins late.
Request drawn(Request gemm) {
  gemm.params["DYNAMIC"] = 1;
  return gemm;
}

int plan_beside_others() {
  Engine engine({.device = Device::known("h100")});
  const Request gemm{.kernel = "gemm", .dims = {{"M", 4096}, {"N", 4096}, {"K", 4096}}};
  for (const Request& request : {within(gemm, 112), drawn(gemm), within(drawn(gemm), 112)}) {
    auto plan = engine.plan(request);
    if (!plan) return report(plan.error());
    if (request.sm_budget != 0 && plan->geometry.grid[0] > 112) return 1;
  }
  return 0;
}

}  // namespace

int main() {
  for (const auto part : {build_ahead, build_in_threads, build_after_a_fork, build_with_operands, plan_beside_others}) {
    if (const int outcome = part(); outcome != 0) return outcome;
  }
  return 0;
}
