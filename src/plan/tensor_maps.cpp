#include "plan/tensor_maps.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/failure.h"
#include "plan/tensor_map_rules.h"

namespace tma_jit::planning {
namespace {

using manifest::Expression;

struct Subject {
  const manifest::Tensor& declared;
  const Values& values;
  const Layout& layout;

  template <class... Args> tl::unexpected<Error> fault(fmt::format_string<Args...> format, Args&&... args) const {
    return failure(ErrorCode::invalid_argument, "{}: {}", declared.name,
                   fmt::format(format, std::forward<Args>(args)...));
  }
};

// The position of the value among `choices`, which is the enumerator's value.
template <std::size_t N>
Result<std::size_t> choice(const Subject& subject, const std::optional<Expression>& expression,
                           std::string_view attribute, const std::array<std::int64_t, N>& choices,
                           std::int64_t standard) {
  std::int64_t value = standard;
  if (expression.has_value()) {
    TMA_JIT_ASSIGN(value, expression->evaluate(subject.values));
  }
  for (std::size_t i = 0; i < N; ++i) {
    if (choices[i] == value) return i;
  }
  return subject.fault("{} {} is not one of {}", attribute, value, fmt::join(choices, ", "));
}

Result<void> set_modes(const Subject& subject, TensorMapSpec& spec) {
  constexpr std::array<std::int64_t, 4> kSwizzles = {0, 32, 64, 128};
  constexpr std::array<std::int64_t, 3> kInterleaves = {0, 16, 32};
  constexpr std::array<std::int64_t, 4> kPromotions = {0, 64, 128, 256};
  TMA_JIT_ASSIGN(const std::size_t swizzle, choice(subject, subject.declared.swizzle, "swizzle", kSwizzles, 0));
  TMA_JIT_ASSIGN(const std::size_t interleave,
                 choice(subject, subject.declared.interleave, "interleave", kInterleaves, 0));
  TMA_JIT_ASSIGN(const std::size_t promotion, choice(subject, subject.declared.l2, "l2", kPromotions, 128));
  spec.swizzle = static_cast<Swizzle>(swizzle);
  spec.interleave = static_cast<Interleave>(interleave);
  spec.l2_promotion = static_cast<L2Promotion>(promotion);
  spec.fill = subject.declared.fill;
  return {};
}

// A value beyond 32 bits is clamped, which the rules then refuse; a negative one is refused here.
Result<std::uint32_t> small(const Subject& subject, const Expression& expression, std::string_view attribute) {
  TMA_JIT_ASSIGN(const std::int64_t value, expression.evaluate(subject.values));
  if (value < 0) return subject.fault("{} {} is {}", attribute, expression.text(), value);
  return static_cast<std::uint32_t>(std::min<std::int64_t>(value, UINT32_MAX));
}

Result<void> set_box(const Subject& subject, TensorMapSpec& spec) {
  const std::size_t rank = subject.layout.shape.size();
  for (std::size_t i = 0; i < rank; ++i) {
    const std::size_t inner_first = rank - 1 - i;
    TMA_JIT_ASSIGN(spec.box[inner_first], small(subject, (*subject.declared.box)[i], "box"));
    if (!subject.declared.steps.has_value()) continue;
    TMA_JIT_ASSIGN(spec.element_strides[inner_first], small(subject, (*subject.declared.steps)[i], "step"));
  }
  return {};
}

Result<void> set_strides(const Subject& subject, TensorMapSpec& spec) {
  const std::vector<std::int64_t>& strides = subject.layout.addressed;
  const std::size_t last = strides.size() - 1;
  if (strides[last] != 1) {
    return subject.fault("stride {} is {}; a tensor map needs the last dimension contiguous, stride 1", last,
                         strides[last]);
  }
  for (std::size_t i = 0; i < last; ++i) {
    if (strides[i] < 0) {
      return subject.fault("stride {} is {}; a tensor map takes no negative strides, copy the tensor", i, strides[i]);
    }
    const auto elements = static_cast<std::uint64_t>(strides[i]);
    if (__builtin_mul_overflow(elements, size_of(spec.dtype), &spec.strides[last - 1 - i])) {
      return subject.fault("stride {} is {} elements; a tensor map takes less than 2^40 bytes", i, elements);
    }
  }
  return {};
}

}  // namespace

Result<TensorMapSpec> map_spec(const Values& values, std::size_t index, const Layout& layout) {
  const Subject subject{values.binding().kernel->tensors[index], values, layout};
  TensorMapSpec spec;
  spec.dtype = values.binding().element_of(subject.declared);
  spec.rank = static_cast<int>(layout.shape.size());
  for (std::size_t i = 0; i < layout.shape.size(); ++i) {
    spec.dims[layout.shape.size() - 1 - i] = static_cast<std::uint64_t>(layout.shape[i]);
  }
  TMA_JIT_CHECK(set_modes(subject, spec));
  TMA_JIT_CHECK(set_strides(subject, spec));
  TMA_JIT_CHECK(set_box(subject, spec));
  const Tensor* given = values.binding().tensors[index];
  TMA_JIT_CHECK(check_tensor_map(spec, given != nullptr ? given->address : 0, subject.declared.name));
  return spec;
}

}  // namespace tma_jit::planning
