#include "advice.h"

#include <algorithm>

#include <fmt/format.h>

namespace tma_jit::cli {

std::string advice_for_driver(const Error& error) {
  switch (error.reason) {
    case ErrorReason::library_missing:
      return "install the NVIDIA driver (525 or newer); in a container, start it with the GPU (docker run --gpus all)";
    case ErrorReason::emulator_missing: return "install the emulator's library, or name its file in TMA_JIT_EMULATOR";
    case ErrorReason::no_device:
      return "see whether nvidia-smi lists a GPU, whether CUDA_VISIBLE_DEVICES hides it, and whether the container was "
             "given it";
    case ErrorReason::library_outdated: return "update the NVIDIA driver to 525 or newer";
    default:
      return "see whether nvidia-smi works; a reboot or a reload of the nvidia module may be due after an update";
  }
}

std::string advice_for_device(const Error& error) {
  if (error.code == ErrorCode::not_found) return "choose one of the devices there are, with --device";
  return advice_for_driver(error);
}

std::string advice_for_compiler() {
  return "install NVRTC (package cuda-nvrtc of the CUDA toolkit, or nvidia-cuda-nvrtc from PyPI), or name the library "
         "with --nvrtc or TMA_JIT_NVRTC; kernels that a cache has need none";
}

std::string advice_for_kernel(const Error& error, const Environment& found) {
  if (error.reason == ErrorReason::image_refused) {
    return "the driver is older than NVRTC: update the driver, or name an older NVRTC with --nvrtc";
  }
  const bool compiling =
      error.code == ErrorCode::compile || error.code == ErrorCode::nvrtc || error.code == ErrorCode::unsupported;
  if (compiling && !found.compiler) return advice_for_compiler();
  if (compiling && found.device) {
    const auto& archs = found.compiler->archs;
    if (std::find(archs.begin(), archs.end(), found.device->arch) == archs.end()) {
      return fmt::format(
          "NVRTC {} does not compile for {}: install a newer CUDA toolkit and name its libnvrtc with --nvrtc",
          found.compiler->version, found.device->arch);
    }
    if (!found.compiler->missing_features.empty()) {
      return fmt::format("NVRTC {} lacks features of newer releases (above): try a newer one with --nvrtc",
                         found.compiler->version);
    }
  }
  if (error.code == ErrorCode::driver && error.reason == ErrorReason::out_of_memory) {
    return "the device's memory is taken by others: see nvidia-smi";
  }
  return "a defect of tma-jit: please report it with the output of tma-jit doctor --json";
}

std::string advice_for_wrong_result(const std::string& words) {
  return fmt::format(
      "the device computed it wrongly: please report it with the output of tma-jit doctor --json and of "
      "tma-jit run {} --check --json",
      words);
}

}  // namespace tma_jit::cli
