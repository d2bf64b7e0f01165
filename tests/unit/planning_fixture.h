// Small manifests to plan with, and short ways to ask.
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "plan/planner.h"

namespace tma_jit::plan {

using Pointers = std::vector<std::shared_ptr<const templates::Template>>;

inline std::shared_ptr<const templates::Template> parsed(const std::string& text, const std::string& file = "k.cu") {
  auto kernel = templates::parse(file, text);
  if (!kernel.has_value()) FAIL(kernel.error().text());
  return std::make_shared<const templates::Template>(std::move(*kernel));
}

inline DeviceInfo device(std::string_view name = "h100") {
  return device_named(name).value();
}

inline Result<Plan> plan(const std::string& text, const Request& request, std::string_view on = "h100") {
  const Pointers templates = {parsed(text)};
  return make_plan(request, device(on), templates);
}

inline Enumeration enumeration(const std::string& text, const Request& request, std::string_view on = "h100") {
  const Pointers templates = {parsed(text)};
  Result<Enumeration> result = enumerate(request, device(on), templates);
  if (!result.has_value()) FAIL(result.error().text());
  return std::move(*result);
}

// The whole error, or "planned".
inline std::string refusal(const std::string& text, const Request& request, std::string_view on = "h100") {
  const Result<Plan> result = plan(text, request, on);
  return result.has_value() ? "planned" : result.error().text();
}

// "BM=128 BN=256" of a plan, or its error.
inline std::string config(const Result<Plan>& plan) {
  if (!plan.has_value()) return plan.error().text();
  std::string words;
  for (const auto& [name, value] : plan->config) words += fmt::format("{}{}={}", words.empty() ? "" : " ", name, value);
  return words;
}

inline const Argument& argument(const Plan& plan, std::string_view name) {
  const auto at = std::ranges::find(plan.arguments, name, &Argument::name);
  REQUIRE(at != plan.arguments.end());
  return *at;
}

template <class... Values> std::vector<std::byte> packed(Values... values) {
  std::vector<std::byte> bytes;
  const auto append = [&](auto value) {
    const std::size_t at = bytes.size();
    bytes.resize(at + sizeof value);
    std::memcpy(bytes.data() + at, &value, sizeof value);
  };
  (append(values), ...);
  return bytes;
}

// The gemm of the design document: 336 configurations.
inline const std::string kGemm = R"(//! kernel  gemm  "D[M,N] = A[M,K] * B[N,K]^T"
//! arch    sm_90a
//! type    T      = bf16  in {bf16, f16}
//! dim     M, N, K
//! param   BM     = 128   in {64, 128, 192}
//! param   BN     = 256   in {64, 128, 192, 256}
//! param   STAGES = 3     in 2..8
//! param   BAND   = 8     in {1, 4, 8, 16}
//! let     BK        = 128 / sizeof(T)
//! let     CONSUMERS = BM / 64
//! let     THREADS   = 128 * (CONSUMERS + 1)
//! let     SMEM      = align_up(STAGES * (BM + BN) * 128 + BM * BN * sizeof(T) + 16 * STAGES, 1024)
//! let     TILES     = ceil_div(M, BM) * ceil_div(N, BN)
//! require K * sizeof(T) % 16 == 0                  "TMA needs rows of A and B to be a multiple of 16 bytes"
//! require N * sizeof(T) % 16 == 0                  "TMA needs rows of D to be a multiple of 16 bytes"
//! require SMEM + 1024 <= device.smem_per_block     "the pipeline must fit in shared memory"
//! require CONSUMERS * (BN / 2 + 40) <= 480         "accumulators must fit in registers"
//! tensor  A : T[M, K]    box [BM, BK]  swizzle 128
//! tensor  B : T[N, K]    box [BN, BK]  swizzle 128
//! tensor  D : T[M, N]    box [BM, 64]  swizzle 128  out
//! launch  grid min(TILES, device.sm_count)  block THREADS  smem SMEM + 1024
//! work    flops 2 * M * N * K  bytes (M * K + N * K + M * N) * sizeof(T)
//! preset  BM = 64, BN = 128, STAGES = 6            when TILES < device.sm_count
//! preset  BM = 128, BN = 256, STAGES = 3
extern "C" __global__ void gemm() {}
)";

inline Request gemm_dims(std::int64_t m, std::int64_t n, std::int64_t k) {
  return {.kernel = "gemm", .dims = {{"M", m}, {"N", n}, {"K", k}}};
}

inline Request gemm_tensors(std::int64_t m, std::int64_t n, std::int64_t k, DType type = DType::bf16) {
  return {.kernel = "gemm",
          .tensors = {{"A", Tensor::row_major(std::uint64_t{0x10000}, type, {m, k})},
                      {"B", Tensor::row_major(std::uint64_t{0x20000}, type, {n, k})},
                      {"D", Tensor::row_major(std::uint64_t{0x30000}, type, {m, n})}}};
}

// One tensor of one dim, no choices.
inline const std::string kLine = R"(//! kernel line
//! arch sm_90a
//! dim N
//! tensor X : f32[N]
//! launch grid ceil_div(N, 128) block 128
)";

}  // namespace tma_jit::plan
