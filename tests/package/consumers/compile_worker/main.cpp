#include <cstdio>

#include <tma_jit/tma_jit.h>

int main([[maybe_unused]] int argc, [[maybe_unused]] char** argv) {
#if defined(OWN_WORKER)
  if (const auto status = tma_jit::run_compile_worker(argc, argv)) return *status;
#endif
  tma_jit::Options options;
  options.device = tma_jit::Device::known("h100");
  options.use_cache = false;
  options.log = [](tma_jit::LogLevel, std::string_view message) {
    std::printf("said: %.60s\n", std::string(message).c_str());
  };
  tma_jit::Engine engine(options);
  const auto plan = engine.plan({.kernel = "copy", .dims = {{"N", 4096}}});
  if (!plan) return std::printf("%s\n", plan.error().text().c_str());
  const auto cubin = engine.build(*plan);
  if (!cubin) return std::printf("%s\n", cubin.error().text().c_str());
  std::printf("compiled in %s, %d started\n", engine.environment().compiler->place.c_str(),
              static_cast<int>(engine.stats().workers_started));
  return 0;
}
