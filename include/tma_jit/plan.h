// The second stage of the pipeline: every decision about one launch, as plain data. A plan can be printed, edited
// or written by hand; nothing after it looks at the template's manifest again.
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

// A name the body sees as a constant: `constexpr` for an integer, `using` for a type.
struct Constant {
  enum class Kind : std::uint8_t { integer, type };
  std::string name{};
  Kind kind = Kind::integer;
  std::int64_t value = 0;
  DType type = DType::f32;
  std::string origin{};  // "param", "let", "type", "dim": for people
};

// One dim as the body sees it in `Dims`: a member, or a static constant where the request fixes it.
struct DimValue {
  std::string name{};
  std::int64_t value = 0;
  bool wide = false;  // 64-bit in the kernel
  bool fixed = false;
};

// A device function whose text the request supplies, a member of the struct Hooks. Argument types are manifest types,
// already resolved.
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
};

// One kernel parameter, in signature order. `image` holds the bytes to pass; where the argument carries a device
// address it is the first eight bytes of a view or workspace, or lives inside the tensor map made from `map`. A viewed
// tensor map is followed, 128 bytes in, by a View of the same tensor; its size is rounded up to the map's alignment.
//
// Operands of hooks are views and scalars with a `hooks_offset`. They come last, lie in the argument of kind `hooks`
// and are no kernel parameters of their own. The image of such a view is data, strides, extents.
struct Argument {
  enum class Kind : std::uint8_t { tensor_map, view, workspace, scalar, dims, hooks };
  Kind kind = Kind::scalar;
  std::string name{};
  std::size_t alignment = 8;
  std::vector<std::byte> image{};       // 128 zero bytes for a tensor map
  std::optional<TensorMapSpec> map{};   // absent for an absent or empty tensor: the image stays zero
  std::uint64_t address = 0;            // the tensor's or workspace's address, 0 when not given
  std::uint64_t workspace_bytes = 0;    // for a workspace
  bool workspace_zeroed = false;        // the engine clears it when it allocates it
  bool present = true;                  // false: an optional tensor the request does not give
  std::uint32_t address_alignment = 1;  // bytes; what the chosen configuration needs of the address
  bool viewed = false;                  // a tensor map with a View behind it
  bool output = false;
  DType dtype = DType::f32;  // of the tensor's or scalar's elements
  // Of a tensor, in elements, outermost dimension first; empty for an absent one and for other kinds. `strides` are the
  // request's, or packed row-major where it gives only dims.
  std::vector<std::int64_t> shape{};
  std::vector<std::int64_t> strides{};
  std::optional<std::size_t> hooks_offset{};  // of an operand: bytes from the beginning of the argument of kind `hooks`
  std::string declaration{};                  // of an operand: "bias : f32[N]"
};

struct Geometry {
  std::array<std::uint32_t, 3> grid{1, 1, 1};  // any zero: nothing to do, the launch is empty
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::array<std::uint32_t, 3> cluster{1, 1, 1};  // 1, 1, 1: no cluster attribute
  std::uint32_t smem_bytes = 0;                   // dynamic shared memory
  bool programmatic = false;                      // programmatic dependent launch
};

struct Work {
  double flops = 0;
  double bytes = 0;
  double cycles = 0;  // estimated clock cycles of the launch, by which the configuration was chosen; 0: not stated
};

struct Plan {
  std::string kernel{};               // the kernel's name
  std::string entry{};                // the extern "C" entry point: the kernel's name, or its reference's
  std::string file{};                 // where the body comes from, as errors name it: "templates/kernels/gemm_wgmma.cu"
  std::string body{};                 // the template's whole text, manifest included, untouched
  std::string arch{};                 // "sm_90a"
  std::vector<Constant> constants{};  // in declaration order
  std::vector<DimValue> dims{};
  std::vector<Hook> hooks{};
  std::vector<Argument> arguments{};
  Geometry geometry{};
  Work work{};
  int sum_bits = 0;        // bits that sums of products keep where fewer than an f32 has; 0: no fewer
  bool reference = false;  // this plan runs the template's float64 reference (TMA_JIT_REFERENCE is defined)
  std::vector<std::pair<std::string, std::int64_t>> config{};  // the chosen params, for people and for stores
  std::string record{};  // which record of tuning decided, for people; empty: none
  // Why this is not the plan that packed tensors at aligned addresses would have: "A begins at 1 byte: copied without
  // TMA". Empty: it is.
  std::string reason{};
  std::vector<std::string> avoided{};  // better configurations that crash the compiler at hand, as words
};

// The type parameters that the kernel's manifest declares, with their values: {"T": bf16, "O": f32}.
TMA_JIT_API std::map<std::string, DType> types_of(const Plan& plan);

// Device memory that a launch needs beside its tensors.
struct Workspace {
  std::string name{};
  std::uint64_t bytes = 0;
  std::uint32_t alignment = 1;  // of its address
  bool zeroed = false;          // the engine clears it; who gives the memory, clears it
  bool given = false;           // the request names its address; else the engine allocates it
};
TMA_JIT_API std::vector<Workspace> workspaces_of(const Plan& plan);

// How the choice was made: configurations tried and, per rule, how many it ruled out.
struct RuleCount {
  std::string file{};
  int line = 0;
  std::string rule{};     // the expression as written
  std::string message{};  // the rule's text
  std::string values{};   // "N = 4097, sizeof(T) = 2", for one violating configuration
  std::int64_t ruled_out = 0;
};
struct Enumeration {
  std::string file{};
  std::int64_t configurations = 0;
  std::int64_t valid = 0;
  std::vector<RuleCount> rules{};
  std::vector<std::vector<std::pair<std::string, std::int64_t>>> valid_configs{};  // at most 4,096
};

// A configuration that a request could have.
struct Candidate {
  std::string file{};                                          // the template file's stem, as Request::file takes it
  std::map<std::string, DType> types{};                        // all of the template's
  std::vector<std::pair<std::string, std::int64_t>> params{};  // all of them, in declaration order
  double cycles = 0;                                           // as Work::cycles
};

}  // namespace tma_jit
