#include "progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdint>

namespace tma_jit::cli {
namespace {

constexpr std::size_t kBarColumns = 24;
constexpr std::chrono::milliseconds kRedraw{50};

std::atomic<bool> on_screen = false;

std::size_t terminal_columns() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

// Returns "2.5/s  0:20 left  "; empty before the first item.
std::string rate_words(std::size_t done, std::size_t total, double seconds) {
  if (done == 0 || !(seconds > 0)) return {};
  const double rate = static_cast<double>(done) / seconds;
  const auto left = static_cast<std::int64_t>(std::ceil(static_cast<double>(total - done) / rate));
  return fmt::format("{:.1f}/s  {}:{:02} left  ", rate, left / 60, left % 60);
}

}  // namespace

Progress::Progress(const Console& console, std::size_t total) : shown_(total > 0 && is_shown(console)), total_(total) {}

bool Progress::is_shown(const Console& console) {
  return !console.quiet && !console.json && ::isatty(STDERR_FILENO) == 1;
}

void Progress::erase() {
  if (!on_screen.exchange(false)) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
}

std::string Progress::bar(std::size_t done, std::size_t total, double seconds, const std::string& what,
                          std::size_t columns) {
  const std::size_t filled = total == 0 ? kBarColumns : done * kBarColumns / total;
  std::string text =
      fmt::format("[{}{}] {:>{}}/{}  {}{}", std::string(filled, '#'), std::string(kBarColumns - filled, '.'), done,
                  std::to_string(total).size(), total, rate_words(done, total, seconds), what);
  if (text.size() >= columns)
    text.resize(columns == 0 ? 0 : columns - 1);  // writing to the last column would wrap the
                                                  // line
  return text;
}

void Progress::draw(std::size_t done, std::size_t total, double seconds, const std::string& what) {
  fmt::print(stderr, "\r{}\x1b[K", bar(done, total, seconds, what, terminal_columns()));
  std::fflush(stderr);
  on_screen = true;
}

void Progress::step(const std::string& what) {
  const std::lock_guard lock(mutex_);
  ++done_;
  if (!shown_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - drawn_ < kRedraw && done_ < total_) return;
  drawn_ = now;
  const std::chrono::duration<double> seconds = now - start_;
  draw(done_, total_, seconds.count(), what);
}

void Progress::finish() {
  const std::lock_guard lock(mutex_);
  if (!shown_ || done_ == 0) return;
  erase();
  done_ = 0;
}

}  // namespace tma_jit::cli
