// The declarations of template files for C. The arrays that the structs point to are built once, with the list of
// kernels.
#include <tma_jit/c_kernels.h>

#include "c_api/c_handles.h"
#include "core/failure.h"

namespace {

using namespace tma_jit::c_api;
using tma_jit::Error;
using tma_jit::ErrorCode;
using tma_jit::KernelInfo;
using tma_jit::Result;

using Texts = std::vector<const char*>;

Texts texts_of(const std::vector<KernelInfo::Formula>& formulas) {
  Texts texts;
  for (const KernelInfo::Formula& formula : formulas) texts.push_back(formula.text.c_str());
  return texts;
}

const char* text_of(const std::optional<KernelInfo::Formula>& formula) {
  return formula ? formula->text.c_str() : nullptr;
}

const char* list_of(const KernelInfo::Declaration& declared) {
  return declared.list.empty() ? nullptr : declared.list.c_str();
}

struct TensorTexts {
  Texts shape, box;
};
struct HookTexts {
  Texts types, names, whens;
};
struct PresetValues {
  Texts params;
  std::vector<int64_t> values;
};

TensorTexts arrays_of(const KernelInfo::Tensor& tensor) {
  return {texts_of(tensor.shape), texts_of(tensor.box)};
}
HookTexts arrays_of(const KernelInfo::Hook& hook) {
  HookTexts texts;
  for (const KernelInfo::Hook::Parameter& parameter : hook.parameters) {
    texts.types.push_back(parameter.type.c_str());
    texts.names.push_back(parameter.name.c_str());
    texts.whens.push_back(text_of(parameter.when));
  }
  return texts;
}
PresetValues arrays_of(const KernelInfo::Preset& preset) {
  PresetValues arrays;
  for (const auto& [param, value] : preset.settings) {
    arrays.params.push_back(param.c_str());
    arrays.values.push_back(value);
  }
  return arrays;
}
std::vector<tma_jit_dtype> arrays_of(const KernelInfo::Type& type) {
  std::vector<tma_jit_dtype> choices;
  for (const tma_jit::DType choice : type.choices) choices.push_back(static_cast<tma_jit_dtype>(choice));
  return choices;
}

template <class Item> auto all_arrays_of(const std::vector<Item>& items) {
  std::vector<decltype(arrays_of(std::declval<Item>()))> arrays;
  arrays.reserve(items.size());
  for (const Item& item : items) arrays.push_back(arrays_of(item));
  return arrays;
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): as c_kernels.h names it
struct tma_jit_kernel {
  explicit tma_jit_kernel(KernelInfo declared)
      : info(std::move(declared)),
        types(all_arrays_of(info.types)),
        tensors(all_arrays_of(info.tensors)),
        hooks(all_arrays_of(info.hooks)),
        presets(all_arrays_of(info.presets)) {}
  tma_jit_kernel(const tma_jit_kernel&) = delete;  // the arrays point into `info`

