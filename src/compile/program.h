// One run of NVRTC: a program made, compiled, read and destroyed.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <tma_jit/artifact.h>

#include "compile/nvrtc_api.h"

namespace tma_jit::compile {

struct Outcome {
  nvrtcResult result = NVRTC_SUCCESS;
  std::string log;
  std::vector<std::byte> cubin;  // empty unless the compile succeeded for a real architecture
  std::string ptx;               // also there when only the assembler failed
  double milliseconds = 0;       // of nvrtcCompileProgram
};

Outcome run_program(const NvrtcApi& api, const Source& source, const std::vector<std::string>& options);

}  // namespace tma_jit::compile
