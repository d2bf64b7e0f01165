#include "kernel.h"

#include <filesystem>

#include "text.h"

namespace tma_jit::cli {
namespace {

bool is_template_path(const std::string& word) {
  return word.ends_with(".cu");
}

tl::unexpected<Failure> unknown_kernel(const std::string& word, const std::vector<Result<KernelInfo>>& all) {
  std::vector<std::string> names, kernels;  // a probe may be suggested, but there are too many to list
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
      unknown_name(usage("no kernel is named \"{}\"; known are {}", word, fmt::join(kernels, ", ")), word, names);
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
    return unknown_name(usage("--template-file \"{}\": no file of {} is named so; its files are {}", stem, kernel.name,
                              fmt::join(stems, ", ")),
                        stem, stems);
  }
  return kernel;
}

// Returns the kernel of a file just added, found by the file's stem among those that are not embedded.
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

std::string stem_of(const std::string& file) {
  return std::filesystem::path(file).stem().string();
}

Outcome<Kernel> find_kernel(Engine& engine, const std::string& word, const std::string& stem) {
  if (is_template_path(word)) {
    CLI_ASSIGN(Kernel from_file, kernel_of_file(engine, word));
    return only_file(std::move(from_file), stem);
  }
  Kernel kernel{word, {}};
  for (Result<KernelInfo>& info : engine.kernels(word)) {
    if (info && info->kernel == word) kernel.files.push_back(std::move(*info));
  }
  if (kernel.files.empty()) return unknown_kernel(word, engine.kernels());
  return only_file(std::move(kernel), stem);
}

}  // namespace tma_jit::cli