  const KernelInfo info;
  const std::vector<std::vector<tma_jit_dtype>> types;
  const std::vector<TensorTexts> tensors;
  const std::vector<HookTexts> hooks;
  const std::vector<PresetValues> presets;
};

// NOLINTNEXTLINE(readability-identifier-naming): as c_kernels.h names it
struct tma_jit_kernels {
  std::vector<std::unique_ptr<tma_jit_kernel>> kernels;
};

namespace {

using Kernels = std::vector<std::unique_ptr<tma_jit_kernel>>;

Result<Kernels> kernels_of(tma_jit_engine& engine, const char* kernel) {
  Kernels kernels;
  const std::optional<std::string_view> name =
      kernel != nullptr ? std::optional<std::string_view>(kernel) : std::nullopt;
  for (Result<KernelInfo>& info : engine.engine.kernels(name)) {
    if (!info) continue;
    kernels.push_back(std::make_unique<tma_jit_kernel>(std::move(*info)));
  }
  if (kernel != nullptr && kernels.empty())
    return tl::make_unexpected(Error{ErrorCode::not_found, "no kernel is named \"" + std::string(kernel) + "\"", {}});
  return kernels;
}

// Returns the declaration at `index` among those of one kind; `shown` makes its struct.
template <class Info, class Item, class Shown>
tma_jit_status show(const tma_jit_kernel* kernel, std::vector<Item> KernelInfo::*items,
                    std::pair<size_t, const char*> which, std::pair<Info*, tma_jit_error**> to, Shown&& shown) {
  const size_t index = which.first;
  const char* const type = which.second;
  return guarded(type, to.second, {{"kernel", kernel}, {"out", to.first}}, [&]() -> Result<void> {
    const auto& list = kernel->info.*items;
    if (index >= list.size()) {
      return tma_jit::failure(ErrorCode::not_found, "{}: {} has {}, and no {}", type, kernel->info.kernel, list.size(),
                              index);
    }
    Info info{};
    shown(info, list[index]);
    info.doc = list[index].doc.c_str();
    return write_struct(info, to.first, type);
  });
}

}  // namespace

tma_jit_status tma_jit_kernels_create(tma_jit_engine* engine, const char* kernel, tma_jit_kernels** out,
                                      tma_jit_error** error) {
  return making(__func__, error, {{"engine", engine}}, out,
                handle_of<tma_jit_kernels>([&] { return kernels_of(*engine, kernel); }));
}

void tma_jit_kernels_free(tma_jit_kernels* kernels) {
  delete kernels;
}

size_t tma_jit_kernels_count(const tma_jit_kernels* kernels) {
  return kernels != nullptr ? kernels->kernels.size() : 0;
}

const tma_jit_kernel* tma_jit_kernels_at(const tma_jit_kernels* kernels, size_t index) {
  return index < tma_jit_kernels_count(kernels) ? kernels->kernels[index].get() : nullptr;
}

const char* tma_jit_kernel_name(const tma_jit_kernel* kernel) {
  return kernel != nullptr ? kernel->info.kernel.c_str() : nullptr;
}
const char* tma_jit_kernel_file(const tma_jit_kernel* kernel) {
  return kernel != nullptr ? kernel->info.file.c_str() : nullptr;
}
const char* tma_jit_kernel_doc(const tma_jit_kernel* kernel) {
  return kernel != nullptr ? kernel->info.doc.c_str() : nullptr;
}
int32_t tma_jit_kernel_is_probe(const tma_jit_kernel* kernel) {
  return kernel != nullptr && kernel->info.probe ? 1 : 0;
}
int32_t tma_jit_kernel_has_reference(const tma_jit_kernel* kernel) {
  return kernel != nullptr && kernel->info.reference ? 1 : 0;
}
int64_t tma_jit_kernel_preference(const tma_jit_kernel* kernel) {
  return kernel != nullptr ? kernel->info.preference : 0;
}
const char* tma_jit_kernel_arch(const tma_jit_kernel* kernel, size_t index) {
  return kernel != nullptr && index < kernel->info.archs.size() ? kernel->info.archs[index].c_str() : nullptr;
}

size_t tma_jit_kernel_count(const tma_jit_kernel* kernel, tma_jit_part part) {
  if (kernel == nullptr) return 0;
  switch (part) {
    case TMA_JIT_PART_TYPES: return kernel->info.types.size();
    case TMA_JIT_PART_DIMS: return kernel->info.dims.size();
    case TMA_JIT_PART_PARAMS: return kernel->info.params.size();
    case TMA_JIT_PART_TENSORS: return kernel->info.tensors.size();
    case TMA_JIT_PART_SCALARS: return kernel->info.scalars.size();
    case TMA_JIT_PART_HOOKS: return kernel->info.hooks.size();
    case TMA_JIT_PART_PRESETS: return kernel->info.presets.size();
    case TMA_JIT_PART_LETS: return kernel->info.lets.size();
    case TMA_JIT_PART_RULES: return kernel->info.rules.size();
    case TMA_JIT_PART_WORKSPACES: return kernel->info.workspaces.size();
    default: return 0;
  }
}

tma_jit_status tma_jit_kernel_type(const tma_jit_kernel* kernel, size_t index, tma_jit_type_info* out,
                                   tma_jit_error** error) {
  return show(kernel, &KernelInfo::types, {index, "tma_jit_type_info"}, std::pair(out, error),
              [&](tma_jit_type_info& info, const KernelInfo::Type& type) {
                info.name = type.name.c_str();
                info.default_type = static_cast<tma_jit_dtype>(type.default_type);
                info.choices = kernel->types[index].data();
                info.choice_count = kernel->types[index].size();
              });
}

tma_jit_status tma_jit_kernel_dim(const tma_jit_kernel* kernel, size_t index, tma_jit_dim_info* out,
                                  tma_jit_error** error) {
  return show(kernel, &KernelInfo::dims, {index, "tma_jit_dim_info"}, std::pair(out, error),
              [&](tma_jit_dim_info& info, const KernelInfo::Dim& dim) {
                info.name = dim.name.c_str();
                info.least = dim.least;
                info.most = dim.most;
                info.value = dim.value.value_or(0);
                info.is_fixed = dim.value ? 1 : 0;
                info.is_wide = dim.wide ? 1 : 0;
                info.list = list_of(dim);
                info.when = text_of(dim.when);
              });
}

tma_jit_status tma_jit_kernel_param(const tma_jit_kernel* kernel, size_t index, tma_jit_param_info* out,
                                    tma_jit_error** error) {
  return show(kernel, &KernelInfo::params, {index, "tma_jit_param_info"}, std::pair(out, error),
              [&](tma_jit_param_info& info, const KernelInfo::Param& param) {
                info.name = param.name.c_str();
                info.default_value = param.default_value;
                info.values = param.values.data();
                info.value_count = param.values.size();
                info.asked = param.asked ? 1 : 0;
              });
}

tma_jit_status tma_jit_kernel_tensor(const tma_jit_kernel* kernel, size_t index, tma_jit_tensor_info* out,
                                     tma_jit_error** error) {
  return show(kernel, &KernelInfo::tensors, {index, "tma_jit_tensor_info"}, std::pair(out, error),
              [&](tma_jit_tensor_info& info, const KernelInfo::Tensor& tensor) {
                const TensorTexts& texts = kernel->tensors[index];
                info.name = tensor.name.c_str();
                info.type = tensor.type.c_str();
                info.shape = texts.shape.data();
                info.rank = texts.shape.size();
                info.box = texts.box.data();
                info.box_rank = texts.box.size();
                info.when = text_of(tensor.when);
                info.is_output = tensor.output ? 1 : 0;
                info.list = list_of(tensor);
                if (!tensor.range) return;
                info.least = tensor.range->least.text.c_str();
                info.most = tensor.range->most.text.c_str();
                info.is_rising = tensor.range->rising ? 1 : 0;
                info.is_checked = tensor.range->checked ? 1 : 0;
                info.distinct = text_of(tensor.range->distinct);
              });
}

tma_jit_status tma_jit_kernel_scalar(const tma_jit_kernel* kernel, size_t index, tma_jit_scalar_info* out,
                                     tma_jit_error** error) {
  return show(kernel, &KernelInfo::scalars, {index, "tma_jit_scalar_info"}, std::pair(out, error),
              [&](tma_jit_scalar_info& info, const KernelInfo::Scalar& scalar) {
                info.name = scalar.name.c_str();
                info.type = scalar.type.c_str();
                info.has_default = scalar.default_value ? 1 : 0;
                if (!scalar.default_value) return;
                info.default_value =
                    std::visit([](auto value) { return static_cast<double>(value); }, *scalar.default_value);
              });
}

tma_jit_status tma_jit_kernel_hook(const tma_jit_kernel* kernel, size_t index, tma_jit_hook_info* out,
                                   tma_jit_error** error) {
  return show(kernel, &KernelInfo::hooks, {index, "tma_jit_hook_info"}, std::pair(out, error),
              [&](tma_jit_hook_info& info, const KernelInfo::Hook& hook) {
                const HookTexts& texts = kernel->hooks[index];
                info.name = hook.name.c_str();
                info.result = hook.result.c_str();
                info.default_text = hook.default_text ? hook.default_text->c_str() : nullptr;
                info.parameter_types = texts.types.data();
                info.parameter_names = texts.names.data();
                info.parameter_whens = texts.whens.data();
                info.parameter_count = texts.names.size();
              });
}

tma_jit_status tma_jit_kernel_preset(const tma_jit_kernel* kernel, size_t index, tma_jit_preset_info* out,
                                     tma_jit_error** error) {
  return show(kernel, &KernelInfo::presets, {index, "tma_jit_preset_info"}, std::pair(out, error),
              [&](tma_jit_preset_info& info, const KernelInfo::Preset& preset) {
                const PresetValues& arrays = kernel->presets[index];
                info.params = arrays.params.data();
                info.values = arrays.values.data();
                info.param_count = arrays.params.size();
                info.when = text_of(preset.when);
              });
}

tma_jit_status tma_jit_kernel_let(const tma_jit_kernel* kernel, size_t index, tma_jit_let_info* out,
                                  tma_jit_error** error) {
  return show(kernel, &KernelInfo::lets, {index, "tma_jit_let_info"}, std::pair(out, error),
              [](tma_jit_let_info& info, const KernelInfo::Let& let) {
                info.name = let.name.c_str();
                info.value = let.value.text.c_str();
                info.list = list_of(let);
              });
}

tma_jit_status tma_jit_kernel_rule(const tma_jit_kernel* kernel, size_t index, tma_jit_rule_info* out,
                                   tma_jit_error** error) {
  return show(kernel, &KernelInfo::rules, {index, "tma_jit_rule_info"}, std::pair(out, error),
              [](tma_jit_rule_info& info, const KernelInfo::Rule& rule) {
                info.condition = rule.condition.text.c_str();
                info.list = list_of(rule);
              });
}

tma_jit_status tma_jit_kernel_workspace(const tma_jit_kernel* kernel, size_t index, tma_jit_workspace_info* out,
                                        tma_jit_error** error) {
  return show(kernel, &KernelInfo::workspaces, {index, "tma_jit_workspace_info"}, std::pair(out, error),
              [](tma_jit_workspace_info& info, const KernelInfo::Workspace& workspace) {
                info.name = workspace.name.c_str();
                info.bytes = workspace.bytes.text.c_str();
                info.is_zeroed = workspace.zeroed ? 1 : 0;
              });
}
