// What a request asks for, whichever configuration of a file serves it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <tma_jit/device_info.h>
#include <tma_jit/plan.h>
#include <tma_jit/request.h>

#include "template/template.h"

namespace tma_jit::plan {

struct Problem {
  std::map<std::string, DType> types;  // the default of one that no tensor has and the request does not give
  std::map<std::string, std::int64_t> dims;
  std::vector<Hook> hooks;       // names and texts only
  bool tensor_operands = false;  // whether hooks read tensors of the request
};

// Returns whether hooks read tensors of the request.
bool has_tensor_operands(const templates::Template& file, const Request& request);

// Returns the types, dims and hooks as the file declares them; nullopt if it does not take the request.
std::optional<Problem> problem_of(const templates::Template& file, const Request& request, const DeviceInfo& device);

}  // namespace tma_jit::plan
