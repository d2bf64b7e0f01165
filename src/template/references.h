// Connects what expressions refer to with what the template declares, and gives every distinct reference its id.
#pragma once

#include "template/directives.h"

namespace tma_jit::manifest {

class ReferenceTable {
 public:
  explicit ReferenceTable(Builder& builder) : template_(builder.result), names_(builder.names) {}

  // Fails at the first reference to something that is not there or cannot be asked for.
  Result<void> resolve(Expression& expression);

 private:
  std::string problem(const Reference& reference) const;
  std::string name_problem(const std::string& name) const;
  std::string size_problem(const std::string& name) const;
  std::string tensor_problem(const Reference& reference) const;
  int id_of(const Reference& reference);

  Template& template_;
  const NameTable& names_;
};

}  // namespace tma_jit::manifest
