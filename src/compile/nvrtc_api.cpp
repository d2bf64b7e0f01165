#include "compile/nvrtc_api.h"

#include <dlfcn.h>

#include "base/fork.h"
#include "core/failure.h"

namespace tma_jit::compile {
namespace {

bool bind(NvrtcApi& api) {
  const Library& library = api.library;
  return library.find(api.version, "nvrtcVersion") && library.find(api.error_string, "nvrtcGetErrorString") &&
         library.find(api.count_archs, "nvrtcGetNumSupportedArchs") &&
         library.find(api.list_archs, "nvrtcGetSupportedArchs") && library.find(api.create, "nvrtcCreateProgram") &&
         library.find(api.destroy, "nvrtcDestroyProgram") && library.find(api.compile, "nvrtcCompileProgram") &&
         library.find(api.ptx_size, "nvrtcGetPTXSize") && library.find(api.ptx, "nvrtcGetPTX") &&
         library.find(api.cubin_size, "nvrtcGetCUBINSize") && library.find(api.cubin, "nvrtcGetCUBIN") &&
         library.find(api.log_size, "nvrtcGetProgramLogSize") && library.find(api.log, "nvrtcGetProgramLog");
}

void* keep_loaded(const std::filesystem::path& path) {
  const NoFork no_fork;
  return ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

// Returns the handle, or nullptr if there are none.
void* preload_builtins(const std::filesystem::path& library, Release release) {
  std::error_code failed;
  const std::filesystem::path folder = std::filesystem::canonical(library, failed).parent_path();
  if (failed) return nullptr;
  const std::string name = library.filename().string();
  const std::string_view variant = name.find(".alt.so") != std::string::npos ? ".alt" : "";
  const std::filesystem::path file = folder / fmt::format("libnvrtc-builtins{}.so.{}", variant, release.text());
  return keep_loaded(std::filesystem::is_regular_file(file, failed) ? file : file.filename());
}

}  // namespace

Result<NvrtcApi> NvrtcApi::load(const std::filesystem::path& path) {
  NvrtcApi api;
  auto library = Library::open(path);
  if (!library)
    return failure(ErrorCode::nvrtc, ErrorReason::library_missing, "cannot load NVRTC: {}", library.error().message);
  api.library = std::move(*library);
  if (!bind(api) || api.version(&api.release.major, &api.release.minor) != NVRTC_SUCCESS) {
    return failure(ErrorCode::nvrtc, "{} is not NVRTC {} or newer: functions are missing from it", path.string(),
                   kOldestRelease.text());
  }
  if (api.release < kOldestRelease) {
    return failure(ErrorCode::unsupported, "{} is NVRTC {}; {} is the oldest that serves", path.string(),
                   api.release.text(), kOldestRelease.text());
  }
  keep_loaded(path);
  TMA_JIT_ASSIGN(std::string ids, build_id(api.library.handle()));
  if (const auto builtins = build_id(preload_builtins(path, api.release))) ids += " " + *builtins;
  api.identity = identity_of(api.release, ids);
  return api;
}

}  // namespace tma_jit::compile
