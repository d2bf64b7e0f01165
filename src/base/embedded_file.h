// A file compiled into the library by tools/cmake/TmaJitEmbed.cmake.
#pragma once

namespace tma_jit {

struct EmbeddedFile {
  const char* name;  // path below the embedded folder, e.g. "kernels/gemm_wgmma.cu"
  const char* text;  // not necessarily terminated
  unsigned long size;
};

}  // namespace tma_jit
