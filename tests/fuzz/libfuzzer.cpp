// libFuzzer's way in. Seeds are written by the stand-alone program of the same target.
#include "target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  tma_jit::fuzz::run({bytes, size});
  return 0;
}
