// The source that crashed the compiler, saved as one file that can be sent with a report.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <tma_jit/artifact.h>
#include <tma_jit/error.h>

namespace tma_jit::compile {

struct Reproducer {
  Source source;
  std::vector<std::string> options;
  std::string reason;             // one line: the crash
  std::string compiler;           // NVRTC's identity
  std::filesystem::path nvrtc;    // the library
  std::filesystem::path program;  // the worker's program
};

// Writes <kernel>-<12 digits of the key>.cu into `folder`, which is created (0700) if missing and must belong to this
// user; beyond 16 files the oldest are removed. The file's first lines are the commands that compile it with the worker
// and with nvcc.
[[nodiscard]] Result<std::filesystem::path> save_reproducer(const std::filesystem::path& folder,
                                                            const Reproducer& crash, const Key& key);

// Returns the command that compiles `file` as the worker did.
std::string reproducing_command(const Reproducer& crash, const std::filesystem::path& file);

}  // namespace tma_jit::compile
