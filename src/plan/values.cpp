#include "plan/values.h"

#include <algorithm>
#include <bit>

#include "device/fact_names.h"
#include "plan/fault.h"

namespace tma_jit::plan {
namespace {

constexpr std::int64_t kAlignmentMax = 256;
constexpr std::int64_t kMapAlignment = 32;  // largest unit of a tensor map's strides, in bytes

constexpr std::int64_t kFreeStrideUnit = 2 * kMapAlignment;  // in elements; kMapAlignment bytes for the narrowest type

// Returns a stride that covers `extent` inner rows and is a multiple of the unit; the unit itself if that is not
// representable.
std::int64_t natural_stride(std::int64_t inner, std::int64_t extent, std::int64_t unit) {
  std::int64_t packed = 0;
  if (__builtin_mul_overflow(inner, std::max<std::int64_t>(extent, 1), &packed)) return unit;
  if (packed <= 0 || packed > INT64_MAX - unit) return unit;
  return (packed + unit - 1) / unit * unit;
}

// Returns the unit of a tensor map's strides, in elements.
std::int64_t pitch_unit(const templates::Tensor& declared, DType type) {
  const bool strict = declared.interleave.has_value() || (declared.as.has_value() && is_packed(*declared.as));
  const std::int64_t bytes = strict ? kMapAlignment : kMapAlignment / 2;
  return bytes / static_cast<std::int64_t>(size_of(type));
}

// A stride that reaches no element is arbitrary, so it gets a value that satisfies every rule: a multiple of
// kFreeStrideUnit elements, for whichever type a rule uses to compute bytes (in a reference, outputs are f64).
std::vector<std::int64_t> addressed_strides(const Layout& layout) {
  std::vector<std::int64_t> strides = layout.strides;
  const std::size_t last = strides.size() - 1;
  for (std::size_t i = strides.size(); i-- > 0;) {
    if (layout.shape[i] > 1 && !layout.empty()) continue;
    strides[i] = i == last ? 1 : natural_stride(strides[i + 1], layout.shape[i + 1], kFreeStrideUnit);
  }
  return strides;
}

}  // namespace

bool Layout::empty() const {
  return std::ranges::find(shape, 0) != shape.end();
}

std::int64_t alignment_of_address(std::uint64_t address) {
  if (address == 0) return kAlignmentMax;
  return std::min(kAlignmentMax, std::int64_t{1} << std::min(std::countr_zero(address), 62));
}

Layout layout_of(const Tensor& tensor) {
  Layout layout;
  layout.shape.assign(tensor.shape.begin(), tensor.shape.begin() + tensor.rank);
  layout.strides.assign(tensor.strides.begin(), tensor.strides.begin() + tensor.rank);
  layout.addressed = addressed_strides(layout);
  return layout;
}

Values::Values(const Binding& binding) : binding_(binding), lets_(binding.kernel->lets.size()) {
  params_.reserve(binding.kernel->params.size());
  for (const templates::Param& param : binding.kernel->params) params_.push_back(param.default_value);
  slots_.reserve(binding.kernel->references.size());
  for (const templates::Reference& reference : binding.kernel->references) {
    slots_.push_back(slot_of(reference, reference.declaration));
  }
}

void Values::forget() {
  for (Memo& memo : lets_) memo.state = Memo::State::unknown;
}

void Values::set_params(std::span<const std::int64_t> params) {
  params_.assign(params.begin(), params.end());
  forget();
}

void Values::set_alignment(std::string_view tensor, std::int64_t bytes) {
  const std::vector<templates::Reference>& references = binding_.kernel->references;
  for (std::size_t i = 0; i < references.size(); ++i) {
    if (references[i].kind == templates::Reference::Kind::alignment && references[i].name == tensor) {
      slots_[i] = {Slot::Kind::constant, bytes};
    }
  }
  forget();
}

Values::Slot Values::slot_of_tensor(const templates::Reference& reference, std::size_t index) const {
  const Tensor* given = binding_.tensors[index];
  if (reference.kind == templates::Reference::Kind::alignment) {
    return {Slot::Kind::constant, alignment_of_address(given != nullptr ? given->address : 0)};
  }
  if (given == nullptr) return {Slot::Kind::stride, static_cast<std::int64_t>(index)};
  return {Slot::Kind::constant, layout_of(*given).addressed[static_cast<std::size_t>(reference.dimension)]};
}

Values::Slot Values::slot_of_type(const templates::Reference& reference, std::size_t index) const {
  const DType chosen = binding_.types[index];
  if (reference.kind == templates::Reference::Kind::name) return {};
  return {Slot::Kind::constant, templates::value_of(reference.kind, chosen)};
}

Values::Slot Values::slot_of(const templates::Reference& reference,
                             const templates::DeclarationIndex& declaration) const {
  using List = templates::DeclarationIndex::List;
  switch (declaration.list) {
    case List::params: return {Slot::Kind::param, static_cast<std::int64_t>(declaration.index)};
    case List::lets: return {Slot::Kind::let, static_cast<std::int64_t>(declaration.index)};
    case List::dims: return {Slot::Kind::constant, binding_.dims[declaration.index]};
    case List::types: return slot_of_type(reference, declaration.index);
    case List::tensors: return slot_of_tensor(reference, declaration.index);
    case List::hooks: return {Slot::Kind::constant, binding_.gives(binding_.kernel->hooks[declaration.index]) ? 1 : 0};
    case List::none: break;
  }
  if (reference.kind != templates::Reference::Kind::device) return {};
  const auto fact = device::device_fact(*binding_.device, reference.name);
  return fact.has_value() ? Slot{Slot::Kind::constant, *fact} : Slot{};
}

Result<std::int64_t> Values::let(std::size_t index) const {
  Memo& memo = lets_[index];
  if (memo.state == Memo::State::known) return memo.value;
  const templates::Let& declared = binding_.kernel->lets[index];
  if (memo.state == Memo::State::running) {
    return fault(*binding_.kernel, ErrorCode::invalid_argument, "let {} needs its own value", declared.name);
  }
  memo.state = Memo::State::running;
  memo.value = declared.value.evaluate(*this);
  memo.state = Memo::State::known;
  return memo.value;
}

Result<std::int64_t> Values::value(const templates::Reference& reference) const {
  const auto id = static_cast<std::size_t>(reference.id);
  const Slot slot = reference.id >= 0 && id < slots_.size()
                        ? slots_[id]
                        : slot_of(reference, declaration_of(*binding_.kernel, reference));
  const auto index = static_cast<std::size_t>(slot.value);
  switch (slot.kind) {
    case Slot::Kind::constant: return slot.value;
    case Slot::Kind::param: return params_[index];
    case Slot::Kind::let: return let(index);
    case Slot::Kind::stride: {
      TMA_JIT_ASSIGN(const Layout made, layout(index));
      return made.addressed[static_cast<std::size_t>(reference.dimension)];
    }
    case Slot::Kind::missing: break;
  }
  return fault(*binding_.kernel, ErrorCode::invalid_argument, "{} has no value", reference.text());
}

const std::int64_t* Values::known(const templates::Reference& reference) const {
  const auto id = static_cast<std::size_t>(reference.id);
  if (reference.id < 0 || id >= slots_.size()) return nullptr;
  const Slot& slot = slots_[id];
  if (slot.kind == Slot::Kind::constant) return &slot.value;
  const auto index = static_cast<std::size_t>(slot.value);
  if (slot.kind == Slot::Kind::param) return &params_[index];
  if (slot.kind != Slot::Kind::let || lets_[index].state != Memo::State::known) return nullptr;
  const Result<std::int64_t>& let = lets_[index].value;
  return let ? &*let : nullptr;
}

Result<Layout> Values::layout(std::size_t index) const {
  if (binding_.tensors[index] != nullptr) return layout_of(*binding_.tensors[index]);
  const templates::Tensor& declared = binding_.kernel->tensors[index];
  Layout layout;
  for (const templates::Expression& entry : declared.shape) {
    TMA_JIT_ASSIGN(const std::int64_t extent, entry.evaluate(*this));
    if (extent < 0) {
      return fault(*binding_.kernel, ErrorCode::invalid_argument, "tensor {}: its extent {} is {}", declared.name,
                   entry.text(), extent);
    }
    layout.shape.push_back(extent);
  }
  // Rows are packed, but padded if a tensor map requires it, as a caller would allocate them.
  const std::int64_t unit = declared.box.has_value() ? pitch_unit(declared, binding_.element_of(declared)) : 1;
  layout.strides.assign(layout.shape.size(), 1);
  for (std::size_t i = layout.shape.size() - 1; i-- > 0;) {
    const std::int64_t inner = std::max<std::int64_t>(layout.shape[i + 1], 1);
    std::int64_t& stride = layout.strides[i];
    if (__builtin_mul_overflow(layout.strides[i + 1], inner, &stride) || stride > INT64_MAX - unit) {
      return fault(*binding_.kernel, ErrorCode::invalid_argument, "tensor {} [{}] has more than 2^63 elements",
                   declared.name, fmt::join(layout.shape, ", "));
    }
    stride = (stride + unit - 1) / unit * unit;
  }
  layout.addressed = addressed_strides(layout);
  return layout;
}

Result<bool> Values::wanted(const templates::Tensor& tensor) const {
  if (!tensor.when.has_value()) return true;
  TMA_JIT_ASSIGN(const std::int64_t value, tensor.when->evaluate(*this));
  return value != 0;
}

Result<bool> Values::present(std::size_t index) const {
  if (binding_.has_tensors) return binding_.tensors[index] != nullptr;
  return wanted(binding_.kernel->tensors[index]);
}

}  // namespace tma_jit::plan
