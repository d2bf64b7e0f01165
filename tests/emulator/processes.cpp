#include "emulator/processes.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <thread>

namespace tma_jit::testing {
namespace {

// The state that the processes share: the next index, and the result for each index.
struct Board {
  std::atomic<std::size_t> next = 0;
  std::uint8_t* results() { return reinterpret_cast<std::uint8_t*>(this + 1); }
};

struct Unmap {
  std::size_t bytes;
  void operator()(Board* board) const { ::munmap(board, bytes); }
};

std::unique_ptr<Board, Unmap> shared_board(std::size_t count) {
  const std::size_t bytes = sizeof(Board) + count;
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("mmap: no memory to share with other processes");
  return {new (memory) Board, Unmap{bytes}};
}

[[noreturn]] void take_turns(Board& board, std::size_t count, const std::function<std::uint8_t(std::size_t)>& work) {
  try {
    for (std::size_t i = board.next++; i < count; i = board.next++) board.results()[i] = work(i);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "in a process of its own: %s\n", e.what());
    ::_exit(EXIT_FAILURE);
  }
  ::_exit(EXIT_SUCCESS);  // skips the parent's remaining tests and its buffered output
}

}  // namespace

std::vector<std::uint8_t> in_processes(std::size_t count, const std::function<std::uint8_t(std::size_t)>& work) {
  const std::size_t processors = std::getenv("TMA_JIT_SHARD") != nullptr ? 1 : std::thread::hardware_concurrency();
  std::vector<std::uint8_t> results(count);
  if (processors <= 1 || count <= 1) {
    for (std::size_t i = 0; i < count; ++i) results[i] = work(i);
    return results;
  }
  const auto board = shared_board(count);
  std::vector<pid_t> children;
  for (std::size_t i = 0; i < processors && i < count; ++i) {
    const pid_t child = ::fork();
    if (child == 0) take_turns(*board, count, work);
    if (child > 0) children.push_back(child);
  }
  bool whole = !children.empty();
  for (const pid_t child : children) {
    int status = 0;
    whole = ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0 && whole;
  }
  if (!whole) throw std::runtime_error("a process of those that share the work did not end well");
  std::copy_n(board->results(), count, results.begin());
  return results;
}

}  // namespace tma_jit::testing
