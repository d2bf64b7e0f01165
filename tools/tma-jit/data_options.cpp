#include "data_options.h"

#include <set>

#include "text.h"

namespace tma_jit::cli {
namespace {

Outcome<Pair> tensor_word(const Kernel& kernel, const char* option, const std::string& word) {
  CLI_ASSIGN(Pair pair, split_pair(word, option));
  if (kernel.declares(&KernelInfo::tensors, pair.name)) return pair;
  const std::vector<std::string> names = kernel.names(&KernelInfo::tensors);
  return usage("{} {}: {} has no tensor \"{}\"; it has {}{}", option, word, kernel.name, pair.name,
               fmt::join(names, ", "), suggestion(pair.name, names));
}

Outcome<std::map<std::string, std::int64_t>> element_counts(const Kernel& kernel, const char* option,
                                                            const std::vector<std::string>& words) {
  std::map<std::string, std::int64_t> counts;
  for (const std::string& word : words) {
    CLI_ASSIGN(const Pair pair, tensor_word(kernel, option, word));
    const auto count = integer_in(pair.value);
    if (!count || *count < 0) return usage("{} {}: \"{}\" is not a number of elements", option, word, pair.value);
    counts[pair.name] = *count;
  }
  return counts;
}

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

Outcome<void> infer_dims(const Kernel& kernel, const TensorDeclaration& declared, const InputFile& file,
                         Request& request) {
  if (declared.shape.size() != file.array.shape.size()) return {};  // the comparison with the plan says it
  for (std::size_t i = 0; i < declared.shape.size(); ++i) {
    const std::string& dim = declared.shape[i];
    if (!kernel.declares(&KernelInfo::dims, dim)) continue;
    const auto [known, fresh] = request.dims.emplace(dim, file.array.shape[i]);
    if (!fresh && known->second != file.array.shape[i]) {
      return usage("{}: its shape {} makes {} = {}, but {} is {} elsewhere", file.path, bracketed(file.array.shape),
                   dim, file.array.shape[i], dim, known->second);
    }
  }
  return {};
}

void infer_type(const Kernel& kernel, const TensorDeclaration& declared, const InputFile& file, Request& request) {
  const bool ambiguous = file.array.opaque || file.array.dtype == DType::u16 || file.array.dtype == DType::u8;
  if (ambiguous || !kernel.declares(&KernelInfo::types, declared.type)) return;
  request.types.emplace(declared.type, file.array.dtype);
}

}  // namespace

void add_data_options(CLI::App& verb, DataWords& words) {
  const auto repeated = [&](const char* name, std::vector<std::string>& values, const char* help) {
    verb.add_option(name, values, help)->allow_extra_args(false);
  };
  repeated("--pitch", words.pitches, "NAME=ELEMENTS from one row of a tensor to the next; may be repeated");
  repeated("--offset", words.offsets, "NAME=ELEMENTS between an aligned address and the tensor; may be repeated");
  verb.add_option("--data", words.kind, "random data: normal, or integers whose sums are exact");
  verb.add_option("--seed", words.seed, "of the random data (0)");
}

void add_file_options(CLI::App& verb, DataWords& words) {
  verb.add_option("--in", words.inputs, "NAME=FILE.npy, or a raw file: what a tensor holds; may be repeated")
      ->allow_extra_args(false);
  verb.add_option("--out", words.outputs, "NAME=FILE.npy, or a raw file: where an output goes; may be repeated")
      ->allow_extra_args(false);
}

Outcome<DataChoices> read_data_options(const Kernel& kernel, const DataWords& words) {
  DataChoices choices;
  if (words.kind != "normal" && words.kind != "integers")
    return usage("--data \"{}\": expected normal or integers", words.kind);
  choices.recipe = {words.kind == "normal" ? DataKind::normal : DataKind::integers, words.seed};
  for (const std::string& word : words.inputs) {
    CLI_ASSIGN(const Pair pair, tensor_word(kernel, "--in", word));
    CLI_ASSIGN(choices.inputs[pair.name], read_input(pair.value));
  }
  for (const std::string& word : words.outputs) {
    CLI_ASSIGN(const Pair pair, tensor_word(kernel, "--out", word));
    choices.outputs[pair.name] = pair.value;
  }
  CLI_ASSIGN(choices.pitches, element_counts(kernel, "--pitch", words.pitches));
  CLI_ASSIGN(choices.offsets, element_counts(kernel, "--offset", words.offsets));
  return choices;
}

Outcome<void> infer_from_inputs(const Kernel& kernel, const DataChoices& choices, Request& request) {
  for (const auto& [name, file] : choices.inputs) {
    if (file.raw) continue;
    const std::vector<std::string> declarations = kernel.declarations(&KernelInfo::tensors, name);
    const auto declared = declarations.empty() ? std::nullopt : read_tensor(declarations.front());
    if (!declared) continue;
    CLI_CHECK(infer_dims(kernel, *declared, file, request));
    infer_type(kernel, *declared, file, request);
  }
  return {};
}

}  // namespace tma_jit::cli
