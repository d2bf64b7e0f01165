// Functions of the caller that throw, and words of the environment that no variable has.
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <tma_jit/engine.h>

#include "support/engines.h"
#include "tuning/pace.h"

namespace tma_jit {

using namespace testing;

namespace {

class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~Variable() { ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

std::vector<std::string> warnings_with(const char* variable, const char* value) {
  const Variable set(variable, value);
  std::vector<std::string> seen;
  const Engine engine({.use_cache = false, .log = [&](LogLevel, std::string_view text) { seen.emplace_back(text); }});
  return seen;
}

}  // namespace

TEST_CASE("a log that throws disturbs neither the call nor the standard error") {
  int called = 0;
  Engine engine({.device = Device::known("h100"),
                 .use_cache = false,
                 .tuning = {.records = {"/proc/version"}},  // its lines are no records
                 .log = [&](LogLevel, std::string_view) {
                   if (++called % 2 == 1) throw 1;
                   throw std::runtime_error("of the log");
                 }});
  const auto plan = engine.plan({.kernel = "map", .dims = {{"N", 64}}, .hooks = {{"apply", "a"}}});
  CHECK(plan);
  CHECK(called > 0);
}

TEST_CASE("a may_measure that throws postpones the step") {
  int asked = 0;
  tuning::Pace pace({.budget_s = 10, .share = 1, .may_measure = [&] {
                       if (++asked == 1) throw std::runtime_error("not now");
                       return true;
                     }});
  CHECK(pace.begin());
  CHECK(asked == 2);
}

TEST_CASE("a word that a variable of the environment does not know is named in a warning") {
  CHECK(warnings_with("TMA_JIT_TUNING", "at_start") ==
        std::vector<std::string>{"TMA_JIT_TUNING is \"at_start\", which is none of off, records, at-start, background; "
                                 "it counts as unset"});
  CHECK(warnings_with("TMA_JIT_COMPILER", "in-process").size() == 1);
  CHECK(warnings_with("TMA_JIT_REMOTE_ROLE", "reader").size() == 1);
  CHECK(warnings_with("TMA_JIT_TUNING", "background").empty());
  CHECK(warnings_with("TMA_JIT_COMPILER", "").empty());
}

}  // namespace tma_jit
