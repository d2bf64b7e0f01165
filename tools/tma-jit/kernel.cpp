#include "kernel.h"

#include <algorithm>
#include <filesystem>

#include "text.h"

namespace tma_jit::cli {
namespace {

bool is_template_path(const std::string& word) {
  return word.ends_with(".cu");
}

// The text after the word `when`, if it stands by itself.
std::optional<std::string_view> after_when(std::string_view text) {
  for (std::size_t at = text.find("when"); at != std::string_view::npos; at = text.find("when", at + 1)) {
    const bool begins = at == 0 || text[at - 1] == ' ' || text[at - 1] == '\t' || text[at - 1] == ']';
    const std::string_view rest = text.substr(at + 4);
    if (begins && (rest.empty() || rest.front() == ' ' || rest.front() == '(' || rest.front() == '\t')) return rest;
  }
  return std::nullopt;
}

// name(parameters) rest
struct HookDeclaration {
  std::vector<std::string> parameters;
  std::string_view rest;
};
HookDeclaration read_hook(std::string_view declaration) {
  const std::size_t open = std::min(declaration.find('('), declaration.size());
  int depth = 0;
  std::size_t close = open;
  for (; close < declaration.size(); ++close) {
    depth += declaration[close] == '(' ? 1 : declaration[close] == ')' ? -1 : 0;
    if (depth == 0) break;
  }
  if (close >= declaration.size()) return {};
  return {split_commas(declaration.substr(open + 1, close - open - 1)), declaration.substr(close + 1)};
}

tl::unexpected<Failure> unknown_kernel(const std::string& word, const std::vector<Result<KernelInfo>>& all) {
  std::vector<std::string> names, kernels;  // a probe may be meant, but they are too many to name all
  std::string faults;
  for (const Result<KernelInfo>& info : all) {
    if (!info) {
      faults += info.error().text() + "\n";
    } else if (std::find(names.begin(), names.end(), info->kernel) == names.end()) {
      names.push_back(info->kernel);
      if (!info->probe) kernels.push_back(info->kernel);
    }
  }
  auto failure =
      usage("no kernel is named \"{}\"; known are {}{}", word, fmt::join(kernels, ", "), suggestion(word, names));
  failure.value().error.code = ErrorCode::not_found;
  failure.value().error.detail = faults;
  return failure;
}

Outcome<Kernel> only_file(Kernel kernel, const std::string& stem) {
  if (stem.empty()) return kernel;
  std::vector<std::string> stems;
  for (const KernelInfo& info : kernel.files) stems.push_back(stem_of(info.file));
  std::erase_if(kernel.files, [&](const KernelInfo& info) { return stem_of(info.file) != stem; });
  if (kernel.files.empty()) {
    return usage("--template-file \"{}\": no file of {} is named so; its files are {}{}", stem, kernel.name,
                 fmt::join(stems, ", "), suggestion(stem, stems));
  }
  return kernel;
}

// The kernel of a file just added: found again by the file's stem among those that are not embedded.
Outcome<Kernel> kernel_of_file(Engine& engine, const std::string& path) {
  CLI_CHECK(engine.add_template_file(path));
  Kernel kernel;
  for (Result<KernelInfo>& info : engine.kernels()) {
    if (!info || info->embedded || stem_of(info->file) != stem_of(path)) continue;
    kernel.name = info->kernel;
    kernel.files = {std::move(*info)};
  }
  if (kernel.files.empty()) return failed(ErrorCode::not_found, "{}: no kernel was found in it", path);
  return kernel;
}

}  // namespace

std::vector<std::string> Kernel::names(Items items) const {
  std::vector<std::string> found;
  for (const KernelInfo& info : files) {
    for (const KernelInfo::Item& item : info.*items)
      if (std::find(found.begin(), found.end(), item.name) == found.end()) found.push_back(item.name);
  }
  return found;
}

bool Kernel::declares(Items items, std::string_view wanted) const {
  const std::vector<std::string> all = names(items);
  return std::find(all.begin(), all.end(), wanted) != all.end();
}

std::vector<std::string> Kernel::declarations(Items items, std::string_view wanted) const {
  std::vector<std::string> found;
  for (const KernelInfo& info : files) {
    for (const KernelInfo::Item& item : info.*items)
      if (item.name == wanted) found.push_back(item.declaration);
  }
  return found;
}

std::string stem_of(const std::string& file) {
  return std::filesystem::path(file).stem().string();
}

Outcome<Kernel> find_kernel(Engine& engine, const std::string& word, const std::string& stem) {
  if (is_template_path(word)) {
    CLI_ASSIGN(Kernel from_file, kernel_of_file(engine, word));
    return only_file(std::move(from_file), stem);
  }
  std::vector<Result<KernelInfo>> all = engine.kernels();
  Kernel kernel{word, {}};
  for (Result<KernelInfo>& info : all)
    if (info && info->kernel == word) kernel.files.push_back(*info);
  if (kernel.files.empty()) return unknown_kernel(word, all);
  return only_file(std::move(kernel), stem);
}

std::optional<TensorDeclaration> read_tensor(std::string_view declaration) {
  const std::size_t colon = declaration.find(':');
  const std::size_t open = declaration.find('[');
  if (colon == std::string_view::npos || open == std::string_view::npos || open < colon) return std::nullopt;
  int depth = 0;
  for (std::size_t i = open; i < declaration.size(); ++i) {
    depth += declaration[i] == '[' ? 1 : declaration[i] == ']' ? -1 : 0;
    if (depth > 0) continue;
    return TensorDeclaration{std::string(trimmed(declaration.substr(colon + 1, open - colon - 1))),
                             split_commas(declaration.substr(open + 1, i - open - 1))};
  }
  return std::nullopt;
}

std::vector<std::string> names_in_tensor_when(std::string_view declaration) {
  const auto condition = after_when(declaration);
  return condition ? identifiers_in(*condition) : std::vector<std::string>();
}

std::map<std::string, std::vector<std::string>> names_in_hook_whens(std::string_view declaration) {
  std::map<std::string, std::vector<std::string>> whens;
  const HookDeclaration hook = read_hook(declaration);
  for (const std::string& parameter : hook.parameters) {
    const std::vector<std::string> words = identifiers_in(parameter);
    const auto condition = after_when(parameter);
    if (condition && words.size() >= 2) whens[words[1]] = identifiers_in(*condition);
  }
  return whens;
}

std::map<std::string, std::string> placeholder_hooks(const Kernel& kernel) {
  std::map<std::string, std::string> texts;
  for (const KernelInfo& info : kernel.files) {
    for (const KernelInfo::Item& item : info.hooks) {
      const HookDeclaration hook = read_hook(item.declaration);
      if (hook.rest.find('=') != std::string_view::npos) continue;
      const std::vector<std::string> words = identifiers_in(hook.parameters.empty() ? "" : hook.parameters.front());
      texts[item.name] = words.size() < 2 ? "0" : words[1];
    }
  }
  return texts;
}

}  // namespace tma_jit::cli
