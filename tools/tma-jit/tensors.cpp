#include "tensors.h"

#include <cstdint>
#include <cstring>
#include <utility>

#include "element.h"
#include "text.h"

namespace tma_jit::cli {
namespace {

Outcome<void> check_file(const InputFile& file, const Argument& argument) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<std::size_t>(Layout::row_major(argument.shape).elements()),
                             size_of(argument.dtype), &bytes))
    bytes = SIZE_MAX;  // larger than any file
  if (file.raw && file.array.bytes.size() != bytes) {
    return failed(ErrorCode::invalid_argument, "{}: {} bytes, but {} is {} of {}, {} bytes", file.path,
                  file.array.bytes.size(), argument.name, bracketed(argument.shape), name_of(argument.dtype), bytes);
  }
  if (file.raw) return {};
  if (file.array.shape != argument.shape) {
    return failed(ErrorCode::invalid_argument, "{}: its shape is {}, but {} is {}", file.path,
                  bracketed(file.array.shape), argument.name, bracketed(argument.shape));
  }
  if (!holds(file.array, argument.dtype)) {
    return failed(ErrorCode::invalid_argument, "{}: its elements are {}, but {} holds {}", file.path,
                  name_of(file.array.dtype), argument.name, name_of(argument.dtype));
  }
  return {};
}

void copy_elements(std::byte* to, const std::byte* packed_elements, const Layout& layout, std::size_t size) {
  for_each_row(layout, [&](std::int64_t offset, std::int64_t first, std::int64_t count, std::int64_t) {
    std::memcpy(to + static_cast<std::size_t>(offset) * size, packed_elements + static_cast<std::size_t>(first) * size,
                static_cast<std::size_t>(count) * size);
  });
}

// Returns the buffer's content before the launch, including guards.
std::vector<std::byte> initial_content(const DeviceTensor& tensor, const std::optional<ValueRange>& range,
                                       const DataChoices& choices) {
  std::vector<std::byte> content(tensor.buffer.bytes(), std::byte{0xff});
  std::byte* first = content.data() + tensor.origin;
  const auto file = choices.inputs.find(tensor.name);
  if (file != choices.inputs.end()) {
    copy_elements(first, file->second.array.bytes.data(), tensor.layout, size_of(tensor.dtype));
  } else if (!tensor.output) {
    const std::span<std::byte> elements = std::span(content).subspan(tensor.origin);
    if (range) {
      fill_indices(elements, tensor.dtype, tensor.layout, *range, choices.recipe, tensor.name);
    } else {
      fill_random(elements, tensor.dtype, tensor.layout, choices.recipe, tensor.name);
    }
  }
  return content;
}

Outcome<DeviceTensor> allocate(Engine& engine, const Argument& argument, Layout layout, std::int64_t offset) {
  const std::size_t size = size_of(argument.dtype);
  std::int64_t end = 0, bytes = 0;
  if (__builtin_add_overflow(offset, layout.span(), &end) || __builtin_mul_overflow(end, size, &bytes) ||
      __builtin_add_overflow(bytes, std::int64_t{2 * kGuardBytes}, &bytes)) {
    return failed(ErrorCode::invalid_argument,
                  "{}: {} of {} with strides {} at offset {} are more bytes than can be addressed", argument.name,
                  bracketed(layout.shape), name_of(argument.dtype), bracketed(layout.strides), offset);
  }
  const std::size_t origin = kGuardBytes + static_cast<std::size_t>(offset) * size;
  CLI_ASSIGN(DeviceBuffer buffer, DeviceBuffer::allocate(engine, static_cast<std::size_t>(bytes)));
  return DeviceTensor{argument.name, argument.dtype, std::move(layout), argument.output, origin, std::move(buffer)};
}

// Returns where the units of 16 bytes that have elements begin and end in the buffer. Kernels may read whole units, as
// no page begins within one.
std::pair<std::size_t, std::size_t> units_of(const DeviceTensor& tensor) {
  constexpr std::size_t kUnit = 16;
  const std::size_t end = tensor.origin + static_cast<std::size_t>(tensor.layout.span()) * size_of(tensor.dtype);
  return {tensor.origin / kUnit * kUnit, (end + kUnit - 1) / kUnit * kUnit};
}

