// Work on all processors. Launches on one emulated device follow one another, and a process has one device a target:
// so what can be done side by side is done by processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace tma_jit::testing {

// What `work(i)` gives for every i below `count`, each called in one of as many forked processes as there are
// processors, or in this one where there is one or TMA_JIT_SHARD says that other processes share the work already.
// Nothing else that the work does is seen here. Throws where one of them ends in another way than by returning.
std::vector<std::uint8_t> in_processes(std::size_t count, const std::function<std::uint8_t(std::size_t)>& work);

}  // namespace tma_jit::testing
