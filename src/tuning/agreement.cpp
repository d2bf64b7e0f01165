#include "tuning/agreement.h"

#include <array>
#include <cmath>

#include "core/failure.h"

namespace tma_jit::tuning {
namespace {

constexpr std::int64_t kParts = 256, kSums = 3;  // as in templates/kernels/distance.cu

// Returns twice the unit roundoff, once for each of the two outputs; for f32 and wider, the error that a sum of a
// million products accumulates in f32.
double tolerance_of(DType type) {
  switch (type) {
    case DType::e5m2: return 0.25;
    case DType::e4m3: return 0.125;
    case DType::bf16: return std::ldexp(1, -7);
    case DType::f16: return std::ldexp(1, -10);
    default: return is_floating_point(type) ? 1e-3 : 0;
  }
}

struct Sums {
  double difference = 0, square = 0, lone = 0;
};

struct Compared {
  std::uint64_t a = 0, b = 0;  // addresses
  DType type = DType::f32;
  std::int64_t span = 0;
};

Request distance_of(const Compared& outputs, std::uint64_t parts) {
  Request request{.kernel = "distance"};
  request.tensors = {{"A", Tensor::row_major(outputs.a, outputs.type, {outputs.span})},
                     {"B", Tensor::row_major(outputs.b, outputs.type, {outputs.span})},
                     {"D", Tensor::row_major(parts, DType::f64, {kParts, kSums})}};
  return request;
}

Result<Sums> distance(Engine& engine, const MadeTensor& a, const MadeTensor& b, const SideStream& side) {
  TMA_JIT_ASSIGN(const DeviceBuffer parts, DeviceBuffer::allocate(engine, kParts * kSums * sizeof(double)));
  const Compared outputs{a.lowest(), b.lowest(), a.tensor.dtype, a.span};
  TMA_JIT_ASSIGN(Launch launch, engine.prepare(distance_of(outputs, parts.address())));
  TMA_JIT_CHECK(launch.launch(side.handle()));
  std::array<std::array<double, kSums>, kParts> host{};
  TMA_JIT_CHECK(parts.download(host.data(), sizeof host, 0, &side));
  Sums sums;
  for (const auto& part : host) {
    sums.difference += part[0];
    sums.square += part[1];
    sums.lone += part[2];
  }
  return sums;
}

}  // namespace

std::vector<Request> comparisons(const std::vector<MadeTensor>& tensors) {
  std::vector<Request> requests;
  for (const MadeTensor& made : tensors) {
    const std::uint64_t address = made.lowest();
    const Compared outputs{address, address, made.tensor.dtype, made.span};
    if (made.output) requests.push_back(distance_of(outputs, made.buffer.address()));
  }
  return requests;
}

Result<std::string> disagreement(Engine& engine, const MadeTensor& expected, const MadeTensor& got,
                                 const SideStream& side) {
  TMA_JIT_ASSIGN(const Sums sums, distance(engine, expected, got, side));
  if (sums.lone > 0) {
    return fmt::format("{} elements of {} are numbers in one output only", sums.lone, expected.name);
  }
  const double tolerance = tolerance_of(expected.tensor.dtype);
  if (sums.difference <= tolerance * tolerance * sums.square) return std::string();
  return fmt::format("{} is {:.3g} of its root mean square away from the preset's, more than {:.3g}", expected.name,
                     std::sqrt(sums.difference / sums.square), tolerance);
}

}  // namespace tma_jit::tuning
