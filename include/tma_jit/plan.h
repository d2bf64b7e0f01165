// The second stage of the pipeline: every decision about one launch, as plain data. A plan can be printed, edited or
// written by hand; later stages do not read the template's manifest.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <tma_jit/device_info.h>
#include <tma_jit/dtype.h>
#include <tma_jit/export.h>
#include <tma_jit/request.h>
#include <tma_jit/tensor_map.h>

namespace tma_jit {

// A name that the template's body sees as a constant: `constexpr` for an integer, `using` for a type.
struct Constant {
  enum class Kind : std::uint8_t { integer, type };
  std::string name{};
  Kind kind = Kind::integer;
  std::int64_t value = 0;
  DType type = DType::f32;
  std::string origin{};  // "param", "let", "type" or "dim"; for display
};

// One dim as the body sees it in `Dims`: a member, or a static constant if the request fixes it.
struct DimValue {
  std::string name{};
  std::int64_t value = 0;
  bool wide = false;  // 64-bit in the kernel
  bool fixed = false;
  std::string list{};  // the list of which it is an entry; `dims.LIST(i)` are its entries in their order
};

// A device function whose text the request supplies; it becomes a member of the struct Hooks. Argument types are
// manifest types, already resolved.
struct Hook {
  struct Parameter {
    DType type = DType::f32;
    std::string name{};
  };
  std::string name{};
  DType result = DType::f32;
  std::vector<Parameter> parameters{};
  std::string text{};
  bool untrusted = false;  // the text may only be an expression: see Request::untrusted_hooks
  bool generic = false;    // declared so: `NAME_given`, and the text as a function template `NAME_of`, are emitted too
  bool given = false;      // the text is not the template's default
};

// The valid values of an input's elements, `least` to `most`, both included; none if `least` is greater. If `rising`,
// no element is less than the one before it along the last dimension. If `checked`, the kernel checks the values
// itself, and its template says what it makes of others. If `distinct`, no valid value occurs twice along the last
// dimension, which the kernel does not check.
struct ValueRange {
  std::int64_t least = 0;
  std::int64_t most = 0;
  bool rising = false;
  bool checked = false;
  bool distinct = false;
};

// One kernel parameter, in signature order. `image` holds the bytes to pass. A device address is in the first eight
// bytes of a view's or a workspace's image, or in the tensor map encoded from `map`. If `viewed`, a View of the same
// tensor follows the tensor map at byte 128, and the image's size is rounded up to the map's alignment.
//
// Neighbours with the same `list` are one kernel parameter, a TensorList of them.
//
// A hook's operand is a view or a scalar with a `hooks_offset`. Operands come last, are stored inside the argument of
// kind `hooks` and are not kernel parameters themselves. The image of such a view holds data, strides and extents.
struct Argument {
  enum class Kind : std::uint8_t { tensor_map, view, workspace, scalar, dims, hooks };
  Kind kind = Kind::scalar;
  std::string name{};
  std::string list{};  // the list of which it is an entry; empty: none
  std::size_t alignment = 8;
  std::vector<std::byte> image{};       // 128 zero bytes for a tensor map
  std::optional<TensorMapSpec> map{};   // absent for an absent or empty tensor, whose image stays zero
  std::uint64_t address = 0;            // of the tensor or workspace; 0 if not given
  std::uint64_t workspace_bytes = 0;    // only for a workspace
  bool workspace_zeroed = false;        // whether the engine clears it after allocation
  bool present = true;                  // false: an optional tensor that the request does not give
  std::uint32_t address_alignment = 1;  // bytes; required of the address by the chosen configuration
  bool viewed = false;                  // whether a View follows the tensor map
  bool output = false;
  bool early = false;        // the kernel may read it before it waits for the kernel before it; see Chain
  DType dtype = DType::f32;  // of the tensor's or scalar's elements
  // Only for a present tensor: in elements, outermost dimension first. `strides` are the request's, or packed row-major
  // if the request gives only dims.
  std::vector<std::int64_t> shape{};
  std::vector<std::int64_t> strides{};
  std::optional<ValueRange> range{};  // only for a present input of indices, lengths or offsets; see docs/planning.md
  std::optional<std::size_t> hooks_offset{};  // only for an operand: bytes from the start of the argument of kind
                                              // `hooks`
  std::string declaration{};                  // only for an operand, e.g. "bias : f32[N]"
};

struct Geometry {
  std::array<std::uint32_t, 3> grid{1, 1, 1};  // if any is zero, the launch is empty
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::array<std::uint32_t, 3> cluster{1, 1, 1};  // 1, 1, 1: launched without a cluster attribute
  std::uint32_t smem_bytes = 0;                   // dynamic shared memory
  bool programmatic = false;                      // programmatic dependent launch
  bool waits = false;  // the kernel waits for the one before it, and may be launched programmatically; see Chain
};

struct Work {
  double flops = 0;
  double bytes = 0;
  double cycles = 0;  // estimated clock cycles of the launch, used to choose the configuration; 0: not stated
};

struct Plan {
  std::string kernel{};               // the kernel's name
  std::string entry{};                // the extern "C" entry point: the kernel's name, or another of its file
  std::string file{};                 // the template file as errors name it: "templates/kernels/gemm_wgmma.cu"
  std::string body{};                 // the template's complete text, including the manifest
  std::string used{};                 // the texts of the headers whose declarations it uses, one after the other
  std::string arch{};                 // "sm_90a"
  std::vector<Constant> constants{};  // in declaration order
  std::vector<DimValue> dims{};
  std::vector<Hook> hooks{};
  std::vector<Argument> arguments{};
  Geometry geometry{};
  Work work{};
  int sum_bits = 0;  // bits of precision of accumulated products, if fewer than f32 has; 0: as f32
  // Whether it runs the template's float64 reference, or what computes inputs as one (TMA_JIT_REFERENCE is defined).
  bool reference = false;
  bool inputs = false;                                         // of those with `reference`, whether it computes inputs
  std::vector<std::pair<std::string, std::int64_t>> config{};  // all params
  std::map<std::string, std::int64_t> pins{};                  // those whose values the request gave
  std::string record{};  // the tuning record that decided, for display; empty: none
  // Why the plan differs from that for packed tensors at aligned addresses, e.g. "A begins at 1 byte: copied without
  // TMA"; empty if it does not differ.
  std::string reason{};
  std::vector<std::string> avoided{};  // better configurations that were passed over because they crash this compiler,
                                       // as text
};

// Returns the type parameters that the kernel's manifest declares, with their values: {"T": bf16, "O": f32}.
TMA_JIT_API std::map<std::string, DType> types_of(const Plan& plan);

// Device memory that a launch needs besides its tensors.
struct Workspace {
  std::string name{};
  std::uint64_t bytes = 0;
  std::uint32_t alignment = 1;  // of its address
  bool zeroed = false;          // the memory must be zero: the engine clears what it allocates, the caller clears what
                                // it gives
  bool given = false;           // whether the request gives its address; else the engine allocates it
};
TMA_JIT_API std::vector<Workspace> workspaces_of(const Plan& plan);

// How a configuration was chosen: the number tried and, per rule, the number ruled out.
struct RuleCount {
  std::string file{};
  int line = 0;
  std::string rule{};     // the expression as written
  std::string message{};  // the rule's text
  std::string values{};   // of one violating configuration: "N = 4097, sizeof(T) = 2"
  std::int64_t ruled_out = 0;
};
struct Enumeration {
  std::string file{};
  std::int64_t configurations = 0;
  std::int64_t valid = 0;
  std::vector<RuleCount> rules{};
  std::vector<std::vector<std::pair<std::string, std::int64_t>>> valid_configs{};  // at most 4,096
};

// A configuration that satisfies a request.
struct Candidate {
  std::string file{};                                          // the template file's stem, as Request::file takes it
  std::map<std::string, DType> types{};                        // all types of the template
  std::vector<std::pair<std::string, std::int64_t>> params{};  // all params, in declaration order
  double cycles = 0;                                           // see Work::cycles
};

}  // namespace tma_jit
