#include "tuning/tensors.h"

#include <algorithm>
#include <cstddef>
#include <random>

#include "core/failure.h"
#include "core/reach.h"
#include "core/scalar_image.h"
#include "tuning/index_data.h"

namespace tma_jit::tuning {
namespace {

constexpr std::uint64_t kAlignment = 256;  // alignment of the driver's allocations
constexpr std::size_t kDistinct = 65'537;  // period of the data in elements; a prime, so that no two rows are equal
constexpr std::size_t kUpload = std::size_t{8} << 20;

std::vector<std::byte> distinct_elements(DType type, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal;
  std::vector<std::byte> bytes;
  bytes.reserve(kDistinct * size_of(type));
  for (std::size_t i = 0; i < kDistinct; ++i) {
    const Scalar value = is_floating_point(type) ? Scalar(normal(generator)) : Scalar(std::int64_t(generator() & 3));
    const std::vector<std::byte> image = scalar_image("an element", type, value).value();
    bytes.insert(bytes.end(), image.begin(), image.end());
  }
  return bytes;
}

Result<void> fill_random(MadeTensor& made, std::uint64_t seed, const SideStream& side) {
  const std::vector<std::byte> distinct = distinct_elements(made.tensor.dtype, seed);
  std::vector<std::byte> block;
  while (block.size() < std::min(kUpload, made.buffer.bytes())) {
    block.insert(block.end(), distinct.begin(), distinct.end());
  }
  const std::size_t origin = made.lowest() - made.buffer.address();
  for (std::size_t at = origin; at < made.buffer.bytes(); at += block.size()) {
    TMA_JIT_CHECK(made.buffer.upload(block.data(), std::min(block.size(), made.buffer.bytes() - at), at, &side));
  }
  return {};
}

Result<void> fill_indices(MadeTensor& made, const ValueRange& range, std::uint64_t seed, const SideStream& side) {
  const std::vector<std::byte> bytes = random_indices(made.tensor, made.span, range, seed);
  if (bytes.empty()) return {};
  return made.buffer.upload(bytes.data(), bytes.size(), made.lowest() - made.buffer.address(), &side);
}

Result<void> fill(MadeTensor& made, const Argument& argument, std::uint64_t seed, const SideStream& side) {
  if (made.output) return {};
  return argument.range ? fill_indices(made, *argument.range, seed, side) : fill_random(made, seed, side);
}

std::uint64_t bytes_of(const TensorShape& shape) {
  return static_cast<std::uint64_t>(shape.span) * size_of(shape.tensor.dtype) + (shape.movable ? kRoom : 0);
}

Result<MadeTensor> make(Engine& engine, TensorShape shape) {
  const std::uint64_t before = static_cast<std::uint64_t>(shape.before) * size_of(shape.tensor.dtype);
  const std::uint64_t origin = shape.tensor.address % kAlignment + (before + kAlignment - 1) / kAlignment * kAlignment;
  const std::size_t bytes = std::max<std::size_t>(origin - before + bytes_of(shape), 1);
  TMA_JIT_ASSIGN(DeviceBuffer buffer, DeviceBuffer::allocate(engine, bytes));
  shape.tensor.address = buffer.address() + origin;
  return MadeTensor{std::move(shape), std::move(buffer)};
}

bool is_tensor(const Argument& argument) {
  return argument.present && (argument.kind == Argument::Kind::tensor_map || argument.kind == Argument::Kind::view);
}

TensorShape shape_of(const Argument& argument) {
  const Tensor tensor = Tensor::strided(argument.address, argument.dtype, static_cast<int>(argument.shape.size()),
                                        argument.shape.data(), argument.strides.data());
  const std::optional<Reach> reach = reach_of(argument.shape, argument.strides);
  return {argument.name,
          tensor,
          argument.output,
          !argument.range.has_value(),
          reach ? reach->before : 0,
          reach ? reach->span() : 0};
}

}  // namespace

Result<std::vector<MadeTensor>> make_tensors(Engine& engine, const Plan& plan) {
  std::vector<MadeTensor> tensors;
  for (const Argument& argument : plan.arguments) {
    if (!is_tensor(argument)) continue;
    TMA_JIT_ASSIGN(MadeTensor made, make(engine, shape_of(argument)));
    tensors.push_back(std::move(made));
  }
  return tensors;
}

Result<void> fill_inputs(std::vector<MadeTensor>& tensors, const Plan& plan, const SideStream& side) {
  std::size_t index = 0;
  for (const Argument& argument : plan.arguments) {
    if (!is_tensor(argument)) continue;
    TMA_JIT_CHECK(fill(tensors[index], argument, index, side));
    ++index;
  }
  return {};
}

Result<MadeTensor> made_like(Engine& engine, const MadeTensor& output) {
  return make(engine, output);
}

std::uint64_t contest_bytes(const Plan& plan) {
  std::uint64_t bytes = 0;
  for (const Argument& argument : plan.arguments) {
    if (!is_tensor(argument)) continue;
    const std::uint64_t once = bytes_of(shape_of(argument));
    bytes += argument.output ? 2 * once : once;
  }
  return bytes;
}

// The steps are odd multiples of 256 bytes, apart for each tensor, so that they lie differently to each other in every
// place, too.
std::uint64_t address_in(const MadeTensor& made, std::size_t index, std::size_t place) {
  constexpr std::uint64_t kSteps = kRoom / kAlignment, kStep = 1301;
  return made.tensor.address + (made.movable ? place * (kStep + 1046 * index) % kSteps * kAlignment : 0);
}

Result<void> poison(MadeTensor& output, const SideStream& side) {
  return output.buffer.fill(0xff, &side);
}

}  // namespace tma_jit::tuning
