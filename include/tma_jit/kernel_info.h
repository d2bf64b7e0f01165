// The declarations of a template file as values: one struct per directive, and its expressions with the names they use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tma_jit/dtype.h>
#include <tma_jit/request.h>
#include <tma_jit/tensor_map.h>

namespace tma_jit {

// The declarations of one template, each list in the order in which they are written; those of a file that it uses
// stand where it uses it.
struct KernelInfo {
  // The fields that all declarations share.
  struct Declaration {
    std::string name{};         // empty for a rule or a preset
    std::string declaration{};  // as written, without the directive and the doc text
    std::string doc{};          // for a rule, its message
    int line = 0;
    std::string file{};  // in which it is written: the template, or a file that the template uses
    std::string list{};  // of a dim, a let, a rule or a tensor: the list of which it is an entry; empty: none
  };

  // An expression of the manifest. `names` are the types, dims, params and lets that it mentions, in order of first
  // appearance; `params` are the params on which its value depends, also through lets.
  struct Formula {
    std::string text{};
    std::vector<std::string> names{};
    std::vector<std::string> params{};
  };

  struct Type : Declaration {
    DType default_type = DType::f32;  // of a type that follows another, if its choices lack that one's
    std::vector<DType> choices{};     // includes the default
  };
  // The range is `least` to `most`, both included. If the template fixes the dim, `value` is set and a request need not
  // give it.
  struct Dim : Declaration {
    std::int64_t least = 1;
    std::int64_t most = 0;
    bool wide = false;  // 64-bit in the kernel
    std::optional<std::int64_t> value{};
    std::optional<Formula> when{};  // where it is false the dim is 0; absent: the dim always counts
  };
  struct Param : Declaration {
    std::int64_t default_value = 0;
    std::vector<std::int64_t> values{};   // includes the default
    bool asked = false;                   // only a pin changes it: it says what is computed, and tuning leaves it
    std::optional<std::int64_t> chain{};  // what a chain pins it to in a stage that follows another; absent: nothing
  };
  struct Let : Declaration {
    Formula value{};
  };
  struct Rule : Declaration {
    Formula condition{};
  };
  // The values of an input's elements that are valid: `least` to `most`, both included. If `rising`, no element is less
  // than the one before it along the last dimension. If `checked`, the kernel checks the values itself, and its doc
  // says what it makes of others. If `distinct` is not 0, no valid value occurs twice along the last dimension, which
  // the kernel does not check.
  struct Range {
    Formula least{}, most{};
    bool rising = false;
    bool checked = false;
    std::optional<Formula> distinct{};
  };
  // Shapes, boxes and corners are outermost first. A tensor without a box is passed as a View.
  struct Tensor : Declaration {
    std::string type{};  // the name of a dtype or of a Type
    std::vector<Formula> shape{};
    std::vector<Formula> box{};
    MapMode mode = MapMode::tile;
    std::vector<Formula> lower{}, upper{};  // corners of an im2col mode
    std::optional<MapType> as{};            // absent: the type of the elements
    std::vector<Formula> steps{};           // absent: all 1
    std::optional<Formula> swizzle{}, atom{}, interleave{}, l2{};
    bool flip = false;
    Fill fill = Fill::zero;
    bool view = false;              // a View of the same tensor follows the map
    bool output = false;            // whether the kernel writes it
    std::optional<Range> range{};   // of integers that are indices, lengths or offsets; absent: every value is valid
    std::optional<Formula> when{};  // absent: always present
  };
  struct Scalar : Declaration {
    std::string type{};
    std::optional<tma_jit::Scalar> default_value{};  // absent: the request must give one
  };
  struct Workspace : Declaration {
    Formula bytes{};
    bool zeroed = false;
  };
  struct Hook : Declaration {
    struct Parameter {
      std::string type{};
      std::string name{};
      std::optional<Formula> when{};  // absent: always present
    };
    std::vector<Parameter> parameters{};
    std::string result{};                       // the type's name
    std::optional<std::string> default_text{};  // absent: the request must give one
  };
  struct Preset : Declaration {
    std::vector<std::pair<std::string, std::int64_t>> settings{};
    std::optional<Formula> when{};
  };
  // Extents are x first; an extent that is not written is 1.
  struct Launch {
    std::vector<Formula> grid{}, block{}, cluster{};
    std::optional<Formula> smem{};
    bool programmatic = false;
  };
  struct Reference {
    std::string entry{};
    std::vector<Formula> grid{}, block{};
    std::optional<Formula> bits{};
  };

  std::string kernel{};
  std::string file{};
  std::string doc{};
  bool embedded = true;
  bool probe = false;           // demonstrates and tests one device primitive; its folder is named "probes"
  std::int64_t preference = 0;  // of the files of one kernel, those with the greatest are tried first
  std::vector<std::string> archs{};
  std::vector<Type> types{};
  std::vector<Dim> dims{};
  std::vector<Param> params{};
  std::vector<Let> lets{};
  std::vector<Rule> rules{};
  std::vector<Tensor> tensors{};
  std::vector<Scalar> scalars{};
  std::vector<Workspace> workspaces{};
  std::vector<Hook> hooks{};
  std::vector<Preset> presets{};
  Launch launch{};
  std::optional<Formula> flops{}, bytes{}, cycles{};  // of the `work` directive
  std::optional<Reference> reference{};
  std::optional<Reference> inputs{};  // computes some inputs from the others
};

}  // namespace tma_jit