Outcome<DeviceTensor> make_tensor(Engine& engine, const Argument& argument, const DataChoices& choices) {
  if (const auto file = choices.inputs.find(argument.name); file != choices.inputs.end())
    CLI_CHECK(check_file(file->second, argument));
  CLI_ASSIGN(Layout layout, choices.placement.layout(argument));
  CLI_ASSIGN(DeviceTensor tensor, allocate(engine, argument, std::move(layout), choices.placement.offset(argument)));
  const std::vector<std::byte> content = initial_content(tensor, argument.range, choices);
  const auto [begin, end] =
      choices.bare && !tensor.output ? units_of(tensor) : std::pair(std::size_t{0}, content.size());
  CLI_CHECK(tensor.buffer.upload(content.data() + begin, end - begin, begin));
  return tensor;
}

}  // namespace

Tensor DeviceTensor::view() const {
  return Tensor::strided(buffer.address() + origin, dtype, static_cast<int>(layout.shape.size()), layout.shape.data(),
                         layout.strides.data());
}

Outcome<std::vector<DeviceTensor>> make_tensors(Engine& engine, const Plan& plan, const DataChoices& choices) {
  std::vector<DeviceTensor> tensors;
  for (const Argument& argument : plan.arguments) {
    if (!is_tensor(argument) || !argument.present) continue;
    CLI_ASSIGN(DeviceTensor tensor, make_tensor(engine, argument, choices));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

Outcome<void> restore_inputs(const DataChoices& choices, std::vector<DeviceTensor>& tensors) {
  for (DeviceTensor& tensor : tensors) {
    if (tensor.output || !choices.inputs.contains(tensor.name)) continue;
    const std::vector<std::byte> content = initial_content(tensor, std::nullopt, choices);
    CLI_CHECK(tensor.buffer.upload(content.data(), content.size()));
  }
  return {};
}

Outcome<std::vector<std::byte>> download(const DeviceTensor& tensor) {
  std::vector<std::byte> content(tensor.buffer.bytes());
  CLI_CHECK(tensor.buffer.download(content.data(), content.size()));
  return content;
}

std::vector<std::byte> packed(const DeviceTensor& tensor, const std::vector<std::byte>& buffer) {
  const std::size_t size = size_of(tensor.dtype);
  std::vector<std::byte> elements(static_cast<std::size_t>(tensor.layout.elements()) * size);
  const std::byte* first = buffer.data() + tensor.origin;
  for_each_row(tensor.layout, [&](std::int64_t offset, std::int64_t index, std::int64_t count, std::int64_t) {
    std::memcpy(elements.data() + static_cast<std::size_t>(index) * size,
                first + static_cast<std::size_t>(offset) * size, static_cast<std::size_t>(count) * size);
  });
  return elements;
}

Outcome<DeviceTensor> make_reference_output(Engine& engine, const DeviceTensor& output, const DataChoices& choices) {
  Argument argument;
  argument.name = output.name;
  argument.dtype = DType::f64;
  argument.output = true;
  CLI_ASSIGN(DeviceTensor reference, allocate(engine, argument, Layout::row_major(output.layout.shape), 0));
  std::vector<std::byte> content(reference.buffer.bytes(), std::byte{0xff});
  if (const auto file = choices.inputs.find(output.name); file != choices.inputs.end()) {
    const Decoder decoder(output.dtype);
    const auto count = static_cast<std::size_t>(output.layout.elements());
    for (std::size_t i = 0; i < count; ++i) {
      const double value = decoder(file->second.array.bytes.data() + i * decoder.size());
      std::memcpy(content.data() + reference.origin + i * sizeof(double), &value, sizeof(double));
    }
  }
  CLI_CHECK(reference.buffer.upload(content.data(), content.size()));
  return reference;
}

}  // namespace tma_jit::cli
