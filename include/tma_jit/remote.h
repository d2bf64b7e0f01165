// Operations on the remote level of the cache without an engine: fill it, copy from it, look at it, prove that it
// works. Options that are unset are taken from the environment, as an engine does.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <tma_jit/error.h>
#include <tma_jit/options.h>

namespace tma_jit {

struct RemoteTransfer {
  std::string remote{};       // the server, without credentials
  std::uint64_t entries = 0;  // that the destination should have afterwards
  std::uint64_t there = 0;    // those of them that it had before
  std::uint64_t moved = 0, moved_bytes = 0;
  std::uint64_t failed = 0;
  std::string fault{};  // why the first of these failed
};

// Called after each entry, by one thread at a time but not always the same.
using TransferProgress = std::function<void(std::uint64_t done, std::uint64_t entries)>;

// Uploads the sound entries of a folder that the server lacks, and adds all of them, and the compilers that made them,
// to the server's catalogue. Two pushes at the same time may leave entries of one out of the catalogue, not off the
// server. Fails if the server cannot be used at all.
[[nodiscard]] TMA_JIT_API Result<RemoteTransfer> cache_push(const std::filesystem::path& root,
                                                            const RemoteOptions& remote = {},
                                                            const TransferProgress& progress = {});
// Copies what the server's catalogue lists and the folder lacks into the folder. With `pack_keys`, or an
// administrator's rule, every entry must be signed by one of those keys, as in an engine.
[[nodiscard]] TMA_JIT_API Result<RemoteTransfer> cache_pull(const std::filesystem::path& root,
                                                            const RemoteOptions& remote = {},
                                                            const std::vector<std::filesystem::path>& pack_keys = {},
                                                            bool shared = false, const TransferProgress& progress = {});

struct RemoteStat {
  std::string remote{};                  // the server, without credentials
  std::uint64_t entries = 0;             // of its catalogue; engines also upload what is not listed there
  std::vector<std::string> compilers{};  // that made them
  double health_ms = 0;
};
// Fails if the server does not answer or does not accept the credentials.
[[nodiscard]] TMA_JIT_API Result<RemoteStat> remote_stat(const RemoteOptions& remote = {},
                                                         const std::vector<std::filesystem::path>& pack_keys = {});

struct RemoteProof {
  std::string remote{};  // the server, without credentials
  bool written = false;  // false for a role that only reads: then only `health` was asked
  double health_ms = 0, put_ms = 0, get_ms = 0, exists_ms = 0;
};
// Writes a small entry of its own, reads it back through all checks, and asks whether it exists and whether an entry
// that was never written exists. Fails if any answer is wrong.
[[nodiscard]] TMA_JIT_API Result<RemoteProof> remote_prove(const RemoteOptions& remote = {},
                                                           const std::vector<std::filesystem::path>& pack_keys = {});

}  // namespace tma_jit
