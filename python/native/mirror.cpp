#include "mirror.h"

#include <algorithm>
#include <cstring>

namespace tma_jit::python {
namespace {

constexpr std::uint64_t kAlignment = 16;

// Returns the bytes from the lowest to the highest element; an empty range for a tensor without elements.
std::pair<std::uint64_t, std::uint64_t> bytes_of(const Tensor& tensor) {
  if (tensor.elements() == 0) return {tensor.address, tensor.address};
  std::int64_t low = 0, high = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(tensor.rank); ++i) {
    const std::int64_t reach = (tensor.shape[i] - 1) * tensor.strides[i];
    (reach < 0 ? low : high) += reach;
  }
  const auto size = static_cast<std::int64_t>(size_of(tensor.dtype));
  return {tensor.address + static_cast<std::uint64_t>(low * size),
          tensor.address + static_cast<std::uint64_t>((high + 1) * size)};
}

// Copies the elements from dimension `at` on, from and to the first of them.
void copy_elements(const Tensor& tensor, std::size_t at, const std::byte* from, std::byte* to) {
  const auto size = static_cast<std::int64_t>(size_of(tensor.dtype));
  const auto rank = static_cast<std::size_t>(tensor.rank);
  const bool run = at + 1 == rank && tensor.strides[at] == 1;
  if (run || at == rank) {
    std::memcpy(to, from, static_cast<std::size_t>(run ? tensor.shape[at] * size : size));
    return;
  }
  for (std::int64_t i = 0; i < tensor.shape[at]; ++i) {
    const std::int64_t step = i * tensor.strides[at] * size;
    copy_elements(tensor, at + 1, from + step, to + step);
  }
}

}  // namespace

Result<Mirror> Mirror::of(Engine& engine, std::span<Tensor* const> tensors) {
  Mirror mirror;
  std::vector<Region>& regions = mirror.regions_;
  for (const Tensor* tensor : tensors) {
    const auto [begin, end] = bytes_of(*tensor);
    if (begin != end) regions.push_back({.begin = begin, .end = end});
  }
  std::ranges::sort(regions, {}, &Region::begin);
  std::size_t last = 0;  // regions up to this one are disjoint
  for (std::size_t i = 1; i < regions.size(); ++i) {
    if (regions[i].begin < regions[last].end) {
      regions[last].end = std::max(regions[last].end, regions[i].end);
    } else {
      regions[++last] = std::move(regions[i]);
    }
  }
  if (!regions.empty()) regions.resize(last + 1);
  if (auto allocated = mirror.allocate(engine); !allocated) return tl::make_unexpected(std::move(allocated).error());
  for (Tensor* tensor : tensors) {
    const std::uint64_t begin = bytes_of(*tensor).first;
    for (const Region& region : regions) {
      if (begin < region.begin || begin >= region.end) continue;
      tensor->address = region.address() + (tensor->address - region.begin);
      break;
    }
  }
  return mirror;
}

Result<void> Mirror::allocate(Engine& engine) {
  for (Region& region : regions_) {
    region.offset = region.begin % kAlignment;
    auto copy = DeviceBuffer::allocate(engine, region.end - region.begin + region.offset);
    if (!copy) return tl::make_unexpected(std::move(copy).error());
    region.copy = *std::move(copy);
  }
  return {};
}

void Mirror::mark_output(Tensor tensor) {
  if (tensor.elements() == 0) return;
  for (Region& region : regions_) {
    const std::uint64_t place = tensor.address - region.address();  // beyond its size if it lies before the region
    if (place >= region.size()) continue;
    tensor.address = region.begin + place;
    region.outputs.push_back(tensor);
    return;
  }
}

bool Mirror::Region::has_gaps() const {
  return std::ranges::none_of(outputs, [&](const Tensor& tensor) {
    return static_cast<std::uint64_t>(tensor.elements()) * size_of(tensor.dtype) == size();
  });
}

Result<void> Mirror::Region::download() const {
  if (outputs.empty()) return {};
  if (!has_gaps()) return copy->download(reinterpret_cast<void*>(begin), size(), offset);
  std::vector<std::byte> bytes(size());
  if (auto received = copy->download(bytes.data(), size(), offset); !received) return received;
  for (const Tensor& tensor : outputs) {
    copy_elements(tensor, 0, bytes.data() + (tensor.address - begin), reinterpret_cast<std::byte*>(tensor.address));
  }
  return {};
}

Result<void> Mirror::upload() {
  for (Region& region : regions_) {
    auto sent = region.copy->upload(reinterpret_cast<const void*>(region.begin), region.size(), region.offset);
    if (!sent) return sent;
  }
  return {};
}

Result<void> Mirror::download() const {
  for (const Region& region : regions_) {
    if (auto received = region.download(); !received) return received;
  }
  return {};
}

}  // namespace tma_jit::python
