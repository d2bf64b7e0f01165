// What a request leaves open means the same in every file of its kernel, though their defaults may differ.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tma_jit/request.h>

#include "template/template.h"

namespace tma_jit::plan {

using Config = std::vector<std::pair<std::string, std::int64_t>>;  // values of params

// Returns the defaults of the file's params.
Config default_config(const templates::Template& kernel);

// Returns the request with the values of `config`, another file's, for those params of `kernel` that say what is
// computed and that the request leaves open: those that are `asked`, and, where the request gives no tensors, those
// that decide what these are. Returns nullopt where that changes nothing.
std::optional<Request> pinned_alike(const templates::Template& kernel, const Request& request, const Config& config);

}  // namespace tma_jit::plan
