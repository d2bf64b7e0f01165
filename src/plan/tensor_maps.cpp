#include "plan/tensor_maps.h"

#include <algorithm>
#include <array>
#include <optional>

#include "core/failure.h"
#include "plan/tensor_map_rules.h"

namespace tma_jit::plan {
namespace {

using templates::Expression;

struct Subject {
  const templates::Tensor& declared;
  const Values& values;
  const Layout& layout;

  template <class... Args> tl::unexpected<Error> fault(fmt::format_string<Args...> format, Args&&... args) const {
    return failure(ErrorCode::invalid_argument, "{}: {}", declared.name,
                   fmt::format(format, std::forward<Args>(args)...));
  }
};

// Returns the index of the value in `choices`, which equals the enumerator's value.
template <std::size_t N>
Result<std::size_t> choice(const Subject& subject, const std::optional<Expression>& expression,
                           std::string_view attribute, const std::array<std::int64_t, N>& choices,
                           std::int64_t default_value) {
  std::int64_t value = default_value;
  if (expression.has_value()) {
    TMA_JIT_ASSIGN(value, expression->evaluate(subject.values));
  }
  for (std::size_t i = 0; i < N; ++i) {
    if (choices[i] == value) return i;
  }
  return subject.fault("{} {} is not one of {}", attribute, value, fmt::join(choices, ", "));
}

Result<Swizzle> swizzle_of(const Subject& subject, Swizzle swizzle, std::int64_t atom) {
  if (subject.declared.flip && atom != 32) return subject.fault("flip needs atom 32, not {}", atom);
  if (atom == 16) return swizzle;
  if (swizzle != Swizzle::b128) return subject.fault("atom {} needs swizzle 128, not {}", atom, span_of(swizzle));
  if (atom == 64) return Swizzle::b128_atom_b64;
  return subject.declared.flip ? Swizzle::b128_atom_b32_flip_b8 : Swizzle::b128_atom_b32;
}

Result<void> set_interleave(const Subject& subject, TensorMapSpec& spec) {
  constexpr std::array<std::int64_t, 3> kInterleaves = {0, 16, 32};
  TMA_JIT_ASSIGN(const std::size_t interleave,
                 choice(subject, subject.declared.interleave, "interleave", kInterleaves, 0));
  spec.interleave = static_cast<Interleave>(interleave);
  return {};
}

Result<void> set_modes(const Subject& subject, TensorMapSpec& spec) {
  constexpr std::array<std::int64_t, 4> kSwizzles = {0, 32, 64, 128};
  constexpr std::array<std::int64_t, 3> kAtoms = {16, 32, 64};
  constexpr std::array<std::int64_t, 4> kPromotions = {0, 64, 128, 256};
  TMA_JIT_ASSIGN(const std::size_t swizzle, choice(subject, subject.declared.swizzle, "swizzle", kSwizzles, 0));
  TMA_JIT_ASSIGN(const std::size_t atom, choice(subject, subject.declared.atom, "atom", kAtoms, 16));
  TMA_JIT_ASSIGN(const std::size_t promotion, choice(subject, subject.declared.l2, "l2", kPromotions, 128));
  TMA_JIT_ASSIGN(spec.swizzle, swizzle_of(subject, static_cast<Swizzle>(swizzle), kAtoms[atom]));
  spec.l2_promotion = static_cast<L2Promotion>(promotion);
  spec.fill = subject.declared.fill;
  return {};
}

// Clamps a value beyond 32 bits, which the rules then reject; rejects a negative one itself.
Result<std::uint32_t> small(const Subject& subject, const Expression& expression, std::string_view attribute) {
  TMA_JIT_ASSIGN(const std::int64_t value, expression.evaluate(subject.values));
  if (value < 0) return subject.fault("{} {} is {}", attribute, expression.text(), value);
  return static_cast<std::uint32_t>(std::min<std::int64_t>(value, UINT32_MAX));
}

Result<void> set_box(const Subject& subject, TensorMapSpec& spec) {
  const std::vector<Expression>& box = *subject.declared.box;
  for (std::size_t i = 0; i < box.size(); ++i) {
    TMA_JIT_ASSIGN(spec.box[box.size() - 1 - i], small(subject, box[i], "box"));
  }
  if (!subject.declared.steps.has_value()) return {};
  const std::vector<Expression>& steps = *subject.declared.steps;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    TMA_JIT_ASSIGN(spec.element_strides[steps.size() - 1 - i], small(subject, steps[i], "step"));
  }
  return {};
}

// Clamps a value beyond 32 bits, which the rules then reject.
Result<void> set_corner(const Subject& subject, const std::vector<Expression>& offsets,
                        std::array<std::int32_t, 3>& corner) {
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    TMA_JIT_ASSIGN(const std::int64_t offset, offsets[i].evaluate(subject.values));
    corner[offsets.size() - 1 - i] = static_cast<std::int32_t>(std::clamp<std::int64_t>(offset, INT32_MIN, INT32_MAX));
  }
  return {};
}

