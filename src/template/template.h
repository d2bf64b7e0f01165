// A kernel template: its manifest's declarations with their positions, and its whole text. An immutable value that has
// passed the static checks of `parse`.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <tma_jit/dtype.h>
#include <tma_jit/kernel_info.h>
#include <tma_jit/plan.h>
#include <tma_jit/request.h>

#include "template/expression.h"
#include "template/source_text.h"

namespace tma_jit::templates {

// The fields that all declarations share.
struct Declaration {
  std::string name;
  std::string doc;
  std::string text;  // as written, without the directive and the doc text, runs of blanks as one
  std::string list;  // the list of which it is an entry; empty: none
  Position at;       // position of the name
};

// A type in a declaration: a concrete dtype, or the name of a `type`.
struct TypeName {
  std::string name;
  std::optional<DType> concrete;
  Position at;
};

// type T = bf16 in {bf16, f16}      type O = T in {bf16, f16}
struct Type : Declaration {
  DType default_value = DType::f32;      // the default; of a type that follows another, if its choices lack that one's
  std::vector<DType> choices;            // includes the default; in the order written
  std::optional<std::size_t> follows{};  // an earlier type, whose value is the default
};

// dim M, N in 0..100 : s64 = 128 when PARTS >= 2    (one Dim per name)
struct Dim : Declaration {
  std::int64_t min = 1;
  std::int64_t max = 0;
  bool wide = false;                  // 64-bit in the kernel
  std::optional<std::int64_t> value;  // fixed by the template
  std::optional<Expression> when;     // where it is false, the dim is 0
};

// param BM = 128 in {64, 128, 192}     param STREAM = 0 in {0, 1} asked chain 1
struct Param : Declaration {
  std::int64_t default_value = 0;       // the default
  std::vector<std::int64_t> values;     // distinct, includes the default; in the order written
  bool asked = false;                   // only a pin of the request changes it from its default
  std::optional<std::int64_t> chain{};  // in a stage of a chain that follows another, the default; only if `asked`
};

// let SMEM = STAGES * BM. Only lets declared above it may be used.
struct Let : Declaration {
  Expression value;
  std::vector<std::string> dims;    // dims on which it depends, also through other lets, without those that the
                                    // template fixes
  bool depends_on_request = false;  // whether it depends on device.X, stride() or alignment(), also through other lets
};

// require K % 16 == 0 "TMA needs ..."     (name is empty, doc is the message)
struct Rule : Declaration {
  Expression condition;
};

// in 0..R - 1 rising checked     (of a tensor of integers)
struct ValidRange {
  Expression least, most;  // both included
  bool rising = false;     // along the last dimension no element is less than the one before it
  bool checked = false;    // the kernel checks the values itself, and the template says what it makes of others
  std::optional<Expression> distinct;  // if it is not 0: along the last dimension no valid value occurs twice
  Position at;
};

// tensor A : T[M, K] box [BM, BK] swizzle 128 out when INPUTS >= 2
struct Tensor : Declaration {
  TypeName type;
  std::vector<Expression> shape;               // outermost first, 1 to 5; a plain dim name determines the dim
  std::optional<std::vector<Expression>> box;  // as many as `shape`, or pixels and channels; absent: a View
  std::optional<MapType> as;                   // absent: the element type
  MapMode mode = MapMode::tile;
  std::vector<Expression> lower, upper;          // of an im2col mode: as many corner offsets as the mode has
  std::optional<Expression> swizzle;             // absent: 0
  std::optional<Expression> atom;                // size of the pieces that the swizzle moves, in bytes; absent: 16
  bool flip = false;                             // the swizzle swaps the halves of 16 bytes in every second row
  std::optional<Expression> interleave;          // absent: 0
  std::optional<Expression> l2;                  // absent: 128
  std::optional<std::vector<Expression>> steps;  // as many as `shape`; absent: all 1
  Fill fill = Fill::zero;
  bool viewed = false;  // a View of the same tensor follows the tensor map, in one Mapped parameter
  bool output = false;
  bool early = false;               // read before the kernel waits for the one before it
  bool operand = false;             // added by a request, for use by hooks
  std::optional<ValidRange> range;  // of an input's elements; absent: every value is valid
  std::optional<Expression> when;
};

// scalar alpha : f32 = 1
struct Scalar : Declaration {
  TypeName type;
  std::optional<tma_jit::Scalar> default_value;  // absent: the request must give it
  bool operand = false;                          // added by a request, for use by hooks
};

// workspace partials SPLITS * M * N * 4 zero
struct Workspace : Declaration {
  Expression bytes;
  bool zeroed = false;
};

// hook apply(f32 a, f32 b when INPUTS >= 2) : f32 = a
struct Hook : Declaration {
  struct Parameter {
    TypeName type;
    std::string name;
    std::optional<Expression> when;
    Position at;
  };
  std::vector<Parameter> parameters;
  TypeName result;
  std::optional<std::string> default_value;  // absent: the request must give it
  bool generic = false;                      // the text is also emitted for arguments of other types
};

// preset BM = 64, BN = 128 when TILES < device.sm_count     (name is empty)
struct Preset : Declaration {
  struct Setting {
    std::string param;
    std::int64_t value = 0;  // one of the param's values
    Position at;
    std::size_t index = 0;  // of the param
  };
  std::vector<Setting> settings;
  std::optional<Expression> when;
};

// launch grid X, Y, Z block X smem BYTES waits. Grid and block have 1 to 3 expressions, x first. `pdl` in place of
// `waits`: programmatic, and it waits.
struct LaunchShape {
  std::vector<Expression> grid, block;
  std::optional<Expression> smem;
  bool programmatic = false;
  bool waits = false;  // the kernel waits for the one before it, so that a chain may launch it programmatically
  Position at;
};

// work flops E bytes E cycles E
struct WorkFormula {
  std::optional<Expression> flops, bytes;
  std::optional<Expression> cycles;  // estimated duration of the launch, by which presets and files are chosen
};

// reference gemm_reference grid E block E bits E     inputs gemm_inputs grid E block E
struct ReferenceKernel {
  std::string entry;
  std::vector<Expression> grid, block;
  std::optional<Expression> bits;
  Position at;
};

struct Template {
  SourcePointer source;
  std::vector<SourcePointer> used;  // the files of its `use` directives, under their names as headers
  bool embedded = false;
  std::string kernel;
  std::string doc;
  std::vector<std::string> archs;  // as written, at least one
  std::int64_t preference = 0;     // of the files of one kernel, those with the greatest are tried first
  std::vector<Type> types;
  std::vector<Dim> dims;
  std::vector<Param> params;
  std::vector<Let> lets;
  std::vector<Rule> rules;
  std::vector<Tensor> tensors;
  std::vector<Scalar> scalars;
  std::vector<Workspace> workspaces;
  std::vector<Hook> hooks;
  std::vector<Preset> presets;
  std::vector<Expression> cluster;  // empty, or 1 to 3, x first
  LaunchShape launch;
  WorkFormula work;
  std::optional<ReferenceKernel> reference;
  std::optional<ReferenceKernel> inputs;  // computes some inputs from the others; only beside a reference
  std::vector<Reference> references;      // all distinct references of all expressions, indexed by Reference::id
  std::vector<std::string> order;         // names of types, dims, params and lets in declaration order
  std::vector<DeclarationIndex> ordered;  // what these names are

