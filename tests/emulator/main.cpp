// The suite; with --every-form after it, a failure for each form of an instruction that no test of this run has had.
#define DOCTEST_CONFIG_IMPLEMENT
#include <cstdio>
#include <cstring>

#include <doctest/doctest.h>

#include "emulator/decode/coverage.h"

namespace {

bool asks_for(int count, char** words, const char* option) {
  for (int i = 1; i < count; ++i)
    if (std::strcmp(words[i], option) == 0) return true;
  return false;
}

int missing_forms() {
  const auto patterns = tma_jit::emulator::decode::untried_patterns();
  for (const std::string_view pattern : patterns)
    std::fprintf(stderr, "no test has an instruction of the form: %.*s\n", static_cast<int>(pattern.size()),
                 pattern.data());
  return patterns.empty() ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  doctest::Context context(count, words);
  const int failed = context.run();
  if (context.shouldExit() || failed != 0 || !asks_for(count, words, "--every-form")) return failed;
  return missing_forms();
}
