// What travels between a program and its compile worker: frames on a byte stream. Neither side trusts the other's
// bytes: the compiler may have written over the worker's memory.
//
//   frame = magic u32 "TJCW"  version u16  kind u16  size u64  digest u64  payload[size]      little endian
//
// The digest is FNV-1a of the payload, by words of eight bytes and then by bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tma_jit/error.h>

namespace tma_jit::compile {

// Raised when a frame's or a message's layout changes: a worker of another version is not used.
inline constexpr std::uint16_t kProtocolVersion = 2;
inline constexpr std::size_t kFrameBytesMax = std::size_t{256} << 20;

enum class FrameKind : std::uint16_t {
  greeting = 1,  // worker: what it is, once
  job = 2,       // program: compile this
  started = 3,   // worker: it has a slot and begins
  outcome = 4,   // worker: what came of it
};

struct Frame {
  FrameKind kind = FrameKind::greeting;
  std::string payload;
};

std::string to_bytes(FrameKind kind, std::string_view payload);

// Bytes in, frames out, in whatever pieces they come. After a failure nothing more can be read.
class FrameReader {
 public:
  void append(std::string_view bytes) { buffer_.append(bytes); }
  // Returns nullopt while more bytes are needed. Fails (io) on bytes that are no frame.
  [[nodiscard]] Result<std::optional<Frame>> next();
  // Whether a part of a frame has come.
  bool in_frame() const { return buffer_.size() > at_; }

 private:
  std::string buffer_;
  std::size_t at_ = 0;  // before it all is read
};

// The layout of a payload: numbers little endian, texts with their size in front. Reading past the end, or a text
// longer than what is left, makes the reader fail and stay failed; it then gives zeros and empty texts.
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
  double real();  // finite, or the reader fails
  std::string_view text();
  // How many elements follow, each of at least `smallest` bytes: never more than the payload can hold.
  std::size_t count(std::size_t smallest = 8);
  // Nothing failed and nothing is left.
  bool complete() const { return !failed_ && rest_.empty(); }
  bool failed() const { return failed_; }

 private:
  std::string_view take(std::size_t bytes);
  std::string_view rest_;
  bool failed_ = false;
};

}  // namespace tma_jit::compile
