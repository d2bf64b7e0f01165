// Digests of templates that were computed, by which records are verified. Computing one reads every header that the
// template includes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "source/preamble.h"

namespace tma_jit::tuning {

// Not thread-safe. Valid while headers keep their texts.
class TemplateDigests {
 public:
  // A template's name and text, and what hooks add to the headers that it includes.
  struct Asked {
    std::string_view file, body;
    source::HookNeeds hooks;
  };
  [[nodiscard]] std::optional<std::string> find(const Asked& asked) const;
  void keep(const Asked& asked, std::string digest);

 private:
  struct Known {
    std::string body, digest;
  };
  std::map<std::pair<std::string, source::HookNeeds>, Known> known_;  // by file and hooks
};

}  // namespace tma_jit::tuning
