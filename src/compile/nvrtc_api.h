// NVRTC's functions, loaded with dlopen. The library does not link NVRTC; nvrtc.h provides the types.
#pragma once

#include <nvrtc.h>

#include <filesystem>
#include <string>

#include <tma_jit/error.h>

#include "base/library.h"
#include "compile/release.h"

namespace tma_jit::compile {

struct NvrtcApi {
  Library library;
  Release release;
  std::string identity;  // from the build ids of the loaded files
  decltype(&nvrtcVersion) version = nullptr;
  decltype(&nvrtcGetErrorString) error_string = nullptr;
  decltype(&nvrtcGetNumSupportedArchs) count_archs = nullptr;
  decltype(&nvrtcGetSupportedArchs) list_archs = nullptr;
  decltype(&nvrtcCreateProgram) create = nullptr;
  decltype(&nvrtcDestroyProgram) destroy = nullptr;
  decltype(&nvrtcCompileProgram) compile = nullptr;
  decltype(&nvrtcGetPTXSize) ptx_size = nullptr;
  decltype(&nvrtcGetPTX) ptx = nullptr;
  decltype(&nvrtcGetCUBINSize) cubin_size = nullptr;
  decltype(&nvrtcGetCUBIN) cubin = nullptr;
  decltype(&nvrtcGetProgramLogSize) log_size = nullptr;
  decltype(&nvrtcGetProgramLog) log = nullptr;

  // Loads the library for the life of the process, together with its builtins: those beside it, which NVRTC would not
  // find in a private folder, else those that the loader finds. NVRTC opens no library later.
  [[nodiscard]] static Result<NvrtcApi> load(const std::filesystem::path& path);
};

}  // namespace tma_jit::compile
