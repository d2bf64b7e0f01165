// What a caller asks for. A plain value: build it with designated initialisers.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include <tma_jit/tensor.h>

namespace tma_jit {

using Scalar = std::variant<std::int64_t, double>;

struct NamedTensor {
  std::string name{};
  Tensor tensor{};
};

// Tensors give dims and types; `dims` and `types` give them where there are no tensors (planning, pre-warming) and
// must agree with the tensors where there are.
struct Request {
  std::string kernel{};
  std::vector<NamedTensor> tensors{};
  std::map<std::string, std::int64_t> dims{};
  std::map<std::string, DType> types{};
  std::map<std::string, std::int64_t> params{};  // pinned: only configurations with these values are considered
  std::vector<std::string> fixed{};              // dims to compile in as constants
  std::map<std::string, Scalar> scalars{};
  std::map<std::string, std::string> hooks{};  // hook name -> CUDA text: an expression, or a body that contains ';'
  std::map<std::string, std::uint64_t> workspaces{};  // device addresses; the engine allocates those not named here
  bool reference = false;  // run the template's float64 reference: outputs are f64, no tensor maps
  std::string file{};      // only the template file of this stem, e.g. "gemm_portable"
};

}  // namespace tma_jit
