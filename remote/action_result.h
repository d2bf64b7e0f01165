// The one message of Bazel's remote execution API that its cache demands, encoded and decoded by hand: an ActionResult
// with one output file and exit code 0 (build/bazel/remote/execution/v2/remote_execution.proto).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tma_jit::remote {

// The content of an output file, as the protocol's Digest names it.
struct Blob {
  std::string sha256;  // 64 lower-case hexadecimal digits
  std::uint64_t bytes = 0;
};

// ActionResult { output_files (2): OutputFile { path (1): string, digest (2): Digest { hash (1): string,
// size_bytes (2): int64 } } }; a field that is 0, such as exit_code (4), is left out.
std::vector<std::byte> action_result(std::string_view path, const Blob& blob);

// Returns the digest of the first output file; nullopt if the message is malformed or has none. Other fields are
// skipped.
std::optional<Blob> output_of(std::span<const std::byte> action_result);

}  // namespace tma_jit::remote
