// Kernels of a few PTX instructions, run on an emulated device.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "emulator/decode/decoder.h"
#include "emulator/devices.h"
#include "emulator/driver/device.h"
#include "emulator/driver/launch.h"
#include "emulator/driver/library.h"
#include "emulator/machine/machine.h"

namespace tma_jit::testing {

using emulator::s32;
using emulator::s64;
using emulator::u16;
using emulator::u32;
using emulator::u64;
using emulator::u8;

// Device memory for the duration of a test, accessible through its address.
class TestMemory {
 public:
  TestMemory(emulator::driver::Device& device, std::size_t bytes, bool written = true)
      : device_(device), address_(device.memory.allocate(bytes)) {
    if (written) device_.memory.mark_written(address_, bytes);
  }
  ~TestMemory() { device_.memory.free(address_); }
  TestMemory(const TestMemory&) = delete;
  TestMemory& operator=(const TestMemory&) = delete;
  std::uint64_t address() const { return address_; }
  template <class T> T* as() { return reinterpret_cast<T*>(address_); }

 private:
  emulator::driver::Device& device_;
  std::uint64_t address_;
};

// Returns a kernel "test(.param .u64 p)" with the value of `p` in %base and the thread index in %t.
inline std::string kernel_text(std::string_view body, std::string_view arch = "sm_90a", std::string_view before = "") {
  std::string text = ".version 9.0\n.target ";
  text += arch;
  text += "\n.address_size 64\n";
  text += before;
  text +=
      ".visible .entry test(.param .u64 p) {\n"
      ".reg .pred %p<16>; .reg .b16 %h<32>; .reg .b32 %r<64>; .reg .b64 %d<64>; .reg .f32 %f<32>; .reg .f64 %g<16>;\n"
      ".reg .u64 %base; .reg .u32 %t;\n"
      "ld.param.u64 %base, [p];\nmov.u32 %t, %tid.x;\n";
  text += body;
  text += "\nret;\n}\n";
  return text;
}

struct RunShape {
  unsigned grid = 1, block = 32, cluster = 1, dynamic_shared = 0;
  bool cooperative = false;
};

// Runs the text's kernel "test" on `memory`. Throws emulator::Fault.
inline void run_ptx(const std::string& text, TestMemory& memory, RunShape shape = {},
                    std::string_view arch = "sm_90a") {
  emulator::driver::Library library(device_of(arch), text);
  emulator::driver::Kernel* kernel = library.kernel("test");
  REQUIRE(kernel != nullptr);
  if (shape.dynamic_shared > kernel->most_dynamic_shared) kernel->most_dynamic_shared = shape.dynamic_shared;
  CUlaunchAttribute attributes[2]{};
  attributes[0].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  attributes[0].value.cooperative = shape.cooperative ? 1 : 0;
  attributes[1].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attributes[1].value.clusterDim.x = shape.cluster;
  attributes[1].value.clusterDim.y = attributes[1].value.clusterDim.z = 1;
  CUlaunchConfig config{};
  config.gridDimX = shape.grid;
  config.blockDimX = shape.block;
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = shape.dynamic_shared;
  config.attrs = attributes;
  config.numAttrs = shape.cluster > 1 ? 2 : 1;
  std::uint64_t address = memory.address();
  void* arguments[] = {&address};
  emulator::driver::launch(*kernel, config, arguments);
}

// Returns the fault's text, or "" if there was none.
inline std::string fault_of(const std::string& text, TestMemory& memory, RunShape shape = {},
                            std::string_view arch = "sm_90a") {
  try {
    run_ptx(text, memory, shape, arch);
  } catch (const emulator::Fault& fault) {
    return fault.text();
  }
  return "";
}

}  // namespace tma_jit::testing
