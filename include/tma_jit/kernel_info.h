// What a template file declares, as values: one struct a directive, its expressions with the names in them.
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

// The declarations of one file, each list in the order in which they are written.
struct KernelInfo {
  // What all declarations have in common.
  struct Declaration {
    std::string name{};         // empty for a rule and a preset
    std::string declaration{};  // as written, less the directive and the doc text
    std::string doc{};          // of a rule its message
    int line = 0;
  };

  // An expression of the manifest. `names` are the types, dims, params and lets that it names, in the order of their
  // first appearance; `params` those of the params on which its value depends, through lets too.
  struct Formula {
    std::string text{};
    std::vector<std::string> names{};
    std::vector<std::string> params{};
  };

  struct Type : Declaration {
    DType default_type = DType::f32;
    std::vector<DType> choices{};  // the default among them
  };
  // `least` to `most`, both included. A dim that the template fixes has a value, and a request need not give it.
  struct Dim : Declaration {
    std::int64_t least = 1;
    std::int64_t most = 0;
    bool wide = false;  // 64-bit in the kernel
    std::optional<std::int64_t> value{};
  };
  struct Param : Declaration {
    std::int64_t default_value = 0;
    std::vector<std::int64_t> values{};  // the default among them
  };
  struct Let : Declaration {
    Formula value{};
  };
  struct Rule : Declaration {
    Formula condition{};
  };
  // Shapes, boxes and corners are outermost first. A tensor without a box is passed as a View.
  struct Tensor : Declaration {
    std::string type{};  // a dtype's name, or that of a Type
    std::vector<Formula> shape{};
    std::vector<Formula> box{};
    MapMode mode = MapMode::tile;
    std::vector<Formula> lower{}, upper{};  // corners of an im2col mode
    std::optional<MapType> as{};            // absent: what the elements are
    std::vector<Formula> steps{};           // absent: all 1
    std::optional<Formula> swizzle{}, atom{}, interleave{}, l2{};
    bool flip = false;
    Fill fill = Fill::zero;
    bool view = false;              // the map comes with a View of the same tensor
    bool output = false;            // the kernel writes it
    std::optional<Formula> when{};  // absent: it is always there
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
      std::optional<Formula> when{};  // absent: it is always there
    };
    std::vector<Parameter> parameters{};
    std::string result{};                       // its type
    std::optional<std::string> default_text{};  // absent: the request must give one
  };
  struct Preset : Declaration {
    std::vector<std::pair<std::string, std::int64_t>> settings{};
    std::optional<Formula> when{};
  };
  // Extents are x first, and those not written are 1.
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
  bool probe = false;  // shows and proves one device primitive; lies in a folder named "probes"
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
  std::optional<Formula> flops{}, bytes{}, cycles{};  // of `work`
  std::optional<Reference> reference{};
};

}  // namespace tma_jit