  const std::string& file() const { return source->file; }
  const std::string& text() const { return source->text; }
  const SourceText& source_of(const Position& at) const { return at.file == 0 ? *source : *used[at.file - 1U]; }
  std::string used_text() const;  // of all files in `used`
  std::string stem() const;       // "gemm_wgmma" for "templates/kernels/gemm_wgmma.cu"; removes only ".cu"

  // Return nullptr if there is none with that name.
  const Type* find_type(std::string_view name) const;
  const Dim* find_dim(std::string_view name) const;
  const Param* find_param(std::string_view name) const;
  const Let* find_let(std::string_view name) const;
  const Tensor* find_tensor(std::string_view name) const;
};

// Returns the type, dim, param or let with that name.
[[nodiscard]] DeclarationIndex declaration_named(const Template& kernel, std::string_view name);
// Returns what the reference refers to; none for a device's fact.
[[nodiscard]] DeclarationIndex declaration_of(const Template& kernel, const Reference& reference);

using Names = std::set<std::string, std::less<>>;

// Returns whether the value is known only at launch: it depends on device.X, stride(), alignment() or on a dim that
// neither the template nor `fixed_dims` fixes.
bool launch_time(const Template& kernel, const Expression& expression, const Names& fixed_dims = {});
bool launch_time(const Template& kernel, const Reference& reference, const Names& fixed_dims);
bool launch_time(const Let& let, const Names& fixed_dims = {});

// Returns whether the value depends on dims, strides or alignments; also true of a let that depends on the device.
bool depends_on_problem(const Template& kernel, const Expression& expression);

// Returns the text of a header by its name in an #include.
using HeaderLookup = std::function<Result<std::string>(std::string_view name)>;

// `header` finds the files of `use` directives. Errors are ErrorCode::parse, "file:line:column: text", with the source
// line and a caret as detail.
[[nodiscard]] Result<Template> parse(std::string file, std::string text, const HeaderLookup& header = {});
// Parses only what says which problem a request without tensors is: the kernel, its types, dims and hooks. Nothing else
// is in the template, and nothing is checked. Fails (unsupported) if a param says how many of them there are.
[[nodiscard]] Result<Template> parse_declarations(std::string file, std::string text, const HeaderLookup& header);

KernelInfo kernel_info(const Template& kernel);

// Returns whether a file is a probe, which demonstrates and tests one device primitive: it is in a folder named
// "probes".
bool is_probe(std::string_view file);

// Returns Template::stem for a file's name.
std::string stem_of(std::string_view file);

}  // namespace tma_jit::templates
