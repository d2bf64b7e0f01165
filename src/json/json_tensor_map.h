// A tensor map's description as JSON, and read from it.
#pragma once

#include <nlohmann/json.hpp>

#include <tma_jit/error.h>
#include <tma_jit/tensor_map.h>

namespace tma_jit::json {

nlohmann::ordered_json object_of(TensorMapSpec map);

// `dtype` is the tensor's, which the object does not have.
[[nodiscard]] Result<TensorMapSpec> map_in(const nlohmann::ordered_json& object, DType dtype);

}  // namespace tma_jit::json
