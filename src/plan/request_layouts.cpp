// The tensors of a request that gives none. What they are does not depend on the configuration, so that none need be
// valid.
#include "core/failure.h"
#include "plan/planner.h"
#include "plan/search.h"
#include "template/operand_declarations.h"

namespace tma_jit::plan {
namespace {

Result<std::vector<NamedTensor>> tensors_with(const templates::Template& declared, const Request& request,
                                              const DeviceInfo& device) {
  TMA_JIT_ASSIGN(const templates::Template kernel, templates::with_operands(declared, request.operands));
  TMA_JIT_ASSIGN(const Binding binding, bind(kernel, request, device));
  Search search(binding);
  const Values& values = search.values();
  std::vector<NamedTensor> tensors;
  for (std::size_t i = 0; i < kernel.tensors.size(); ++i) {
    TMA_JIT_ASSIGN(const bool present, values.present(i));
    if (!present) continue;
    TMA_JIT_ASSIGN(const Layout layout, values.layout(i));
    tensors.push_back({kernel.tensors[i].name, Tensor::strided(std::uint64_t{0}, binding.element_of(kernel.tensors[i]),
                                                               static_cast<int>(layout.shape.size()),
                                                               layout.shape.data(), layout.strides.data())});
  }
  return tensors;
}

}  // namespace

Result<std::vector<NamedTensor>> tensors_of(const Request& request, const DeviceInfo& device,
                                            TemplatePointers templates) {
  TMA_JIT_ASSIGN(const std::vector<const templates::Template*> tried, candidates(request.file, device, templates));
  Result<std::vector<NamedTensor>> tensors = tensors_with(*tried.front(), request, device);
  for (std::size_t i = 1; i < tried.size() && !tensors.has_value(); ++i) {
    if (auto found = tensors_with(*tried[i], request, device)) tensors = std::move(found);
  }
  return tensors;
}

}  // namespace tma_jit::plan
