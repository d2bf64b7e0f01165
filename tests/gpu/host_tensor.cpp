#include "gpu/host_tensor.h"

#include <algorithm>
#include <random>

#include <fmt/format.h>

#include "element.h"

namespace tma_jit {
namespace {

constexpr std::byte kPoison{0xFF};  // NaN in every floating-point type
constexpr std::int64_t kGuard = 64;

}  // namespace

HostTensor::HostTensor(DType dtype, Layout2D layout) : dtype_(dtype), layout_(layout) {
  if (layout_.pitch == 0) layout_.pitch = layout_.columns;
  const std::int64_t elements = layout_.offset + layout_.rows * layout_.pitch + kGuard;
  bytes_.assign(static_cast<std::size_t>(elements) * size_of(dtype_), kPoison);
}

std::int64_t HostTensor::element_index(std::int64_t row, std::int64_t column) const {
  return layout_.offset + row * layout_.pitch + column;
}

void HostTensor::poison() {
  std::fill(bytes_.begin(), bytes_.end(), kPoison);
}

void HostTensor::fill_random(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  const std::size_t size = size_of(dtype_);
  for (std::int64_t row = 0; row < layout_.rows; ++row) {
    for (std::int64_t column = 0; column < layout_.columns; ++column) {
      std::byte* element = bytes_.data() + static_cast<std::size_t>(element_index(row, column)) * size;
      cli::store_bits(element, size, cli::encode(dtype_, normal(random)));
    }
  }
}

double HostTensor::at(std::int64_t row, std::int64_t column) const {
  const std::size_t size = size_of(dtype_);
  return cli::decode(dtype_,
                     cli::load_bits(bytes_.data() + static_cast<std::size_t>(element_index(row, column)) * size, size));
}

Result<void> HostTensor::send(Engine& engine) {
  auto buffer = DeviceBuffer::allocate(engine, bytes_.size());
  if (!buffer) return tl::make_unexpected(buffer.error());
  buffer_.clear();
  buffer_.push_back(std::move(*buffer));
  return buffer_.front().upload(bytes_.data(), bytes_.size());
}

Result<void> HostTensor::fetch() {
  return buffer_.front().download(bytes_.data(), bytes_.size());
}

Tensor HostTensor::matrix() const {
  const std::uint64_t address =
      buffer_.front().address() + static_cast<std::uint64_t>(layout_.offset) * size_of(dtype_);
  return Tensor::strided(address, dtype_, {layout_.rows, layout_.columns}, {layout_.pitch, 1});
}

Tensor HostTensor::vector() const {
  const Tensor whole = matrix();
  return Tensor::row_major(whole.address, dtype_, {layout_.columns});
}

std::string HostTensor::disagreement(std::int64_t row, std::int64_t column, double got, double want) const {
  return fmt::format("[{}, {}] is {}, expected {}", row, column, got, want);
}

std::string HostTensor::stray() const {
  const std::size_t size = size_of(dtype_);
  for (std::size_t byte = 0; byte < bytes_.size(); ++byte) {
    const std::int64_t element = static_cast<std::int64_t>(byte / size) - layout_.offset;
    const bool inside = element >= 0 && element / std::max<std::int64_t>(layout_.pitch, 1) < layout_.rows &&
                        element % std::max<std::int64_t>(layout_.pitch, 1) < layout_.columns;
    if (!inside && bytes_[byte] != kPoison) return fmt::format("byte {} outside the tensor was written", byte);
  }
  return {};
}

}  // namespace tma_jit
