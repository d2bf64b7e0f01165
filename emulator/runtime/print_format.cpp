#include "emulator/runtime/print_format.h"

#include <bit>
#include <cstdio>
#include <vector>

namespace tma_jit::emulator::runtime {
namespace {

constexpr std::string_view kFlags = "-+ #0";
constexpr std::string_view kDigits = "0123456789";
constexpr int kMostWidth = 4096;  // of a field; limits the memory that a format may take

// A parsed conversion specification such as "%-8.3lld".
struct Conversion {
  std::string flags;
  int width = -1, precision = -1;
  bool wide = false;  // 8 bytes: l, ll, j, z, t
  char letter = '\0';
};

class Formatter {
 public:
  Formatter(std::string_view format, const PrintSource& source) : rest_(format), source_(source) {}

  Printed run() {
    while (!rest_.empty()) {
      const std::size_t percent = rest_.find('%');
      done_.text += rest_.substr(0, percent);
      if (percent == std::string_view::npos) break;
      rest_.remove_prefix(percent);
      convert();
    }
    return std::move(done_);
  }

 private:
  char peek() const { return rest_.empty() ? '\0' : rest_.front(); }

  u64 next_argument(u32 bytes) {
    offset_ = (offset_ + bytes - 1) / bytes * bytes;
    const u64 value = source_.argument(offset_, bytes);
    offset_ += bytes;
    ++done_.arguments;
    return value;
  }

  // Parses digits, or a '*' that takes an int argument; returns -1 if there are none.
  int number() {
    if (peek() == '*') {
      rest_.remove_prefix(1);
      return static_cast<int>(static_cast<u32>(next_argument(4)));
    }
    if (kDigits.find(peek()) == std::string_view::npos || peek() == '\0') return -1;
    int value = 0;
    for (; peek() >= '0' && peek() <= '9'; rest_.remove_prefix(1))
      value = value > kMostWidth ? value : 10 * value + (peek() - '0');
    return value;
  }

  Conversion read() {
    Conversion c;
    rest_.remove_prefix(1);  // skips the percent sign
    for (; peek() != '\0' && kFlags.find(peek()) != std::string_view::npos; rest_.remove_prefix(1)) c.flags += peek();
    c.width = number();
    if (c.width < -1) {
      c.flags += '-';
      c.width = -c.width;
    }
    if (peek() == '.') {
      rest_.remove_prefix(1);
      c.precision = std::max(number(), 0);
    }
    for (; peek() != '\0' && std::string_view("hljztL").find(peek()) != std::string_view::npos; rest_.remove_prefix(1))
      c.wide = c.wide || (peek() != 'h' && peek() != 'L');
    c.letter = peek();
    if (!rest_.empty()) rest_.remove_prefix(1);
    c.width = std::min(c.width, kMostWidth);
    c.precision = std::min(c.precision, kMostWidth);
    return c;
  }

  template <class T> void append(const Conversion& c, const char* length, T value) {
    std::string spec = "%" + c.flags;
    if (c.width >= 0) spec += std::to_string(c.width);
    if (c.precision >= 0) spec += "." + std::to_string(c.precision);
    spec += length;
    spec += c.letter;
    const int size = std::snprintf(nullptr, 0, spec.c_str(), value);
    if (size < 0) return;
    std::vector<char> text(static_cast<std::size_t>(size) + 1);
    std::snprintf(text.data(), text.size(), spec.c_str(), value);
    done_.text.append(text.data(), static_cast<std::size_t>(size));
  }

  void convert() {
    const std::string_view whole = rest_;
    const Conversion c = read();
    switch (c.letter) {
      case '%': done_.text += '%'; return;
      case 'd':
      case 'i':
        if (c.wide) return append(c, "ll", static_cast<long long>(next_argument(8)));
        return append(c, "", static_cast<int>(static_cast<u32>(next_argument(4))));
      case 'u':
      case 'o':
      case 'x':
      case 'X':
        if (c.wide) return append(c, "ll", static_cast<unsigned long long>(next_argument(8)));
        return append(c, "", static_cast<unsigned>(next_argument(4)));
      case 'c': return append(c, "", static_cast<int>(static_cast<u32>(next_argument(4))));
      case 'f':
      case 'F':
      case 'e':
      case 'E':
      case 'g':
      case 'G':
      case 'a':
      case 'A': return append(c, "", std::bit_cast<double>(next_argument(8)));
      case 'p': return append(c, "", reinterpret_cast<const void*>(next_argument(8)));
      case 's': {
        const u64 address = next_argument(8);
        return append(c, "", (address == 0 ? std::string("(null)") : source_.text(address)).c_str());
      }
      default: done_.text += whole.substr(0, whole.size() - rest_.size());
    }
  }

  std::string_view rest_;
  const PrintSource& source_;
  Printed done_;
  u64 offset_ = 0;
};

}  // namespace

Printed print_formatted(std::string_view format, const PrintSource& source) {
  return Formatter(format, source).run();
}

}  // namespace tma_jit::emulator::runtime
