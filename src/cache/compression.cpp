#include "cache/compression.h"

#include <memory>

#include <fmt/format.h>
#include <zstd.h>

namespace tma_jit::cache {
namespace {

constexpr int kLevel = 3;

// Upper bound of the compression ratio: a frame has 17 bytes, and 3 for each block of 128 KB, whatever its content.
constexpr std::size_t kRatioMax = 40'000;

}  // namespace

std::vector<std::byte> compressed(std::span<const std::byte> raw) {
  const std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> context(ZSTD_createCCtx(), ZSTD_freeCCtx);
  std::vector<std::byte> frame(ZSTD_compressBound(raw.size()));
  if (!context) return {};
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  const std::size_t size = ZSTD_compress2(context.get(), frame.data(), frame.size(), raw.data(), raw.size());
  if (ZSTD_isError(size) != 0 || size > raw.size() - raw.size() / 10) return {};
  frame.resize(size);
  return frame;
}

tl::expected<std::vector<std::byte>, std::string> decompressed(std::span<const std::byte> frame,
                                                               std::size_t raw_bytes) {
  const unsigned long long stated = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (stated != raw_bytes) return tl::make_unexpected(std::string("its zstd frame states another size"));
  if (ZSTD_findFrameCompressedSize(frame.data(), frame.size()) != frame.size())
    return tl::make_unexpected(std::string("its payload is not one zstd frame"));
  if (raw_bytes / kRatioMax > frame.size())
    return tl::make_unexpected(fmt::format("{} bytes cannot be {} compressed", frame.size(), raw_bytes));
  std::vector<std::byte> raw(raw_bytes);
  const std::size_t size = ZSTD_decompress(raw.data(), raw.size(), frame.data(), frame.size());
  if (ZSTD_isError(size) != 0) return tl::make_unexpected(std::string(ZSTD_getErrorName(size)));
  if (size != raw_bytes) return tl::make_unexpected(fmt::format("{} bytes, stated are {}", size, raw_bytes));
  return raw;
}

}  // namespace tma_jit::cache
