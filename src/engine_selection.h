// The template files of a kernel that an engine plans with.
#pragma once

#include <string>
#include <vector>

#include <tma_jit/error.h>

#include "source/headers.h"
#include "template/search.h"

namespace tma_jit {

class Selection {
 public:
  // Without TMA: only the files that do not use it, or an error where all do.
  static Result<Selection> of(std::vector<manifest::TemplatePointer> found, bool disable_tma,
                              const emission::HeaderLookup& lookup);

  const std::vector<manifest::TemplatePointer>& templates() const { return templates_; }

  // A planning error, with what was left out where that may be why.
  Error explained(Error error) const;

 private:
  std::vector<manifest::TemplatePointer> templates_;
  std::vector<std::string> left_out_;
};

}  // namespace tma_jit
