#include "compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "element.h"

namespace tma_jit::cli {
namespace {

constexpr std::size_t kShown = 8;
constexpr double kExactInteger = 0x1p24;  // sums of integers below this are exact in f32

double rms_of(std::span<const double> values) {
  double sum = 0;
  std::int64_t count = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    sum += value * value;
    ++count;
  }
  return count == 0 ? 0 : std::sqrt(sum / static_cast<double>(count));
}

bool are_integers(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(),
                     [](double value) { return !std::isfinite(value) || value == std::nearbyint(value); });
}

bool is_poison(std::uint64_t bits, std::size_t size) {
  return bits == (~std::uint64_t{0} >> (64 - 8 * size));
}

bool saturates(DType type) {
  return type == DType::e4m3 || type == DType::e5m2;
}

class Comparer {
 public:
  Comparer(DType type, Demand demand, double rms)
      : type_(type), strictness_(demand.strictness), tolerance_(tolerance_of(type)) {
    if (demand.sum_bits > 0) {
      tolerance_.relative = std::max({2 * tolerance_.relative, std::ldexp(1.0, -demand.sum_bits - 3),
                                      type == DType::f64 ? tolerance_of(DType::f32).relative : 0});
      tolerance_.absolute_per_rms = std::max(tolerance_.absolute_per_rms, std::ldexp(1.0, -demand.sum_bits));
    }
    floor_ = tolerance_.absolute_per_rms * rms + tolerance_.smallest;
  }

  bool agrees(double got, double expected) const {
    if (std::isnan(expected)) return std::isnan(got);
    if (must_be_exact(expected)) return got == rounded(expected);
    const double allowed = tolerance_.relative * std::fabs(expected) + floor_;
    if (std::fabs(got - expected) <= allowed) return true;
    // A number that is as far from the expected one as is allowed may be the first that rounds to infinity.
    if (std::isinf(got) && got == rounded(expected + std::copysign(allowed, expected))) return true;
    // Beyond the type's range the error has no bound: infinity and the largest finite value both count as right.
    return got == rounded(expected) ||
           (saturates(type_) && std::isinf(got) && got * expected > 0 && overflows(expected));
  }

  const Tolerance& tolerance() const { return tolerance_; }

 private:
  bool must_be_exact(double expected) const {
    if (strictness_ == Strictness::exact) return true;
    return strictness_ == Strictness::integers && std::fabs(expected) < kExactInteger;
  }
  double rounded(double value) const { return decode(type_, encode(type_, value)); }
  bool overflows(double value) const { return std::fabs(rounded(value)) < std::fabs(value); }

  DType type_;
  Strictness strictness_;
  Tolerance tolerance_;
  double floor_ = 0;
};

}  // namespace

Tolerance tolerance_of(DType type) {
  switch (type) {
    case DType::bf16: return {0x1p-8, 0x1p-9, 0};
    case DType::f16: return {0x1p-11, 0x1p-11, 0x1p-25};
    case DType::e4m3: return {0x1p-4, 0x1p-7, 0x1p-10};
    case DType::e5m2: return {0x1p-3, 0x1p-6, 0x1p-17};
    case DType::f32: return {0x1p-16, 0x1p-14, 0};
    case DType::f64: return {0x1p-40, 0x1p-40, 0};
    default: return {0, 0, 0};
  }
}

Comparison compare(std::span<const std::byte> out, DType type, const Layout& layout, std::span<const double> reference,
                   Demand demand) {
  Comparison result;
  result.elements = layout.elements();
  result.rms = rms_of(reference);
  const Decoder decoder(type);
  if (!is_floating_point(type)) {
    demand.strictness = Strictness::exact;
  } else if (demand.strictness == Strictness::integers && !are_integers(reference)) {
    demand.strictness = Strictness::tolerant;
  }
  const Comparer comparer(type, demand, result.rms);
  result.tolerance = comparer.tolerance();

  const auto visit = [&](const std::byte* element, std::int64_t index) {
    const double got = decoder(element);
    const double expected = reference[static_cast<std::size_t>(index)];
    const double error = std::fabs(got - expected);
    if (std::isfinite(error) && error > 0) {
      result.max_error = std::max(result.max_error, error);
      result.max_relative = std::max(result.max_relative, error / std::max(std::fabs(expected), result.rms));
    }
    if (comparer.agrees(got, expected)) return;
    const bool unwritten = is_poison(load_bits(element, decoder.size()), decoder.size());
    ++result.mismatches;
    result.unwritten += unwritten ? 1 : 0;
    if (result.first.size() < kShown) result.first.push_back({index, got, expected, unwritten});
  };
  for_each_row(layout, [&](std::int64_t offset, std::int64_t first, std::int64_t count, std::int64_t stride) {
    for (std::int64_t i = 0; i < count; ++i)
      visit(out.data() + static_cast<std::size_t>(offset + i * stride) * decoder.size(), first + i);
  });
  return result;
}

std::int64_t count_stray_bytes(std::span<std::byte> buffer, std::size_t origin, DType type, const Layout& layout) {
  const std::size_t size = size_of(type);
  for_each_row(layout, [&](std::int64_t offset, std::int64_t, std::int64_t count, std::int64_t stride) {
    std::byte* element = buffer.data() + origin + static_cast<std::size_t>(offset) * size;
    for (std::int64_t i = 0; i < count; ++i, element += static_cast<std::size_t>(stride) * size)
      std::memset(element, 0xff, size);
  });
  return std::count_if(buffer.begin(), buffer.end(), [](std::byte b) { return b != std::byte{0xff}; });
}

}  // namespace tma_jit::cli
