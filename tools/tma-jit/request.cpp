#include "request.h"

#include "text.h"

namespace tma_jit::cli {
namespace {

void append(std::vector<std::string>& to, const std::vector<std::string>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

Outcome<void> set_type(Request& request, const Pair& pair) {
  const auto type = dtype_named(pair.value);
  if (!type) {
    return usage(
        "{}={}: \"{}\" is not an element type; these are u8 s8 u16 s16 u32 s32 u64 s64 f16 bf16 f32 f64 "
        "e4m3 e5m2",
        pair.name, pair.value, pair.value);
  }
  request.types[pair.name] = *type;
  return {};
}

Outcome<void> set_word(Request& request, const Kernel& kernel, const std::string& word) {
  CLI_ASSIGN(const Pair pair, split_pair(word, "word"));
  if (kernel.declares(&KernelInfo::types, pair.name)) return set_type(request, pair);
  const bool dim = kernel.declares(&KernelInfo::dims, pair.name);
  if (!dim && !kernel.declares(&KernelInfo::params, pair.name)) {
    std::vector<std::string> names = kernel.names(&KernelInfo::dims);
    append(names, kernel.names(&KernelInfo::params));
    append(names, kernel.names(&KernelInfo::types));
    return usage("{}: {} has no dim, param or type \"{}\"; it has {}{}", word, kernel.name, pair.name,
                 fmt::join(names, ", "), suggestion(pair.name, names));
  }
  const auto value = integer_in(pair.value);
  if (!value) return usage("{}: \"{}\" is not an integer", word, pair.value);
  (dim ? request.dims : request.params)[pair.name] = *value;
  return {};
}

Outcome<void> check_name(const Kernel& kernel, Kernel::Items items, const char* option, const std::string& name) {
  if (kernel.declares(items, name)) return {};
  const std::vector<std::string> names = kernel.names(items);
  return usage("{} {}: {} declares none of that name; it has {}{}", option, name, kernel.name,
               names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")), suggestion(name, names));
}

Outcome<void> set_hook(Request& request, const Kernel& kernel, const std::string& word) {
  CLI_ASSIGN(Pair pair, split_pair(word, "--hook"));
  CLI_CHECK(check_name(kernel, &KernelInfo::hooks, "--hook", pair.name));
  request.hooks[pair.name] = std::move(pair.value);
  return {};
}

Outcome<void> set_scalar(Request& request, const Kernel& kernel, const std::string& word) {
  CLI_ASSIGN(const Pair pair, split_pair(word, "--scalar"));
  CLI_CHECK(check_name(kernel, &KernelInfo::scalars, "--scalar", pair.name));
  if (const auto integer = integer_in(pair.value)) {
    request.scalars[pair.name] = *integer;
  } else if (const auto number = number_in(pair.value)) {
    request.scalars[pair.name] = *number;
  } else {
    return usage("--scalar {}: \"{}\" is not a number", word, pair.value);
  }
  return {};
}

}  // namespace

void add_request_options(CLI::App& verb, RequestWords& words) {
  verb.add_option("kernel", words.kernel, "a kernel's name, or the path of a template (.cu)")->required();
  verb.add_option("words", words.words, "NAME=VALUE: dims, pinned params and types of the kernel");
  const auto repeated = [&](const char* name, std::vector<std::string>& values, const char* help) {
    verb.add_option(name, values, help)->allow_extra_args(false);
  };
  repeated("--fix", words.fixed, "compile this dim in as a constant; may be repeated");
  repeated("--hook", words.hooks, "NAME=TEXT: CUDA text of a hook, an expression or a body; may be repeated");
  repeated("--scalar", words.scalars, "NAME=NUMBER; may be repeated");
  verb.add_option("--template-file", words.template_file, "only the template file of this stem, e.g. gemm_portable");
}

Outcome<KernelRequest> read_request(Engine& engine, const RequestWords& words) {
  CLI_ASSIGN(Kernel kernel, find_kernel(engine, words.kernel, words.template_file));
  Request request;
  request.kernel = kernel.name;
  request.file = words.template_file;
  if (words.kernel.ends_with(".cu")) request.file = stem_of(words.kernel);
  for (const std::string& word : words.words) CLI_CHECK(set_word(request, kernel, word));
  for (const std::string& word : words.hooks) CLI_CHECK(set_hook(request, kernel, word));
  for (const std::string& word : words.scalars) CLI_CHECK(set_scalar(request, kernel, word));
  for (const std::string& name : words.fixed) {
    CLI_CHECK(check_name(kernel, &KernelInfo::dims, "--fix", name));
    request.fixed.push_back(name);
  }
  return KernelRequest{std::move(kernel), std::move(request)};
}

}  // namespace tma_jit::cli
