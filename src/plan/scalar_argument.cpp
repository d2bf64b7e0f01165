#include "plan/scalar_argument.h"

#include "core/scalar_image.h"
#include "plan/fault.h"

namespace tma_jit::plan {

Result<Argument> scalar_argument(const Binding& binding, const templates::Scalar& declared) {
  const auto given = binding.request->scalars.find(declared.name);
  const bool is_given = given != binding.request->scalars.end();
  if (!is_given && !declared.default_value.has_value()) {
    return fault(*binding.kernel, ErrorCode::invalid_argument, "scalar {} has no default; give it a value",
                 declared.name);
  }
  Argument argument;
  argument.kind = Argument::Kind::scalar;
  argument.name = declared.name;
  argument.dtype = binding.type_of(declared.type);
  argument.alignment = size_of(argument.dtype);
  Result<std::vector<std::byte>> image =
      scalar_image(declared.name, argument.dtype, is_given ? given->second : *declared.default_value);
  if (!image) return fault(*binding.kernel, image.error().code, "{}", image.error().message);
  argument.image = std::move(*image);
  return argument;
}

}  // namespace tma_jit::plan
