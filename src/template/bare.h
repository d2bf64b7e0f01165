// Templates without their presets, which a plan by a record does not need.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "template/catalogue.h"

namespace tma_jit::templates {

struct Builder;

// A template of the library that has been parsed but for its presets, and what it takes to parse them later. Immutable.
class Bare {
 public:
  // As templates::parse. Fails (unsupported) where the manifest has lists.
  [[nodiscard]] static Result<Bare> parse(std::string file, std::string text, const HeaderLookup& header);

  // Returns the template without presets.
  TemplatePointer kernel() const;
  // Returns what templates::parse returns, but for the numbers of references.
  [[nodiscard]] Result<Template> with_presets() const;

 private:
  explicit Bare(std::shared_ptr<const Builder> builder) : builder_(std::move(builder)) {}

  std::shared_ptr<const Builder> builder_;
};

}  // namespace tma_jit::templates
