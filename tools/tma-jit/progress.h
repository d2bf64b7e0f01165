// Progress on stderr: a bar that is redrawn on a terminal, else one line per step.
#pragma once

#include <chrono>
#include <mutex>
#include <string>

#include "console.h"

namespace tma_jit::cli {

// Silent with --quiet. Thread-safe.
class Progress {
 public:
  Progress(const Console& console, std::size_t total);
  ~Progress() { finish(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Counts one more item: its name, and its result.
  void step(const std::string& what, const std::string& how);
  // Removes the bar.
  void finish();

  // Returns "[#######.......]  50/100  gemm ...", truncated to the terminal's width.
  static std::string bar(std::size_t done, std::size_t total, const std::string& what, std::size_t columns);

 private:
  const bool shown_;
  const bool terminal_;
  const std::size_t total_;
  std::mutex mutex_;
  std::size_t done_ = 0;
  std::chrono::steady_clock::time_point drawn_;
};

}  // namespace tma_jit::cli
