#include "emulator/driver/library.h"

#include <cstring>

#include "emulator/decode/call_graph.h"
#include "emulator/decode/decoder.h"
#include "emulator/isa/forms.h"

namespace tma_jit::emulator::driver {
namespace {

// Maximum static and dynamic shared memory of a kernel without an opt-in. CUDA C++ Programming Guide 13.0, "Shared
// Memory".
constexpr u32 kSharedWithoutOptIn = 48 * 1024;

bool lives_in_global(const ptx::Variable& variable) {
  return variable.space == ptx::Space::global || variable.space == ptx::Space::constant;
}

}  // namespace

Library::Library(Device& owner, std::string text)
    : device(owner), module(ptx::parse(std::move(text))), globals_{owner.memory, {}} {
  place_globals();
  fill_globals();
}

Library::Globals::~Globals() {
  for (const auto& [name, address] : addresses) memory.free(address);
}

void Library::place_globals() {
  for (const ptx::Variable& variable : module->variables) {
    if (!lives_in_global(variable)) continue;
    if (variable.external)
      throw_fault(FaultKind::unsupported, "the variable {} is defined in another module", variable.name);
    if (globals_.addresses.contains(variable.name))
      throw_fault(FaultKind::syntax, "PTX line {}: variable {} is there already", variable.line, variable.name);
    const u64 address = device.memory.allocate(std::max<u64>(variable.bytes(), 1));
    if (address == 0)
      throw_fault(FaultKind::limit, "no memory for the variable {} of {} bytes", variable.name, variable.bytes());
    globals_.addresses[variable.name] = address;
    std::memset(reinterpret_cast<void*>(address), 0, variable.bytes());
    device.memory.mark_written(address, variable.bytes());
  }
}

void Library::fill_globals() {
  for (const ptx::Variable& variable : module->variables) {
    if (!lives_in_global(variable)) continue;
    auto* bytes = reinterpret_cast<u8*>(globals_.addresses.find(variable.name)->second);
    if (!variable.content.empty()) std::memcpy(bytes, variable.content.data(), variable.content.size());
    for (const auto& [offset, name] : variable.names) {
      const auto found = globals_.addresses.find(name);
      const u64 address = found != globals_.addresses.end() ? found->second : decode::function_address(*module, name);
      if (address == 0) throw_fault(FaultKind::unsupported, "{} holds the address of {}", variable.name, name);
      u64 value = 0;
      if (offset + sizeof value > variable.bytes())
        throw_fault(FaultKind::syntax, "{} is too small for an address", variable.name);
      std::memcpy(&value, bytes + offset, sizeof value);
      value += address;
      std::memcpy(bytes + offset, &value, sizeof value);
    }
  }
}

Kernel* Library::kernel(std::string_view name) {
  const std::lock_guard lock(mutex_);
  const auto found = kernels_.find(name);
  if (found != kernels_.end()) return &found->second;
  const ptx::Function* function = module->function(name);
  if (function == nullptr || !function->entry || !function->defined) return nullptr;
  Kernel made;
  made.library = this;
  made.program = decode::decode(*module, *function, globals_.addresses, isa::all_forms());
  const u32 fixed = made.program->shared_bytes - kReservedShared;
  made.most_dynamic_shared = fixed < kSharedWithoutOptIn ? kSharedWithoutOptIn - fixed : 0;
  return &kernels_.emplace(std::string(name), std::move(made)).first->second;
}

}  // namespace tma_jit::emulator::driver
