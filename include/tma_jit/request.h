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
  std::vector<std::string> present{};  // optional tensors that are to be there, where `tensors` are still to be made
  std::map<std::string, std::int64_t> dims{};
  std::map<std::string, DType> types{};
  std::map<std::string, std::int64_t> params{};  // pinned: only configurations with these values are considered
  std::vector<std::string> fixed{};              // dims to compile in as constants
  std::map<std::string, Scalar> scalars{};
  // Hook name -> CUDA text: an expression, or a body that contains ';'. Only configurations are considered in which the
  // optional arguments that a text names are there.
  std::map<std::string, std::string> hooks{};
  // What hooks read beside their parameters, each declared as the manifest declares a tensor or a scalar: "bias :
  // f32[N]", "alpha : f32". `tensors` and `scalars` give what they hold, as of those the template declares.
  std::vector<std::string> operands{};
  std::map<std::string, std::uint64_t> workspaces{};  // device addresses; the engine allocates those not named here
  // The texts in `hooks` come from someone who is not trusted: each must be one expression of the hook's arguments,
  // operands, numbers, operators, conversions to number types and CUDA's math functions, and anything else is an error
  // (parse).
  bool untrusted_hooks = false;
  bool reference = false;  // run the template's float64 reference: outputs are f64, no tensor maps
  std::string file{};      // only the template file of this stem, e.g. "gemm_mma"
};

}  // namespace tma_jit
