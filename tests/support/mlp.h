// The MLP of a transformer as three gemms, Y = (silu(X G^T) * (X U^T)) W^T, on an engine's device, and what it gives.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include <tma_jit/device.h>
#include <tma_jit/engine.h>

#include <doctest/doctest.h>

namespace tma_jit::testing {

class Mlp {
 public:
  // Of `rows` rows, with `width` columns outside and `hidden` columns within.
  Mlp(Engine& engine, std::int64_t rows, std::int64_t width, std::int64_t hidden)
      : rows_(rows),
        width_(width),
        hidden_(hidden),
        engine_(engine),
        x_(values(rows * width, 1)),
        gate_(values(hidden * width, 2)),
        up_(values(hidden * width, 3)),
        down_(values(width * hidden, 4)) {
    for (const auto* from : {&x_, &gate_, &up_, &down_}) buffers_.push_back(buffer_of(*from));
    for (const std::int64_t count : {rows * hidden, rows * hidden, rows * width}) {
      buffers_.push_back(buffer_of(std::vector<float>(static_cast<std::size_t>(count), std::nanf(""))));
    }
  }

  std::vector<Request> stages() const {
    Request gate = product(tensor(kX, rows_, width_), tensor(kGate, hidden_, width_), tensor(kGated, rows_, hidden_));
    Request up = product(tensor(kX, rows_, width_), tensor(kUp, hidden_, width_), tensor(kHidden, rows_, hidden_));
    up.operands = {"gate : bf16[M, N]"};
    up.tensors.push_back({"gate", tensor(kGated, rows_, hidden_)});
    up.hooks = {{"epilogue", "x * gate[row, column] / (1.0f + expf(-gate[row, column]))"}};
    Request down = product(tensor(kHidden, rows_, hidden_), tensor(kDown, width_, hidden_), tensor(kY, rows_, width_));
    return {gate, up, down};
  }

  // Compares Y with a reference in f64 of the same inputs, relative to the norm of the result.
  double error() const {
    std::vector<std::uint16_t> bits(static_cast<std::size_t>(rows_ * width_));
    REQUIRE(synchronize(engine_));
    REQUIRE(buffers_[kY].download(bits.data(), bits.size() * 2));
    const std::vector<double> expected = reference();
    double difference = 0;
    double norm = 0;
    for (std::size_t i = 0; i < bits.size(); ++i) {
      const double off = value_of(bits[i]) - expected[i];
      difference += off * off;
      norm += expected[i] * expected[i];
    }
    return std::sqrt(difference / norm);
  }

  // Overwrites what the stages write with NaN.
  void poison() {
    for (const Buffer each : {kGated, kHidden, kY}) REQUIRE(buffers_[each].fill(0xff));
  }

 private:
  enum Buffer { kX, kGate, kUp, kDown, kGated, kHidden, kY };

  static float value_of(std::uint16_t bits) {
    const std::uint32_t wide = std::uint32_t{bits} << 16;
    float value = 0;
    std::memcpy(&value, &wide, sizeof value);
    return value;
  }
  static std::uint16_t bits_of(float value) {
    std::uint32_t wide = 0;
    std::memcpy(&wide, &value, sizeof wide);
    return static_cast<std::uint16_t>(wide >> 16);
  }
  // Multiples of 1/8 from -1 to 7/8, which bf16 represents exactly.
  static std::vector<float> values(std::int64_t count, std::uint32_t seed) {
    std::vector<float> made(static_cast<std::size_t>(count));
    std::uint32_t state = seed;
    for (float& value : made) {
      state = state * 1664525U + 1013904223U;
      value = static_cast<float>(static_cast<int>(state >> 28) - 8) / 8;
    }
    return made;
  }

  DeviceBuffer buffer_of(const std::vector<float>& from) {
    std::vector<std::uint16_t> bits;
    for (const float value : from) bits.push_back(bits_of(value));
    auto made = DeviceBuffer::allocate(engine_, bits.size() * 2);
    REQUIRE(made);
    REQUIRE(made->upload(bits.data(), bits.size() * 2));
    return *std::move(made);
  }
  Tensor tensor(Buffer buffer, std::int64_t rows, std::int64_t columns) const {
    return Tensor::row_major(buffers_[buffer].address(), DType::bf16, {rows, columns});
  }
  static Request product(const Tensor& a, const Tensor& b, const Tensor& d) {
    return {.kernel = "gemm", .tensors = {{"A", a}, {"B", b}, {"D", d}}};
  }

  // A * B^T of m, n and k.
  template <class A>
  static std::vector<double> times(const std::vector<A>& a, const std::vector<float>& b, std::int64_t m, std::int64_t n,
                                   std::int64_t k) {
    std::vector<double> d(static_cast<std::size_t>(m * n));
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (std::int64_t at = 0; at < k; ++at) {
          sum += double{a[static_cast<std::size_t>(i * k + at)]} * double{b[static_cast<std::size_t>(j * k + at)]};
        }
        d[static_cast<std::size_t>(i * n + j)] = sum;
      }
    }
    return d;
  }
  std::vector<double> reference() const {
    const std::vector<double> gate = times(x_, gate_, rows_, hidden_, width_);
    std::vector<double> hidden = times(x_, up_, rows_, hidden_, width_);
    for (std::size_t i = 0; i < hidden.size(); ++i) hidden[i] *= gate[i] / (1 + std::exp(-gate[i]));
    return times(hidden, down_, rows_, width_, hidden_);
  }

  std::int64_t rows_, width_, hidden_;
  Engine& engine_;
  std::vector<float> x_, gate_, up_, down_;
  std::vector<DeviceBuffer> buffers_;
};

}  // namespace tma_jit::testing
