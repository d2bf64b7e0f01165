// Work that several threads share.
#pragma once

#include <cstddef>
#include <functional>
#include <system_error>
#include <thread>
#include <vector>

namespace tma_jit::cli {

// Runs `work` in this thread and in up to `others` more, and returns when all have ended. Where the system starts no
// further thread, as at a limit of a container's processes, those that there are do the work.
template <class Work> void run_together(std::size_t others, const Work& work) {
  std::vector<std::thread> threads;
  while (threads.size() < others) {
    try {
      threads.emplace_back(std::cref(work));
    } catch (const std::system_error&) {
      break;
    }
  }
  work();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace tma_jit::cli
