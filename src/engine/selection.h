// The template files of a kernel that an engine plans with.
#pragma once

#include <string>
#include <vector>

#include <tma_jit/error.h>

#include "source/headers.h"
#include "template/catalogue.h"

namespace tma_jit::engine {

class Selection {
 public:
  // Without TMA: only the files that do not use it, or an error where all do.
  [[nodiscard]] static Result<Selection> of(std::vector<templates::TemplatePointer> found, bool disable_tma,
                                            const source::HeaderLookup& lookup);

  const std::vector<templates::TemplatePointer>& templates() const { return templates_; }

  // A planning error, with what was left out where that may be why.
  Error explained(Error error) const;

 private:
  std::vector<templates::TemplatePointer> templates_;
  std::vector<std::string> left_out_;
};

}  // namespace tma_jit::engine
