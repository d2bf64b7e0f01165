// The value of every name in one configuration: what expressions of the template are evaluated in.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "plan/binding.h"
#include "template/expression.h"

namespace tma_jit::plan {

// Shape and strides of one tensor in elements, outermost first.
struct Layout {
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;    // as given; packed, or padded for a tensor map, where only dims are
  std::vector<std::int64_t> addressed;  // the same, but where an extent of at most 1 makes a stride meaningless, one
                                        // that breaks no alignment rule
  bool empty() const;
};

// Starts with every param at its default. Lets are evaluated when first asked for and forgotten when a param changes.
// One thread at a time.
class Values final : public templates::Scope {
 public:
  explicit Values(const Binding& binding);

  void set_params(std::span<const std::int64_t> params);  // in declaration order
  void set_alignment(std::string_view tensor, std::int64_t bytes);

  [[nodiscard]] Result<std::int64_t> value(const templates::Reference& reference) const override;
  [[nodiscard]] Result<std::int64_t> let(std::size_t index) const;

  const Binding& binding() const { return binding_; }
  const std::vector<std::int64_t>& params() const { return params_; }

  // Of Template::tensors[index]; the given one's, or made of the dims.
  [[nodiscard]] Result<Layout> layout(std::size_t index) const;
  // Whether the configuration has the tensor: its `when`, or true.
  [[nodiscard]] Result<bool> wanted(const templates::Tensor& tensor) const;
  // Whether the kernel gets it: given, or wanted where the request gives no tensors at all.
  [[nodiscard]] Result<bool> present(std::size_t index) const;

 private:
  struct Slot {
    enum class Kind : std::uint8_t { constant, param, let, stride, missing };
    Kind kind = Kind::missing;
    std::int64_t value = 0;  // the constant, or the index of the param, let or tensor
  };
  struct Memo {
    enum class State : std::uint8_t { unknown, running, known };
    State state = State::unknown;
    Result<std::int64_t> value;
  };

  Slot slot_of(const templates::Reference& reference) const;
  Slot slot_of_name(std::string_view name) const;
  Slot slot_of_tensor(const templates::Reference& reference) const;
  void forget();

  const Binding& binding_;
  std::vector<Slot> slots_;  // by Reference::id
  std::vector<std::int64_t> params_;
  mutable std::vector<Memo> lets_;
};

// The largest power of two, at most 256, that divides the address; 256 for address 0, which is none yet.
std::int64_t alignment_of_address(std::uint64_t address);

// Shape and strides of a tensor the caller gave.
Layout layout_of(const Tensor& tensor);

}  // namespace tma_jit::plan
