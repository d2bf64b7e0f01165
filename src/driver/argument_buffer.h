// The bytes of a launch's parameters, laid out like the kernel's parameter space, and the pointers that the driver
// takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <tma_jit/plan.h>

#include "driver/context.h"

namespace tma_jit::driver {

// The driver requires tensor maps at multiples of 64 bytes.
inline constexpr std::size_t kArgumentAlignment = 128;

// Returns whether the argument needs a device address: not for an absent or empty tensor or a workspace of 0 bytes, nor
// for a kind without address.
bool needs_address(const Argument& argument);

// Writes an address into an argument's bytes. `encoded` says whether they already contain an encoded tensor map. The
// context must be current: the driver does not encode a map otherwise (CUDA_ERROR_INVALID_CONTEXT, seen with driver
// 580).
[[nodiscard]] Result<void> write_address(const Context& context, const Argument& argument, std::uint64_t address,
                                         std::byte* bytes, bool encoded);

// Returns whether the argument at `index` begins a parameter of the kernel: it is no operand of hooks, and no further
// entry of a list.
bool begins_parameter(std::span<const Argument> arguments, std::size_t index);

// Fails unless the address is not null and a multiple of the alignment that the plan needs.
[[nodiscard]] Result<void> check_address(const Argument& argument, std::uint64_t address);

// The arguments of one Launch, which owns them. Their memory does not move.
class Arguments {
 public:
  // Encodes the arguments whose addresses are known; set_address adds the others. `arguments` are the plan's and must
  // outlive this object.
  [[nodiscard]] static Result<Arguments> encode(const Context& context, std::span<const Argument> arguments);

  [[nodiscard]] Result<void> set_address(const Context& context, std::size_t index, std::uint64_t address);

  // Returns the first argument that needs an address and has none, or null.
  const Argument* unbound() const { return unbound_ == 0 ? nullptr : first_unbound(); }
  // Returns one pointer per parameter: the arguments of a list are one, and operands of hooks are none.
  void** pointers() { return pointers_.data(); }
  std::span<const std::byte> bytes() const { return {storage_.get(), size_}; }
  std::size_t offset(std::size_t index) const { return offsets_[index]; }  // of an argument
  std::size_t count() const { return pointers_.size(); }                   // of parameters
  std::size_t parameter_offset(std::size_t index) const { return offsets_[parameters_[index]]; }

 private:
  struct AlignedDelete {
    void operator()(std::byte* bytes) const { ::operator delete[](bytes, std::align_val_t{kArgumentAlignment}); }
  };

  explicit Arguments(std::span<const Argument> arguments);
  const Argument* first_unbound() const;

  std::span<const Argument> arguments_;
  std::vector<std::size_t> offsets_;
  std::vector<std::size_t> parameters_;  // the first argument of each parameter
  std::vector<bool> bound_;
  std::vector<void*> pointers_;
  std::unique_ptr<std::byte[], AlignedDelete> storage_;
  std::size_t size_ = 0;
  std::size_t unbound_ = 0;
};

}  // namespace tma_jit::driver