// Packed values are declared as a tensor of bytes: its last extent counts bytes, the map's innermost dimension values.
Result<void> set_dims(const Subject& subject, TensorMapSpec& spec) {
  const std::vector<std::int64_t>& shape = subject.layout.shape;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    spec.dims[shape.size() - 1 - i] = static_cast<std::uint64_t>(shape[i]);
  }
  const auto bits = static_cast<std::uint64_t>(bits_of(spec.type()));
  if (!is_packed(spec.type())) return {};
  if (size_of(spec.dtype) != 1) {
    return subject.fault("{} packs values in bytes; declare a tensor of u8, not {}, whose last extent counts bytes",
                         name_of(spec.type()), name_of(spec.dtype));
  }
  if (subject.declared.output && spec.type() == MapType::b4x16_p64)
    return subject.fault("{} can only be loaded, and the kernel writes this tensor", name_of(spec.type()));
  if (spec.dims[0] * 8 % bits != 0) {
    return subject.fault("dimension {} is {} bytes, which hold no whole number of {}-bit values", shape.size() - 1,
                         spec.dims[0], bits);
  }
  spec.dims[0] = spec.dims[0] * 8 / bits;
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

// Returns a spec with what the tensor's memory decides.
Result<TensorMapSpec> spec_of_memory(const Subject& subject) {
  TensorMapSpec spec;
  spec.dtype = subject.values.binding().element_of(subject.declared);
  spec.as = subject.declared.as;
  spec.mode = subject.declared.mode;
  spec.rank = static_cast<int>(subject.layout.shape.size());
  TMA_JIT_CHECK(set_dims(subject, spec));
  TMA_JIT_CHECK(set_interleave(subject, spec));
  TMA_JIT_CHECK(set_strides(subject, spec));
  return spec;
}

MapTarget target_of(const Binding& binding, std::size_t index) {
  const Tensor* given = binding.tensors[index];
  return {given != nullptr ? given->address : 0, binding.device->compute_capability};
}

}  // namespace

Result<TensorMapSpec> map_spec(const Values& values, std::size_t index, const Layout& layout) {
  const Binding& binding = values.binding();
  const Subject subject{binding.kernel->tensors[index], values, layout};
  TMA_JIT_ASSIGN(TensorMapSpec spec, spec_of_memory(subject));
  TMA_JIT_CHECK(set_modes(subject, spec));
  TMA_JIT_CHECK(set_box(subject, spec));
  TMA_JIT_CHECK(set_corner(subject, subject.declared.lower, spec.lower));
  TMA_JIT_CHECK(set_corner(subject, subject.declared.upper, spec.upper));
  TMA_JIT_CHECK(check_tensor_map(spec, target_of(binding, index), subject.declared.name));
  return spec;
}

Result<void> check_memory_of_map(const Values& values, std::size_t index, const Layout& layout) {
  const Binding& binding = values.binding();
  const Subject subject{binding.kernel->tensors[index], values, layout};
  TMA_JIT_ASSIGN(const TensorMapSpec spec, spec_of_memory(subject));
  return check_map_memory(spec, target_of(binding, index), subject.declared.name);
}

}  // namespace tma_jit::plan
