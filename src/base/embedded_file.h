// A file compiled into the library by tools/cmake/TmaJitEmbed.cmake.
#pragma once

namespace tma_jit {

struct EmbeddedFile {
  const char* name;  // path below the embedded folder, e.g. "kernels/gemm.cu"
  const char* text;  // not necessarily terminated
  unsigned long size;
};

extern const EmbeddedFile kEmbeddedTemplates[];
extern const unsigned long kEmbeddedTemplatesCount;
extern const EmbeddedFile kDeviceFacts[];
extern const unsigned long kDeviceFactsCount;

}  // namespace tma_jit
