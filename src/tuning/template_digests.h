// Digests of templates that were computed, by which records are verified. Computing one reads every header that the
// template includes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace tma_jit::tuning {

// Not thread-safe. Valid while headers keep their texts.
class TemplateDigests {
 public:
  // A template's name and text, and whether hooks read tensors, which adds a header to those that it includes.
  struct Asked {
    std::string_view file, body;
    bool operands = false;
  };
  [[nodiscard]] std::optional<std::string> find(const Asked& asked) const;
  void keep(const Asked& asked, std::string digest);

 private:
  struct Known {
    std::string body, digest;
  };
  std::map<std::pair<std::string, bool>, Known> known_;  // by file and operands
};

}  // namespace tma_jit::tuning
