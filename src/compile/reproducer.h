// What crashed the compiler, saved as one file that can be sent with a report.
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
  std::string reason;             // one line: what happened
  std::string compiler;           // NVRTC's identity
  std::filesystem::path nvrtc;    // the library
  std::filesystem::path program;  // the worker's
};

// Writes <kernel>-<12 digits of the key>.cu into `folder`, which is made (0700) and must be this user's; the oldest go
// when there are more than 16. The file's first lines say how to compile it with the worker and with nvcc.
[[nodiscard]] Result<std::filesystem::path> save_reproducer(const std::filesystem::path& folder,
                                                            const Reproducer& crash, const Key& key);

// The command that compiles `file` as the worker did.
std::string reproducing_command(const Reproducer& crash, const std::filesystem::path& file);

}  // namespace tma_jit::compile
