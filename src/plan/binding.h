// What a request settles before any param is chosen: the types, the dims, and which tensors are there.
#pragma once

#include <cstdint>
#include <vector>

#include <tma_jit/device_info.h>
#include <tma_jit/request.h>

#include "template/template.h"

namespace tma_jit::plan {

// Refers to the template, request and device it was made from; they must outlive it.
struct Binding {
  const templates::Template* kernel = nullptr;
  const Request* request = nullptr;
  const DeviceInfo* device = nullptr;
  std::vector<DType> types;            // as Template::types
  std::vector<std::int64_t> dims;      // as Template::dims
  std::vector<const Tensor*> tensors;  // as Template::tensors; nullptr where one is not given
  bool has_tensors = false;            // the request gives at least one
  templates::Names fixed;              // dims the request compiles in

  DType type_of(const templates::TypeName& name) const;
  // Of a tensor's elements; a reference plan writes f64.
  DType element_of(const templates::Tensor& tensor) const;
};

// Every error names the kernel, the thing, the values and what would be right.
[[nodiscard]] Result<Binding> bind(const templates::Template& kernel, const Request& request, const DeviceInfo& device);

// The part of `bind` that needs no tensors: every name in the request exists, pins and types are among the choices.
[[nodiscard]] Result<void> check_names(const templates::Template& kernel, const Request& request);

// The part that looks at each tensor by itself: once each, rank, extents, span, alignment.
[[nodiscard]] Result<void> check_tensors(const templates::Template& kernel, const Request& request);

// "[4096, 64]" of a tensor the caller gave.
std::string shape_text(const Tensor& tensor);

}  // namespace tma_jit::plan
