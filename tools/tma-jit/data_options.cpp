#include "data_options.h"

#include <algorithm>

#include "text.h"

namespace tma_jit::cli {
namespace {

Outcome<InputFile> read_input(const std::string& path) {
  InputFile file;
  file.path = path;
  file.raw = !path.ends_with(".npy");
  if (file.raw) {
    CLI_ASSIGN(file.array.bytes, read_bytes(path));
  } else {
    CLI_ASSIGN(file.array, read_npy(path));
  }
  return file;
}

// Returns whether each input file has the rank of its tensor. A raw file fits any tensor, and the extents of an operand
// are unknown.
bool fits(const KernelInfo& info, const DataChoices& choices) {
  return std::all_of(choices.inputs.begin(), choices.inputs.end(), [&](const auto& input) {
    const InputFile& file = input.second;
    return file.raw || std::any_of(info.tensors.begin(), info.tensors.end(), [&](const KernelInfo::Tensor& tensor) {
             return tensor.name == input.first &&
                    (tensor.shape.empty() || tensor.shape.size() == file.array.shape.size());
           });
  });
}

template <class Item> bool declares(const std::vector<Item>& items, const std::string& name) {
  return std::any_of(items.begin(), items.end(), [&](const Item& item) { return item.name == name; });
}

Outcome<void> infer_dims(const KernelInfo& info, const KernelInfo::Tensor& declared, const InputFile& file,
                         Request& request) {
  for (std::size_t i = 0; i < declared.shape.size(); ++i) {
    const std::string& dim = declared.shape[i].text;
    if (!declares(info.dims, dim)) continue;
    const auto [known, fresh] = request.dims.emplace(dim, file.array.shape[i]);
    if (!fresh && known->second != file.array.shape[i]) {
      return usage("{}: its shape {} makes {} = {}, but {} is {} elsewhere", file.path, bracketed(file.array.shape),
                   dim, file.array.shape[i], dim, known->second);
    }
  }
  return {};
}

void infer_type(const KernelInfo& info, const KernelInfo::Tensor& declared, const InputFile& file, Request& request) {
  const bool ambiguous = file.array.opaque || file.array.dtype == DType::u16 || file.array.dtype == DType::u8;
  if (ambiguous || !declares(info.types, declared.type)) return;
  request.types.emplace(declared.type, file.array.dtype);
}

}  // namespace

void add_data_options(Verb verb, DataWords& words) {
  add_placement_options(verb, words.placement);
  verb.option("--data", words.kind, "random data: normal, or integers whose sums are exact");
  verb.option("--seed", words.seed, "of the random data (0)");
}

void add_file_options(Verb verb, DataWords& words) {
  verb.repeated("--in", words.inputs, "NAME=FILE.npy, or a raw file: what a tensor holds; may be repeated");
  verb.repeated("--out", words.outputs, "NAME=FILE.npy, or a raw file: where an output goes; may be repeated");
}

Outcome<DataChoices> read_data_options(const Kernel& kernel, const DataWords& words) {
  DataChoices choices;
  if (words.kind != "normal" && words.kind != "integers")
    return usage("--data \"{}\": expected normal or integers", words.kind);
  choices.recipe = {words.kind == "normal" ? DataKind::normal : DataKind::integers, words.seed};
  for (const std::string& word : words.inputs) {
    CLI_ASSIGN(const Pair pair, tensor_word(kernel, "--in", word));
    CLI_CHECK(check_once(choices.inputs, "--in", pair.name));
    CLI_ASSIGN(choices.inputs[pair.name], read_input(pair.value));
  }
  for (const std::string& word : words.outputs) {
    CLI_ASSIGN(const Pair pair, tensor_word(kernel, "--out", word));
    CLI_CHECK(check_once(choices.outputs, "--out", pair.name));
    choices.outputs[pair.name] = pair.value;
  }
  CLI_ASSIGN(choices.placement, read_placement(kernel, words.placement));
  return choices;
}

Outcome<void> infer_from_inputs(const Kernel& kernel, const DataChoices& choices, Request& request) {
  const auto info = std::find_if(kernel.files.begin(), kernel.files.end(),
                                 [&](const KernelInfo& file) { return fits(file, choices); });
  for (const auto& [name, file] : choices.inputs) {
    request.present.push_back(name);
    if (file.raw || info == kernel.files.end()) continue;  // the comparison with the plan reports the fault
    for (const KernelInfo::Tensor& tensor : info->tensors) {
      if (tensor.name != name) continue;
      CLI_CHECK(infer_dims(*info, tensor, file, request));
      infer_type(*info, tensor, file, request);
    }
  }
  return {};
}

}  // namespace tma_jit::cli
