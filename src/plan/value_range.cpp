#include "plan/value_range.h"

#include <algorithm>

#include "core/integer_range.h"
#include "plan/fault.h"

namespace tma_jit::plan {

Result<std::optional<ValueRange>> range_of(const Values& values, const templates::Tensor& declared,
                                           const Layout& layout) {
  if (!declared.range.has_value()) return std::nullopt;
  const templates::ValidRange& written = *declared.range;
  TMA_JIT_ASSIGN(const std::int64_t least, written.least.evaluate(values));
  TMA_JIT_ASSIGN(const std::int64_t most, written.most.evaluate(values));
  const DType type = values.binding().type_of(declared.type);
  const ValueRange range{std::max(least, least_of(type)), std::min(most, most_of(type)), written.rising,
                         written.checked};
  if (range.least <= range.most || range.checked || layout.empty()) return range;
  const auto bound = [&](const templates::Expression& expression) {
    const std::string names = expression.values(values);
    return names.empty() ? std::string() : "; " + names;
  };
  return fault(*values.binding().kernel, ErrorCode::invalid_argument,
               "tensor {} has elements, but no value is valid: {}..{} is {}..{}{}{}", declared.name,
               written.least.text(), written.most.text(), least, most, bound(written.least), bound(written.most));
}

}  // namespace tma_jit::plan
