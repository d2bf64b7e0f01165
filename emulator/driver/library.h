// Loaded PTX: a module, its global variables in memory, and its kernels, which are decoded at first use.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "emulator/decode/frame.h"
#include "emulator/driver/device.h"
#include "emulator/program/program.h"
#include "emulator/ptx/module.h"

namespace tma_jit::emulator::driver {

struct Library;

// The object behind a CUkernel or a CUfunction.
struct Kernel {
  Library* library = nullptr;
  std::unique_ptr<const Program> program;
  u32 most_dynamic_shared = 0;
  bool large_clusters = false;
  bool reference = false;  // guarded by the device's launch_mutex
};

// Belongs to the device that was current when it was loaded.
struct Library {
  Library(Device& owner, std::string text);  // throws Fault
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  // Returns null if the module has no kernel of that name. Throws Fault if the kernel cannot be decoded.
  Kernel* kernel(std::string_view name);

  Device& device;
  std::unique_ptr<const ptx::Module> module;

 private:
  // Global variables in device memory, freed also if loading fails.
  struct Globals {
    ~Globals();
    GlobalMemory& memory;
    decode::GlobalAddresses addresses;
  };
  void place_globals();
  void fill_globals();

  Globals globals_;
  std::map<std::string, Kernel, std::less<>> kernels_;
  std::mutex mutex_;
};

}  // namespace tma_jit::emulator::driver
