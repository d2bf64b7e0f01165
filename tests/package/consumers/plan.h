// What every consumer does: plan one request for a device by name, which needs neither a GPU nor CUDA, and print it.
#pragma once

#include <cstdio>

#include <tma_jit/tma_jit.h>

inline int print_plan(tma_jit::Engine& engine, const tma_jit::Request& request) {
  const auto plan = engine.plan(request);
  if (!plan) {
    std::fprintf(stderr, "%s\n", plan.error().text().c_str());
    return 1;
  }
  std::printf("%s from %s for %s\n", plan->kernel.c_str(), plan->file.c_str(), plan->arch.c_str());
  for (const auto& [name, value] : plan->config)
    std::printf("  %s = %lld\n", name.c_str(), static_cast<long long>(value));
  std::printf("  grid %u, %u, %u  block %u  shared %u\n", plan->geometry.grid[0], plan->geometry.grid[1],
              plan->geometry.grid[2], plan->geometry.block[0], plan->geometry.smem_bytes);
  return 0;
}
