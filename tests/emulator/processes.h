// Parallel work in several processes. Launches on one emulated device are serialised, and a process has one device per
// target.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace tma_jit::testing {

// Returns the results of `work(i)` for every i below `count`, computed by as many forked processes as there are
// processors, or by this process if there is one processor or TMA_JIT_SHARD is set. Other effects of the work are lost.
// Throws if a process does not end normally.
std::vector<std::uint8_t> in_processes(std::size_t count, const std::function<std::uint8_t(std::size_t)>& work);

}  // namespace tma_jit::testing
