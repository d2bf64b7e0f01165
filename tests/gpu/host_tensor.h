// A tensor on the host with padding around it: filled at random, sent to the device, fetched back, and compared in
// float64, the padding bytes included.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <tma_jit/tma_jit.h>

namespace tma_jit {

// A matrix (or, with one row, a vector). `pitch` and `offset` are in elements.
struct Layout2D {
  std::int64_t rows = 1;
  std::int64_t columns = 0;
  std::int64_t pitch = 0;  // 0: columns
  std::int64_t offset = 0;
};

class HostTensor {
 public:
  HostTensor(DType dtype, Layout2D layout);

  void fill_random(std::uint64_t seed);
  void poison();
  double at(std::int64_t row, std::int64_t column) const;
  Result<void> send(Engine& engine);
  Result<void> fetch();
  Tensor matrix() const;  // rank 2
  Tensor vector() const;  // rank 1, one row

  // Every element against expected(row, column); "" where all agree within `relative` of it and `absolute`, else what
  // and where the first disagreement is. Padding that is no longer poisoned is a disagreement.
  template <class Expected> std::string compare(Expected expected, double relative, double absolute) const {
    for (std::int64_t row = 0; row < layout_.rows; ++row) {
      for (std::int64_t column = 0; column < layout_.columns; ++column) {
        const double want = expected(row, column), bound = relative * (want < 0 ? -want : want) + absolute;
        const double got = at(row, column), error = got - want;
        if (!(error <= bound && -error <= bound)) return disagreement(row, column, got, want);
      }
    }
    return stray();
  }

 private:
  std::int64_t element_index(std::int64_t row, std::int64_t column) const;
  std::string disagreement(std::int64_t row, std::int64_t column, double got, double want) const;
  std::string stray() const;

  DType dtype_;
  Layout2D layout_;
  std::vector<std::byte> bytes_;
  std::vector<DeviceBuffer> buffer_;  // none until sent
};

}  // namespace tma_jit
