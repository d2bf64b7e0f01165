// What a request determines before any param is chosen: the types, the dims, and the tensors that are present.
#pragma once

#include <cstdint>
#include <vector>

#include <tma_jit/device_info.h>
#include <tma_jit/request.h>

#include "template/template.h"

namespace tma_jit::plan {

// Refers to the template, request and device that it was made from, which must outlive it.
struct Binding {
  const templates::Template* kernel = nullptr;
  const Request* request = nullptr;
  const DeviceInfo* device = nullptr;
  std::vector<DType> types;            // in the order of Template::types
  std::vector<std::int64_t> dims;      // in the order of Template::dims; 0 for an optional one that is not given
  std::vector<bool> has_dim;           // in the order of Template::dims; whether the request gives it
  std::vector<const Tensor*> tensors;  // in the order of Template::tensors; nullptr if not given
  bool has_tensors = false;            // whether the request gives at least one
  templates::Names fixed;              // dims that the request compiles in as constants

  DType type_of(const templates::TypeName& name) const;
  // Returns the type of a tensor's elements; f64 for the outputs of a reference plan.
  DType element_of(const templates::Tensor& tensor) const;
  // Returns what is asked for in place of the file's kernel, its reference or what computes inputs; nullptr: the
  // kernel.
  const templates::ReferenceKernel* stand_in() const;
  // Returns whether the request has a text for the hook that is not its default.
  bool gives(const templates::Hook& hook) const;
};

// Errors name the kernel, the faulty part, the values and the correct ones.
[[nodiscard]] Result<Binding> bind(const templates::Template& kernel, const Request& request, const DeviceInfo& device);

// The part of `bind` that needs no tensors: fails unless every name in the request exists, and pins and types are among
// the choices.
[[nodiscard]] Result<void> check_names(const templates::Template& kernel, const Request& request);

// The part of `bind` that checks each tensor by itself: given once, rank, extents, span, alignment.
[[nodiscard]] Result<void> check_tensors(const templates::Template& kernel, const Request& request);

// Returns e.g. "[4096, 64]" for a tensor that the caller gave.
std::string shape_text(const Tensor& tensor);

}  // namespace tma_jit::plan
