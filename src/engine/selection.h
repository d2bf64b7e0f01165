// The template files of a kernel that an engine considers.
#pragma once

#include <string>
#include <vector>

#include <tma_jit/error.h>

#include "source/headers.h"
#include "template/catalogue.h"

namespace tma_jit::engine {

class Selection {
 public:
  // If `disable_tma`, selects only files that do not use TMA, or fails if all do.
  [[nodiscard]] static Result<Selection> of(std::vector<templates::TemplatePointer> found, bool disable_tma,
                                            const source::HeaderLookup& lookup);

  const std::vector<templates::TemplatePointer>& templates() const { return templates_; }

  // Adds to a planning error which files were left out, if that may be the cause.
  Error explained(Error error) const;

 private:
  std::vector<templates::TemplatePointer> templates_;
  std::vector<std::string> left_out_;
};

}  // namespace tma_jit::engine
