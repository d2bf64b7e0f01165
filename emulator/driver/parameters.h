// The parameters of a launch, in memory that kernels read.
#pragma once

#include "emulator/machine/global_memory.h"
#include "emulator/program/program.h"

namespace tma_jit::emulator::driver {

// Copies the values that `arguments` point to into the layout of the program. They are readable during the lifetime of
// this object. They are below 4 GiB, because kernels keep addresses of the parameter window in 32 bits: mov.b32 %r1, p;
// cvt.u64.u32 %d1, %r1; cvta.param.u64 %d1, %d1. Throws std::bad_alloc if the host has no memory there.
class Parameters {
 public:
  Parameters(const Program& program, GlobalMemory& memory, void** arguments);
  ~Parameters();
  Parameters(const Parameters&) = delete;
  Parameters& operator=(const Parameters&) = delete;
  u64 address() const { return reinterpret_cast<u64>(bytes_); }

 private:
  GlobalMemory& memory_;
  const std::size_t mapped_;  // bytes
  u8* const bytes_;
};

}  // namespace tma_jit::emulator::driver
