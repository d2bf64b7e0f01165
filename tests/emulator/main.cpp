// The test program. With --every-form it fails for each form of an instruction that no test has decoded, and with
// --every-modifier for each modifier of each form.
#define DOCTEST_CONFIG_IMPLEMENT
#include <cstdio>
#include <cstring>

#include <doctest/doctest.h>

#include "emulator/fault.h"
#include "emulator/isa/forms.h"

// Prints faults that a test did not expect.
REGISTER_EXCEPTION_TRANSLATOR(const tma_jit::emulator::Fault& fault) {
  return fault.text().c_str();
}

namespace {

bool asks_for(int count, char** words, const char* option) {
  for (int i = 1; i < count; ++i)
    if (std::strcmp(words[i], option) == 0) return true;
  return false;
}

int missing_forms(bool modifiers) {
  const auto forms = tma_jit::emulator::isa::all_forms().uncovered(modifiers);
  for (const std::string& form : forms) std::fprintf(stderr, "no test has %s\n", form.c_str());
  return forms.empty() ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  doctest::Context context(count, words);
  const int failed = context.run();
  const bool modifiers = asks_for(count, words, "--every-modifier");
  if (context.shouldExit() || failed != 0 || !(modifiers || asks_for(count, words, "--every-form"))) return failed;
  return missing_forms(modifiers);
}
