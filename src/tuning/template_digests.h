// Digests of templates that were computed, by which records are verified. Computing one reads every header that the
// template includes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include <tma_jit/plan.h>

namespace tma_jit::tuning {

// Not thread-safe. Valid while headers keep their texts.
class TemplateDigests {
 public:
  [[nodiscard]] std::optional<std::string> find(const Plan& plan) const;
  void keep(const Plan& plan, std::string digest);

 private:
  struct Known {
    std::string body;  // Plan::body
    std::string digest;
  };
  std::map<std::pair<std::string, bool>, Known> known_;  // by Plan::file, and whether hooks have operands
};

}  // namespace tma_jit::tuning
