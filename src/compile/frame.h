// The messages between a program and its compile worker: frames on a byte stream. Neither side trusts the other's
// bytes, because the compiler may have overwritten the worker's memory.
//
//   frame = magic u32 "TJCW"  version u16  kind u16  size u64  digest u64  payload[size]      little endian
//
// The digest is FNV-1a of the payload, over words of eight bytes and then over single bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tma_jit/error.h>

namespace tma_jit::compile {

// Incremented when the layout of a frame or message changes: a worker of another version is not used.
inline constexpr std::uint16_t kProtocolVersion = 2;
inline constexpr std::size_t kFrameBytesMax = std::size_t{256} << 20;

enum class FrameKind : std::uint16_t {
  greeting = 1,  // worker: its facts, once
  job = 2,       // program: a compile
  started = 3,   // worker: it has a slot and begins
  outcome = 4,   // worker: the result
};

struct Frame {
  FrameKind kind = FrameKind::greeting;
  std::string payload;
};

std::string to_bytes(FrameKind kind, std::string_view payload);

// Splits a byte stream into frames, in whatever pieces the bytes arrive. Unusable after a failure.
class FrameReader {
 public:
  void append(std::string_view bytes) { buffer_.append(bytes); }
  // Returns nullopt while more bytes are needed. Fails (io) if the bytes are not a frame.
  [[nodiscard]] Result<std::optional<Frame>> next();
  // Returns whether a part of a frame has arrived.
  bool in_frame() const { return buffer_.size() > at_; }

 private:
  std::string buffer_;
  std::size_t at_ = 0;  // bytes before it have been consumed
};

// The layout of a payload: numbers little-endian, texts preceded by their size. Reading past the end, or a text longer
// than the rest, puts the reader into a failed state, in which it returns zeros and empty texts.
class PayloadWriter {
 public:
  void number(std::uint64_t value);
  void small(std::int32_t value);
  void real(double value);
  void text(std::string_view value);
  std::string take() && { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class PayloadReader {
 public:
  explicit PayloadReader(std::string_view bytes) : rest_(bytes) {}
  std::uint64_t number();
  std::int32_t small();
  double real();  // finite; otherwise the reader fails
  std::string_view text();
  // Returns the number of elements that follow, each of at least `smallest` bytes; never more than the payload can
  // hold.
  std::size_t count(std::size_t smallest = 8);
  // Returns whether nothing failed and nothing is left.
  bool complete() const { return !failed_ && rest_.empty(); }
  bool failed() const { return failed_; }

 private:
  std::string_view take(std::size_t bytes);
  std::string_view rest_;
  bool failed_ = false;
};

}  // namespace tma_jit::compile
