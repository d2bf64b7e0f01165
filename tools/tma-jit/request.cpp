#include "request.h"

#include "text.h"

namespace tma_jit::cli {
namespace {

void append(std::vector<std::string>& to, const std::vector<std::string>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

// Adds the value of an argument; fails if the name already has one.
template <class Map, class Value>
Outcome<void> set_once(Map& values, const char* what, const std::string& name, Value&& value) {
  if (values.emplace(name, std::forward<Value>(value)).second) return {};
  return usage("{}{} is given twice", what, name);
}

Outcome<void> set_type(Request& request, const Pair& pair) {
  const auto type = dtype_named(pair.value);
  if (!type) {
    return usage(
        "{}={}: \"{}\" is not an element type; these are u8 s8 u16 s16 u32 s32 u64 s64 f16 bf16 f32 f64 "
        "e4m3 e5m2",
        pair.name, pair.value, pair.value);
  }
  return set_once(request.types, "", pair.name, *type);
}

Outcome<void> set_word(Request& request, const Kernel& kernel, const std::string& word) {
  CLI_ASSIGN(const Pair pair, split_pair(word, "word"));
  if (kernel.declares(&KernelInfo::types, pair.name)) return set_type(request, pair);
  const bool dim = kernel.declares(&KernelInfo::dims, pair.name);
  if (!dim && !kernel.declares(&KernelInfo::params, pair.name)) {
    std::vector<std::string> names = kernel.names(&KernelInfo::dims);
    append(names, kernel.names(&KernelInfo::params));
    append(names, kernel.names(&KernelInfo::types));
    return unknown_name(usage("{}: {} has no dim, param or type \"{}\"; it has {}", word, kernel.name, pair.name,
                              fmt::join(names, ", ")),
                        pair.name, names);
  }
  const auto value = integer_in(pair.value);
  if (!value) return usage("{}: \"{}\" is not an integer", word, pair.value);
  return set_once(dim ? request.dims : request.params, "", pair.name, *value);
}

template <class Item>
Outcome<void> check_name(const Kernel& kernel, std::vector<Item> KernelInfo::*items, const char* option,
                         const std::string& name) {
  if (kernel.declares(items, name)) return {};
  const std::vector<std::string> names = kernel.names(items);
  return unknown_name(usage("{} {}: {} declares none of that name; it has {}", option, name, kernel.name,
                            names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))),
                      name, names);
}

// Adds an operand to the kernel's tensors or scalars, so that --in, --pitch or --scalar may name it. The planner parses
// the rest of the declaration.
void add_operand(Request& request, Kernel& kernel, const std::string& declaration) {
  request.operands.push_back(declaration);
  const std::string name(trimmed(declaration.substr(0, declaration.find(':'))));
  const bool is_tensor = declaration.find('[') != std::string::npos;
  for (KernelInfo& file : kernel.files) {
    if (is_tensor) {
      file.tensors.emplace_back().name = name;
    } else {
      file.scalars.emplace_back().name = name;
    }
  }
}

Outcome<void> set_scalar(Request& request, const Kernel& kernel, const std::string& word) {
  CLI_ASSIGN(const Pair pair, split_pair(word, "--scalar"));
  CLI_CHECK(check_name(kernel, &KernelInfo::scalars, "--scalar", pair.name));
  if (const auto integer = integer_in(pair.value)) return set_once(request.scalars, "--scalar ", pair.name, *integer);
  if (const auto integer = unsigned_in(pair.value)) return set_once(request.scalars, "--scalar ", pair.name, *integer);
  if (const auto number = number_in(pair.value)) return set_once(request.scalars, "--scalar ", pair.name, *number);
  return usage("--scalar {}: \"{}\" is not a number", word, pair.value);
}

}  // namespace

void add_request_options(Verb verb, RequestWords& words) {
  verb.option("kernel", words.kernel, "a kernel's name, or the path of a template (.cu)").required();
  verb.option("words", words.words, "NAME=VALUE: dims, pinned params and types of the kernel");
  verb.repeated("--fix", words.fixed, "compile this dim in as a constant; may be repeated");
  verb.repeated("--hook", words.hooks, "NAME=TEXT: CUDA text of a hook, an expression or a body; may be repeated");
  verb.repeated("--operand", words.operands,
                "NAME : TYPE[EXTENTS] or NAME : TYPE = NUMBER: a tensor or scalar that hooks read; may be repeated");
  verb.flag("--untrusted-hooks", words.untrusted_hooks,
            "the texts of --hook are not trusted: each must be one expression of the hook's arguments and operands");
  verb.option("--sm-budget", words.sm_budget, "the greatest number of SMs that run the kernel; 0: no limit");
  verb.repeated("--scalar", words.scalars, "NAME=NUMBER; may be repeated");
  verb.option("--template-file", words.template_file, "only the template file of this stem, e.g. gemm_mma");
}

Outcome<std::map<std::string, std::string>> read_hooks(const Kernel& kernel, const std::vector<std::string>& words) {
  std::map<std::string, std::string> hooks;
  for (const std::string& word : words) {
    CLI_ASSIGN(Pair pair, split_pair(word, "--hook"));
    CLI_CHECK(check_name(kernel, &KernelInfo::hooks, "--hook", pair.name));
    CLI_CHECK(set_once(hooks, "--hook ", pair.name, std::move(pair.value)));
  }
  return hooks;
}

Outcome<KernelRequest> read_request(Engine& engine, const RequestWords& words) {
  CLI_ASSIGN(Kernel kernel, find_kernel(engine, words.kernel, words.template_file));
  Request request;
  request.kernel = kernel.name;
  request.file = words.template_file;
  if (words.kernel.ends_with(".cu")) request.file = stem_of(words.kernel);
  for (const std::string& declaration : words.operands) add_operand(request, kernel, declaration);
  for (const std::string& word : words.words) CLI_CHECK(set_word(request, kernel, word));
  CLI_ASSIGN(request.hooks, read_hooks(kernel, words.hooks));
  request.untrusted_hooks = words.untrusted_hooks;
  request.sm_budget = words.sm_budget;
  for (const std::string& word : words.scalars) CLI_CHECK(set_scalar(request, kernel, word));
  for (const std::string& name : words.fixed) {
    CLI_CHECK(check_name(kernel, &KernelInfo::dims, "--fix", name));
    request.fixed.push_back(name);
  }
  return KernelRequest{std::move(kernel), std::move(request)};
}

}  // namespace tma_jit::cli
