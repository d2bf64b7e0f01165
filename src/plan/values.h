// The values of all names in one configuration; the template's expressions are evaluated in it.
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
  std::vector<std::int64_t> strides;    // as given; if only dims are given, packed, or padded for a tensor map
  std::vector<std::int64_t> addressed;  // the same, except that a stride that is meaningless, because its extent is at
                                        // most 1, is replaced by one that satisfies every alignment rule
  bool empty() const;
};

// Initially every param has its default. Lets are evaluated on first use and again after a param changes. Not
// thread-safe.
class Values final : public templates::Scope {
 public:
  explicit Values(const Binding& binding);

  void set_params(std::span<const std::int64_t> params);  // in declaration order
  void set_alignment(std::string_view tensor, std::int64_t bytes);

  [[nodiscard]] Result<std::int64_t> value(const templates::Reference& reference) const override;
  [[nodiscard]] const std::int64_t* known(const templates::Reference& reference) const override;
  [[nodiscard]] Result<std::int64_t> let(std::size_t index) const;

  const Binding& binding() const { return binding_; }
  const std::vector<std::int64_t>& params() const { return params_; }

  // Returns the layout of Template::tensors[index]: the given tensor's, or one derived from the dims.
  [[nodiscard]] Result<Layout> layout(std::size_t index) const;
  // Returns whether the configuration has the tensor: the value of its `when`, or true.
  [[nodiscard]] Result<bool> wanted(const templates::Tensor& tensor) const;
  // Returns whether the kernel receives the tensor: it is given, or the configuration has it and the request gives no
  // tensors.
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

  Slot slot_of(const templates::Reference& reference, const templates::DeclarationIndex& declaration) const;
  Slot slot_of_tensor(const templates::Reference& reference, std::size_t index) const;
  Slot slot_of_type(const templates::Reference& reference, std::size_t index) const;
  void forget();

  const Binding& binding_;
  std::vector<Slot> slots_;  // indexed by Reference::id
  std::vector<std::int64_t> params_;
  mutable std::vector<Memo> lets_;
};

// Returns the largest power of two, at most 256, that divides the address; 256 for address 0, which means not known
// yet.
std::int64_t alignment_of_address(std::uint64_t address);

// Returns shape and strides of a tensor that the caller gave.
Layout layout_of(const Tensor& tensor);

}  // namespace tma_jit::plan
