// A kernel that multiplies by tcgen05 and reads the result through registers.
#include "emulator/matrix_samples.h"
#include "emulator/planted.h"
#include "emulator/tcgen05_gemm.h"

using namespace tma_jit;
using namespace tma_jit::testing;

namespace {

struct Data {
  Values a{128, 16}, b{64, 16};
};

Data fill(TestMemory& memory) {
  std::mt19937 random(1);
  Data data;
  data.a = sample(128, 16, Format::bf16, random);
  data.b = sample(64, 16, Format::bf16, random);
  u8* image = memory.as<u8>();
  for (u32 k = 0; k < 16; ++k) {
    for (u32 row = 0; row < 128; ++row)
      put_bits(image, (row * 16 + k / 8 * 2048 + k % 8 * 2) * 8, 16, pattern(Format::bf16, data.a.at(row, k)));
    for (u32 row = 0; row < 64; ++row)
      put_bits(image, (4096 + row * 16 + k / 8 * 1024 + k % 8 * 2) * 8, 16, pattern(Format::bf16, data.b.at(row, k)));
  }
  return data;
}

}  // namespace

TEST_CASE("a tcgen05 multiplication comes back through tcgen05.ld") {
  TestMemory memory(device_of("sm_100a"), kTcgen05Out + 128 * 256);
  const Data data = fill(memory);
  run_ptx(planted_text(tcgen05_gemm(), "sm_100a"), memory, {.block = 128, .dynamic_shared = kTcgen05ImageBytes},
          "sm_100a");
  u32 wrong = 0;
  for (u32 row = 0; row < 128; ++row)
    for (u32 column = 0; column < 64; ++column) {
      double sum = 0;
      for (u32 k = 0; k < 16; ++k) sum += data.a.at(row, k) * data.b.at(column, k);
      wrong += memory.as<float>()[kTcgen05Out / 4 + row * 64 + column] != static_cast<float>(sum) ? 1 : 0;
    }
  CHECK(wrong == 0);
}
