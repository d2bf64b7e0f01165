// Resolves the references of expressions to the template's declarations, and gives every distinct reference its id.
#pragma once

#include "template/directives.h"

namespace tma_jit::templates {

class ReferenceTable {
 public:
  explicit ReferenceTable(Builder& builder) : template_(builder.result), names_(builder.names) {}

  // Fails at the first reference to something that does not exist or has no such property.
  [[nodiscard]] Result<void> resolve(Expression& expression);

 private:
  // What is wrong with a reference; the text is empty if nothing is.
  struct Problem {
    std::string text{};
    bool unknown = false;  // whether nothing has the name
    std::string suggestion{};
  };
  Problem problem(const Reference& reference) const;
  Problem name_problem(const std::string& name) const;
  Problem type_problem(std::string_view function, const std::string& name) const;
  Problem tensor_problem(const Reference& reference) const;
  Problem hook_problem(const std::string& name) const;
  // Returns the id of an equal reference in the template, or -1.
  int id_of(const Reference& reference) const;

  Template& template_;
  const NameTable& names_;
};

}  // namespace tma_jit::templates
