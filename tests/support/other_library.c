// A shared library that is not the emulator.
int tma_jit_test_other_library(void);
int tma_jit_test_other_library(void) {
  return 0;
}
