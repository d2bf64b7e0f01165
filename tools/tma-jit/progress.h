// Progress on stderr: a bar that is redrawn on a terminal.
#pragma once

#include <chrono>
#include <mutex>
#include <string>

#include "console.h"

namespace tma_jit::cli {

// Silent with --quiet, and where stderr is not a terminal. Thread-safe.
class Progress {
 public:
  Progress(const Console& console, std::size_t total);
  ~Progress() { finish(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Counts one more item.
  void step(const std::string& what);
  // Removes the bar.
  void finish();
  // Draws a bar for work that counts its own items; only where is_shown.
  static void draw(std::size_t done, std::size_t total, double seconds, const std::string& what);
  // Removes any bar until its next step, so that something else can be printed there. Thread-safe.
  static void erase();
  // Returns whether there is a terminal to draw on, and nobody asked for silence.
  static bool is_shown(const Console& console);

  // Returns "[#######.......]  50/100  2.5/s  0:20 left  gemm ...", truncated to the terminal's width. `seconds` is the
  // time since the start; the time left assumes that the rest takes as long per item.
  static std::string bar(std::size_t done, std::size_t total, double seconds, const std::string& what,
                         std::size_t columns);

 private:
  const bool shown_;
  const std::size_t total_;
  std::mutex mutex_;
  std::size_t done_ = 0;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point drawn_;
};

}  // namespace tma_jit::cli
