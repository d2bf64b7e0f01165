// The tensors of a problem, allocated on the device for tuning.
#pragma once

#include <string>
#include <vector>

#include <tma_jit/device.h>

namespace tma_jit::tuning {

struct TensorShape {
  std::string name;
  Tensor tensor;
  bool output = false;
  bool movable = false;     // whether it may lie anywhere in its memory, all of which holds such data
  std::int64_t before = 0;  // elements from the lowest to the first, where strides are negative
  std::int64_t span = 0;    // elements from the lowest to the highest, including gaps between rows

  // The address of the lowest element.
  std::uint64_t lowest() const { return tensor.address - static_cast<std::uint64_t>(before) * size_of(tensor.dtype); }
};
// One tensor, with its address, and its memory, which it owns.
struct MadeTensor : TensorShape {
  DeviceBuffer buffer;
};

// Allocates the tensors of a plan with its shapes and strides, at addresses aligned as the plan assumes. The memory of
// one without indices is at least kRoom longer than it.
[[nodiscard]] Result<std::vector<MadeTensor>> make_tensors(Engine& engine, const Plan& plan);
// Fills those that are inputs with random data, the same each time: standard normal numbers, valid indices, or integers
// from 0 to 3.
[[nodiscard]] Result<void> fill_inputs(std::vector<MadeTensor>& tensors, const Plan& plan, const SideStream& side);

// How long a kernel takes depends on where its tensors lie, by up to 9 % (seen on an H100): L2's slices and the
// memory's channels are chosen by address. So times are measured in several places.
inline constexpr std::uint64_t kRoom = std::uint64_t{2} << 20;
// Returns the address of the tensor with this index in a place; place 0 is the address that it was made with.
[[nodiscard]] std::uint64_t address_in(const MadeTensor& made, std::size_t index, std::size_t place);

// Returns the bytes of the tensors that a contest allocates: inputs once, outputs twice.
[[nodiscard]] std::uint64_t contest_bytes(const Plan& plan);

// Allocates an output of the same layout.
[[nodiscard]] Result<MadeTensor> made_like(Engine& engine, const MadeTensor& output);

// Fills an output with bytes of 0xFF, which are NaN in every floating-point type.
[[nodiscard]] Result<void> poison(MadeTensor& output, const SideStream& side);

}  // namespace tma_jit::tuning
