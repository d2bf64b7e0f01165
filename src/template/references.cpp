#include "template/references.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "core/failure.h"
#include "device/fact_names.h"

namespace tma_jit::templates {

// Nothing is wrong with a reference that the template has already.
Result<void> ReferenceTable::resolve(Expression& expression) {
  for (Reference& reference : expression.references_) {
    reference.id = id_of(reference);
    if (reference.id >= 0) continue;
    if (const Problem found = problem(reference); !found.text.empty()) {
      Error error = error_at(template_.source_of(reference.at), reference.at, found.text);
      if (found.unknown) error.reason = ErrorReason::unknown_name;
      error.suggestion = found.suggestion;
      return tl::make_unexpected(std::move(error));
    }
    reference.id = static_cast<int>(template_.references.size());
    template_.references.push_back(reference);
    template_.references.back().declaration = declaration_of(template_, reference);
  }
  return {};
}

int ReferenceTable::id_of(const Reference& reference) const {
  const auto& all = template_.references;
  const auto found = std::ranges::find_if(all, [&](const Reference& other) {
    return other.kind == reference.kind && other.name == reference.name && other.dimension == reference.dimension;
  });
  return found != all.end() ? static_cast<int>(found - all.begin()) : -1;
}

ReferenceTable::Problem ReferenceTable::problem(const Reference& reference) const {
  switch (reference.kind) {
    case Reference::Kind::name: return name_problem(reference.name);
    case Reference::Kind::list: return {fmt::format("{} is not a list", reference.name)};
    case Reference::Kind::type_size: return type_problem("sizeof", reference.name);
    case Reference::Kind::integer: return type_problem("integer", reference.name);
    case Reference::Kind::dtype: return type_problem("dtype", reference.name);
    case Reference::Kind::device: {
      if (device::is_device_fact(reference.name)) return {};
      const std::vector<std::string> facts = device::device_fact_names();
      return {fmt::format("a device has no {}", reference.name), true, nearest_name(reference.name, facts)};
    }
    case Reference::Kind::stride:
    case Reference::Kind::alignment: return tensor_problem(reference);
    case Reference::Kind::given: return hook_problem(reference.name);
  }
  return {};
}

ReferenceTable::Problem ReferenceTable::name_problem(const std::string& name) const {
  if (name.ends_with("[]")) {
    return {fmt::format("{} is one entry of a list only in the declaration of another entry, or in a rule", name)};
  }
  const auto found = names_.find(name);
  if (found == names_.end()) {
    if (device::is_device_fact(name)) return {fmt::format("unknown name {}", name), true, "device." + name};
    const auto known = names_of(names_, {NameKind::param, NameKind::dim, NameKind::let});
    return {fmt::format("unknown name {}", name), true, nearest_name(name, known)};
  }
  switch (found->second.kind) {
    case NameKind::param:
    case NameKind::dim:
    case NameKind::let: return {};
    case NameKind::type:
      return {fmt::format("{} is a type, not a number; sizeof({}) is its size in bytes", name, name)};
    case NameKind::tensor:
      return {fmt::format("{} is a tensor, not a number; stride({}, 0) and alignment({}) are known of it", name, name,
                          name)};
    case NameKind::scalar:
      return {fmt::format("{} is a scalar, and its value is not known when a configuration is chosen", name)};
    case NameKind::list:
      return {fmt::format("{} is a list, not a number; sum({}) is that of its entries, and {}[] one of them", name,
                          name, name)};
    default: return {fmt::format("{} is {}, not a number", name, described(found->second.kind))};
  }
}

ReferenceTable::Problem ReferenceTable::type_problem(std::string_view function, const std::string& name) const {
  const auto found = names_.find(name);
  if (found != names_.end() && found->second.kind == NameKind::type) return {};
  if (found != names_.end())
    return {fmt::format("{} takes a type, and {} is {}", function, name, described(found->second.kind))};
  std::vector<std::string> known = names_of(names_, {NameKind::type});
  for (std::string& type : dtype_names()) known.push_back(std::move(type));
  return {fmt::format("unknown type {}", name), true, nearest_name(name, known)};
}

ReferenceTable::Problem ReferenceTable::hook_problem(const std::string& name) const {
  const auto found = names_.find(name);
  if (found != names_.end() && found->second.kind == NameKind::hook) return {};
  if (found != names_.end())
    return {fmt::format("given takes a hook, and {} is {}", name, described(found->second.kind))};
  return {fmt::format("unknown hook {}", name), true, nearest_name(name, names_of(names_, {NameKind::hook}))};
}

ReferenceTable::Problem ReferenceTable::tensor_problem(const Reference& reference) const {
  const std::string_view function = reference.kind == Reference::Kind::stride ? "stride" : "alignment";
  if (reference.name.ends_with("[]")) return name_problem(reference.name);
  const Tensor* tensor = template_.find_tensor(reference.name);
  if (tensor == nullptr) {
    const auto found = names_.find(reference.name);
    if (found != names_.end()) {
      return {fmt::format("{} takes a tensor, and {} is {}", function, reference.name, described(found->second.kind))};
    }
    return {fmt::format("unknown tensor {}", reference.name), true,
            nearest_name(reference.name, names_of(names_, {NameKind::tensor}))};
  }
  const int rank = static_cast<int>(tensor->shape.size());
  if (reference.kind == Reference::Kind::stride && reference.dimension >= rank) {
    return {
        fmt::format("{} has no dimension {}: it has {}, counted from 0", reference.name, reference.dimension, rank)};
  }
  return {};
}

}  // namespace tma_jit::templates
