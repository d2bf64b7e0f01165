#include "plan/value_range.h"

#include <algorithm>

#include "core/integer_range.h"
#include "plan/fault.h"

namespace tma_jit::plan {
namespace {

// Returns whether there are valid values for all elements of a row.
bool suffices(const ValueRange& range, const Layout& layout) {
  if (layout.empty()) return true;
  if (range.least > range.most) return false;
  const std::uint64_t more = static_cast<std::uint64_t>(range.most) - static_cast<std::uint64_t>(range.least);
  return !range.distinct || static_cast<std::uint64_t>(layout.shape.back()) - 1 <= more;
}

}  // namespace

Result<std::optional<ValueRange>> range_of(const Values& values, const templates::Tensor& declared,
                                           const Layout& layout) {
  if (!declared.range.has_value()) return std::nullopt;
  const templates::ValidRange& written = *declared.range;
  TMA_JIT_ASSIGN(const std::int64_t least, written.least.evaluate(values));
  TMA_JIT_ASSIGN(const std::int64_t most, written.most.evaluate(values));
  const DType type = values.binding().type_of(declared.type);
  ValueRange range{std::max(least, least_of(type)), std::min(most, most_of(type)), written.rising, written.checked};
  if (written.distinct) {
    TMA_JIT_ASSIGN(const std::int64_t distinct, written.distinct->evaluate(values));
    range.distinct = distinct != 0;
  }
  if (range.checked || suffices(range, layout)) return range;
  const auto bound = [&](const templates::Expression& expression) {
    const std::string names = expression.values(values);
    return names.empty() ? std::string() : "; " + names;
  };
  const std::string few =
      range.least > range.most
          ? "elements, but no value is valid"
          : fmt::format("{} distinct elements in a row, but fewer values are valid", layout.shape.back());
  return fault(*values.binding().kernel, ErrorCode::invalid_argument, "tensor {} has {}: {}..{} is {}..{}{}{}",
               declared.name, few, written.least.text(), written.most.text(), least, most, bound(written.least),
               bound(written.most));
}

}  // namespace tma_jit::plan
