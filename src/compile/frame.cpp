#include "compile/frame.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/failure.h"

namespace tma_jit::compile {
namespace {

constexpr std::uint32_t kMagic = 0x57434A54;  // "TJCW"
constexpr std::size_t kHeaderBytes = 24;
constexpr std::size_t kCompactAt = std::size_t{64} << 10;  // consumed bytes are dropped once there are this many

static_assert(std::endian::native == std::endian::little);

template <class T> void put(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class T> T get(std::string_view bytes, std::size_t at) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::uint64_t digest_of(std::string_view bytes) {
  constexpr std::uint64_t kPrime = 0x100000001b3;
  std::uint64_t hash = 0xcbf29ce484222325;
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) hash = (hash ^ get<std::uint64_t>(bytes, at)) * kPrime;
  for (; at < bytes.size(); ++at) hash = (hash ^ static_cast<unsigned char>(bytes[at])) * kPrime;
  return hash ^ (hash >> 32);
}

}  // namespace

std::string to_bytes(FrameKind kind, std::string_view payload) {
  std::string bytes;
  bytes.reserve(kHeaderBytes + payload.size());
  put(bytes, kMagic);
  put(bytes, kProtocolVersion);
  put(bytes, static_cast<std::uint16_t>(kind));
  put(bytes, std::uint64_t{payload.size()});
  put(bytes, digest_of(payload));
  return bytes.append(payload);
}

Result<std::optional<Frame>> FrameReader::next() {
  const std::string_view bytes = std::string_view(buffer_).substr(at_);
  // Checks each part of a header as soon as it has arrived, so that the reader does not wait for more bytes of garbage.
  const std::string_view magic(reinterpret_cast<const char*>(&kMagic), sizeof kMagic);
  if (bytes.substr(0, 4) != magic.substr(0, bytes.size())) return failure(ErrorCode::io, "not a frame");
  if (bytes.size() < kHeaderBytes) return std::optional<Frame>();
  if (const auto version = get<std::uint16_t>(bytes, 4); version != kProtocolVersion) {
    return failure(ErrorCode::unsupported, "a frame of protocol {}; this library speaks {}", version, kProtocolVersion);
  }
  const auto kind = get<std::uint16_t>(bytes, 6);
  if (kind < 1 || kind > 4) return failure(ErrorCode::io, "a frame of kind {}", kind);
  const auto size = get<std::uint64_t>(bytes, 8);
  if (size > kFrameBytesMax) return failure(ErrorCode::io, "a frame of {} bytes", size);
  if (bytes.size() - kHeaderBytes < size) return std::optional<Frame>();
  Frame frame{static_cast<FrameKind>(kind), std::string(bytes.substr(kHeaderBytes, size))};
  if (digest_of(frame.payload) != get<std::uint64_t>(bytes, 16)) {
    return failure(ErrorCode::io, "a damaged frame of {} bytes", size);
  }
  at_ += kHeaderBytes + size;
  if (at_ == buffer_.size() || at_ >= kCompactAt) buffer_.erase(0, std::exchange(at_, 0));
  return std::optional<Frame>(std::move(frame));
}

void PayloadWriter::number(std::uint64_t value) {
  put(bytes_, value);
}

void PayloadWriter::small(std::int32_t value) {
  number(static_cast<std::uint32_t>(value));
}

void PayloadWriter::real(double value) {
  put(bytes_, value);
}

void PayloadWriter::text(std::string_view value) {
  number(value.size());
  bytes_.append(value);
}

std::string_view PayloadReader::take(std::size_t bytes) {
  if (failed_ || bytes > rest_.size()) {
    failed_ = true;
    return {};
  }
  const std::string_view taken = rest_.substr(0, bytes);
  rest_.remove_prefix(bytes);
  return taken;
}

std::uint64_t PayloadReader::number() {
  const std::string_view bytes = take(8);
  return failed_ ? 0 : get<std::uint64_t>(bytes, 0);
}

std::int32_t PayloadReader::small() {
  const std::uint64_t bits = number();
  if (bits > std::numeric_limits<std::uint32_t>::max()) failed_ = true;
  return failed_ ? 0 : static_cast<std::int32_t>(static_cast<std::uint32_t>(bits));
}

double PayloadReader::real() {
  const std::string_view bytes = take(8);
  const double value = failed_ ? 0 : get<double>(bytes, 0);
  if (!std::isfinite(value)) failed_ = true;
  return failed_ ? 0 : value;
}

std::string_view PayloadReader::text() {
  return take(number());
}

std::size_t PayloadReader::count(std::size_t smallest) {
  const std::uint64_t elements = number();
  if (elements > rest_.size() / smallest) failed_ = true;
  return failed_ ? 0 : elements;
}

}  // namespace tma_jit::compile
