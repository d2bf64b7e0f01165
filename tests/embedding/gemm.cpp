// The C++ program of docs/embedding.md: a matrix product on buffers of its own. Ends with 77 where there is no device.
#include <cstdint>
#include <cstdio>
#include <vector>

#include <tma_jit/tma_jit.h>

using namespace tma_jit;

int report(const Error& error) {
  std::fprintf(stderr, "%s\n", error.text().c_str());
  return error.code == ErrorCode::driver ? 77 : 1;
}

int main() {
  constexpr std::int64_t M = 512, N = 256, K = 128;
  Engine engine;  // cheap; opens the device at the first call that needs it
  auto a = DeviceBuffer::allocate(engine, M * K * 2);
  if (!a) return report(a.error());
  auto b = DeviceBuffer::allocate(engine, N * K * 2);
  if (!b) return report(b.error());
  auto d = DeviceBuffer::allocate(engine, M * N * 2);
  if (!d) return report(d.error());
  const std::vector<std::uint16_t> ones(M * K, 0x3F80);  // 1.0 as bf16
  if (auto sent = a->upload(ones.data(), a->bytes()); !sent) return report(sent.error());
  if (auto sent = b->upload(ones.data(), b->bytes()); !sent) return report(sent.error());

  auto gemm = engine.prepare({.kernel = "gemm",
                              .tensors = {{"A", Tensor::row_major(a->address(), DType::bf16, {M, K})},
                                          {"B", Tensor::row_major(b->address(), DType::bf16, {N, K})},
                                          {"D", Tensor::row_major(d->address(), DType::bf16, {M, N})}}});
  if (!gemm) return report(gemm.error());
  if (auto launched = gemm->launch(); !launched) return report(launched.error());

  std::vector<std::uint16_t> results(M * N);
  if (auto done = d->download(results.data(), d->bytes()); !done) return report(done.error());
  std::printf("D[0, 0] = %#x\n", results[0]);  // 0x4300: 128.0
  return results[0] == 0x4300 && results.back() == 0x4300 ? 0 : 1;
}
