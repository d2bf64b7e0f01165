// Connects what expressions refer to with what the template declares, and gives every distinct reference its id.
#pragma once

#include "template/directives.h"

namespace tma_jit::templates {

class ReferenceTable {
 public:
  explicit ReferenceTable(Builder& builder) : template_(builder.result), names_(builder.names) {}

  // Fails at the first reference to something that is not there or cannot be asked for.
  [[nodiscard]] Result<void> resolve(Expression& expression);

 private:
  // What is wrong with a reference; no text where nothing is.
  struct Problem {
    std::string text{};
    bool unknown = false;  // nothing has the name
    std::string suggestion{};
  };
  Problem problem(const Reference& reference) const;
  Problem name_problem(const std::string& name) const;
  Problem size_problem(const std::string& name) const;
  Problem tensor_problem(const Reference& reference) const;
  int id_of(const Reference& reference);

  Template& template_;
  const NameTable& names_;
};

}  // namespace tma_jit::templates
