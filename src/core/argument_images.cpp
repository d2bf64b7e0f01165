#include "core/argument_images.h"

#include <algorithm>
#include <cstring>

namespace tma_jit {
namespace {

std::size_t rounded_up(std::size_t value, std::size_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

std::size_t view_bytes(std::size_t rank) {
  return 8 * (1 + rank);
}

void put_view(std::vector<std::byte>& image, std::size_t offset, std::uint64_t address,
              std::span<const std::int64_t> strides) {
  std::memcpy(image.data() + offset, &address, sizeof address);
  if (!strides.empty()) std::memcpy(image.data() + offset + 8, strides.data(), strides.size_bytes());
}

std::vector<std::byte> operand_image(std::uint64_t address, std::span<const std::int64_t> strides,
                                     std::span<const std::int64_t> extents) {
  std::vector<std::int64_t> words = {static_cast<std::int64_t>(address)};
  words.insert(words.end(), strides.begin(), strides.end());
  words.insert(words.end(), extents.begin(), extents.end());
  std::vector<std::byte> image(8 * words.size());
  std::memcpy(image.data(), words.data(), image.size());
  return image;
}

Argument dims_argument(const std::vector<DimValue>& dims) {
  Argument argument;
  argument.kind = Argument::Kind::dims;
  argument.name = "dims";
  argument.alignment = 1;
  for (const DimValue& dim : dims) {
    if (dim.fixed) continue;
    const std::size_t size = dim.wide ? 8 : 4;
    argument.alignment = std::max(argument.alignment, size);
    const std::size_t offset = rounded_up(argument.image.size(), size);
    argument.image.resize(offset + size);
    std::memcpy(argument.image.data() + offset, &dim.value, size);  // the low bytes come first (little-endian)
  }
  argument.image.resize(std::max<std::size_t>(1, rounded_up(argument.image.size(), argument.alignment)));
  return argument;
}

Argument hooks_argument(std::span<Argument> operands) {
  Argument hooks;
  hooks.kind = Argument::Kind::hooks;
  hooks.name = "hooks";
  hooks.alignment = 8;
  std::size_t end = 0;
  for (Argument& operand : operands) {
    operand.hooks_offset = rounded_up(end, operand.alignment);
    end = *operand.hooks_offset + operand.image.size();
  }
  hooks.image.resize(std::max(hooks.alignment, rounded_up(end, hooks.alignment)));
  return hooks;
}

}  // namespace tma_jit
