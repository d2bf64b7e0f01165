// Kernels in CUDA C++, compiled to PTX by the installed NVRTC.
#pragma once

#include <memory>
#include <stdexcept>

#include "compile/compiler.h"
#include "emulator/ptx_kernel.h"

namespace tma_jit::testing {

inline std::string ptx_of(const std::string& cuda, const std::string& arch) {
  static const std::shared_ptr<compile::Compiler> nvrtc = [] {
    const auto location = compile::locate(std::filesystem::path());
    if (!location) throw std::runtime_error(location.error().text());
    auto opened = compile::Compiler::open(*location);
    if (!opened) throw std::runtime_error(opened.error().text());
    return *opened;
  }();
  Source source;
  source.kernel = source.entry = "test";
  source.arch = arch;
  source.name = "test.cu";
  source.text = cuda;
  const auto ptx = nvrtc->ptx(source);
  if (!ptx) throw std::runtime_error(ptx.error().text());
  return *ptx;
}

// Captures the output of a device's kernels during its lifetime.
class PrintedText {
 public:
  explicit PrintedText(std::string_view arch) : device_(device_of(arch)) {
    device_.settings.print = [this](std::string_view text) { text_ += text; };
  }
  ~PrintedText() { device_.settings.print = nullptr; }
  PrintedText(const PrintedText&) = delete;
  PrintedText& operator=(const PrintedText&) = delete;
  std::string take() { return std::exchange(text_, {}); }

 private:
  emulator::driver::Device& device_;
  std::string text_;
};

}  // namespace tma_jit::testing
