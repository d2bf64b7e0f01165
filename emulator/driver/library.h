// Loaded PTX: a module, its global variables in memory, and its kernels, each decoded when it is first asked for.
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

namespace tma_jit::emulator {

struct Library;

// What stands behind a CUkernel and a CUfunction.
struct Kernel {
  Library* library = nullptr;
  std::unique_ptr<const Program> program;
  u32 most_dynamic_shared = 0;
  bool large_clusters = false;
};

// Belongs to the device that was current when it was loaded.
struct Library {
  Library(Device& owner, std::string text);  // throws Fault
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  // Null where the module has no kernel of that name; throws Fault where it cannot be decoded.
  Kernel* kernel(std::string_view name);

  Device& device;
  std::unique_ptr<const ptx::Module> module;

 private:
  // Memory of the device, also given back where loading fails.
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

}  // namespace tma_jit::emulator
