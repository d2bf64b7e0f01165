#include "emulator/driver/parameters.h"

#include <algorithm>
#include <cstring>
#include <new>

#include <sys/mman.h>

namespace tma_jit::emulator::driver {
namespace {

constexpr u64 kLowest = u64{1} << 28;  // programs that are not position-independent are loaded below
constexpr u64 kEnd = u64{1} << 32;
constexpr u64 kStep = u64{1} << 20;

std::size_t size_of(const Program& program) {
  return std::max<std::size_t>(program.parameter_bytes, 1);
}

// Maps pages with 32-bit addresses: the first free ones. The host's kernel treats the address as a hint and maps
// elsewhere if it is taken.
u8* map_low(std::size_t bytes) {
  for (u64 hint = kLowest; hint + bytes <= kEnd; hint += kStep) {
    void* const at =
        mmap(reinterpret_cast<void*>(hint), bytes, PROT_READ | PROT_WRITE,  // NOLINT(performance-no-int-to-ptr)
             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) break;
    if (reinterpret_cast<u64>(at) + bytes <= kEnd) return static_cast<u8*>(at);
    munmap(at, bytes);
  }
  throw std::bad_alloc();
}

}  // namespace

Parameters::Parameters(const Program& program, GlobalMemory& memory, void** arguments)
    : memory_(memory), mapped_(size_of(program)), bytes_(map_low(mapped_)) {
  for (std::size_t i = 0; i < program.parameters.size(); ++i)
    std::memcpy(bytes_ + program.parameters[i].offset, arguments[i], program.parameters[i].size);
  memory_.register_external(address(), mapped_, "the kernel's parameters", true);
}

Parameters::~Parameters() {
  memory_.unregister_external(address());
  munmap(bytes_, mapped_);
}

}  // namespace tma_jit::emulator::driver
