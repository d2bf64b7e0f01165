// The bytes of a launch's parameters, laid out as the kernel's parameter space, and the pointers the driver wants.
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

// The driver wants tensor maps at multiples of 64.
inline constexpr std::size_t kArgumentAlignment = 128;

// True for the kinds that carry a device address and need one: not for an absent or an empty tensor, nor for a
// workspace of no bytes.
bool needs_address(const Argument& argument);

// Writes an address into an argument's bytes. `encoded` says whether a tensor map is there to be changed. The context
// is current: the driver refuses to encode a map where none is (CUDA_ERROR_INVALID_CONTEXT, seen with driver 580).
[[nodiscard]] Result<void> write_address(const Context& context, const Argument& argument, std::uint64_t address,
                                         std::byte* bytes, bool encoded);

// An address the chosen configuration can use: not null, and a multiple of what the plan needs.
[[nodiscard]] Result<void> check_address(const Argument& argument, std::uint64_t address);

// Owned by one Launch; its memory does not move.
class Arguments {
 public:
  // Encodes what has an address; the rest waits for set_address. `arguments` are the plan's, and outlive this.
  [[nodiscard]] static Result<Arguments> encode(const Context& context, std::span<const Argument> arguments);

  [[nodiscard]] Result<void> set_address(const Context& context, std::size_t index, std::uint64_t address);

  // The first argument that needs an address and has none, or null.
  const Argument* unbound() const { return unbound_ == 0 ? nullptr : first_unbound(); }
  // One for each argument. Operands of hooks, which are no parameters of their own, are the last.
  void** pointers() { return pointers_.data(); }
  std::span<const std::byte> bytes() const { return {storage_.get(), size_}; }
  std::size_t count() const { return pointers_.size(); }
  std::size_t offset(std::size_t index) const { return offsets_[index]; }

 private:
  struct AlignedDelete {
    void operator()(std::byte* bytes) const { ::operator delete[](bytes, std::align_val_t{kArgumentAlignment}); }
  };

  explicit Arguments(std::span<const Argument> arguments);
  const Argument* first_unbound() const;

  std::span<const Argument> arguments_;
  std::vector<std::size_t> offsets_;
  std::vector<bool> bound_;
  std::vector<void*> pointers_;
  std::unique_ptr<std::byte[], AlignedDelete> storage_;
  std::size_t size_ = 0;
  std::size_t unbound_ = 0;
};

}  // namespace tma_jit::driver
