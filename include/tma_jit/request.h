// What a caller asks for: a plain value, to be built with designated initialisers.
#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include <tma_jit/tensor.h>

namespace tma_jit {

// The value of a scalar: an integer, which need not fit into the 53 bits of a double, or a number.
struct Scalar : std::variant<std::int64_t, std::uint64_t, double> {
  using variant::variant;
  template <std::unsigned_integral Value>
  requires(sizeof(Value) < sizeof(std::uint64_t)) Scalar(Value value) : variant(std::uint64_t{value}) {}
};

struct NamedTensor {
  std::string name{};
  Tensor tensor{};
};

// Tensors determine dims and types. `dims` and `types` give them if there are no tensors (planning, pre-warming) and
// must otherwise agree with the tensors.
struct Request {
  std::string kernel{};
  std::vector<NamedTensor> tensors{};
  std::vector<std::string> present{};  // optional tensors to plan as present while `tensors` does not contain them yet
  std::map<std::string, std::int64_t> dims{};
  std::map<std::string, DType> types{};
  std::map<std::string, std::int64_t> params{};  // pinned: only configurations with these values are considered
  std::vector<std::string> fixed{};              // dims to compile in as constants
  std::map<std::string, Scalar> scalars{};
  // Hook name -> CUDA text: an expression, or a body that contains ';'. Only configurations are considered that provide
  // the optional arguments that a text uses.
  std::map<std::string, std::string> hooks{};
  // What hooks read besides their parameters, each declared as the manifest declares a tensor or a scalar: "bias :
  // f32[N]", "alpha : f32". `tensors` and `scalars` give their values, as for those that the template declares.
  std::vector<std::string> operands{};
  std::map<std::string, std::uint64_t> workspaces{};  // device addresses; the engine allocates workspaces that are not
                                                      // listed here
  // The texts in `hooks` come from an untrusted source. Each must be one expression of the hook's arguments, operands,
  // numbers, operators, conversions to number types and CUDA's math functions; anything else is an error (parse).
  bool untrusted_hooks = false;
  // The greatest number of SMs that run the kernel, which leaves the others to kernels beside it; 0: no limit. The
  // launch has no more blocks than that. Blocks that go from tile to tile divide the work among them; a kernel that
  // needs a block for each part of the work is refused (no_config) if there are more parts.
  int sm_budget = 0;
  bool reference = false;  // run the template's float64 reference: outputs are f64, without tensor maps
  bool inputs = false;     // run what computes some inputs from the others (the directive `inputs`), as a reference
  std::string file{};      // stem of the only template file to consider, e.g. "gemm_mma"
};

}  // namespace tma_jit
