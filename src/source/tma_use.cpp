#include "source/tma_use.h"

#include <algorithm>

namespace tma_jit::source {
namespace {

bool is_tma_header(const Header& header) {
  return header.name.starts_with("device/ptx/tma") || header.name == "device/ptx/bulk.cuh";
}

}  // namespace

bool uses_tma(const templates::Template& kernel, const HeaderLookup& lookup) {
  if (std::ranges::any_of(kernel.tensors, [](const templates::Tensor& tensor) { return tensor.box.has_value(); })) {
    return true;
  }
  const auto headers = reachable_headers({{kernel.file(), kernel.text()}}, lookup);
  return headers.has_value() && std::ranges::any_of(*headers, is_tma_header);
}

}  // namespace tma_jit::source
