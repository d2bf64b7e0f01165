#include "placement.h"

#include <algorithm>

#include "text.h"

namespace tma_jit::cli {
namespace {

// The nominal address of a tensor without memory: a multiple of every alignment that a kernel can require.
constexpr std::int64_t kSomewhere = 1 << 20;

Outcome<std::map<std::string, std::int64_t>> element_counts(const Kernel& kernel, const char* option,
                                                            const std::vector<std::string>& words) {
  std::map<std::string, std::int64_t> counts;
  for (const std::string& word : words) {
    CLI_ASSIGN(const Pair pair, tensor_word(kernel, option, word));
    const auto count = integer_in(pair.value);
    if (!count || *count < 0) return usage("{} {}: \"{}\" is not a number of elements", option, word, pair.value);
    CLI_CHECK(check_once(counts, option, pair.name));
    counts[pair.name] = *count;
  }
  return counts;
}

// Returns the tensors of a request that gives none, as its plan has them or, where their packed rows have no plan, as
// the kernel declares them.
Outcome<std::vector<Argument>> tensors_of(Engine& engine, const Request& request) {
  std::vector<Argument> tensors;
  Result<Plan> plan = engine.plan(request);
  if (plan) {
    std::copy_if(plan->arguments.begin(), plan->arguments.end(), std::back_inserter(tensors),
                 [](const Argument& argument) { return argument.present && is_tensor(argument); });
    return tensors;
  }
  if (plan.error().code != ErrorCode::no_config) return tl::make_unexpected(Failure(plan.error()));
  CLI_ASSIGN(const std::vector<NamedTensor> declared, engine.tensors_of(request));
  for (const auto& [name, tensor] : declared) {
    Argument& argument = tensors.emplace_back();
    argument.name = name;
    argument.dtype = tensor.dtype;
    argument.shape.assign(tensor.shape.begin(), tensor.shape.begin() + tensor.rank);
    argument.strides.assign(tensor.strides.begin(), tensor.strides.begin() + tensor.rank);
  }
  return tensors;
}

Outcome<NamedTensor> placed_tensor(const Argument& argument, const Placement& placement) {
  CLI_ASSIGN(const Layout layout, placement.layout(argument));
  std::int64_t address = 0, bytes = 0;
  if (__builtin_mul_overflow(layout.span(), size_of(argument.dtype), &bytes)) {
    return failed(ErrorCode::invalid_argument, "{}: {} of {} with strides {} are more bytes than can be addressed",
                  argument.name, bracketed(layout.shape), name_of(argument.dtype), bracketed(layout.strides));
  }
  if (__builtin_mul_overflow(placement.offset(argument), size_of(argument.dtype), &address) ||
      __builtin_add_overflow(address, kSomewhere, &address)) {
    return failed(ErrorCode::invalid_argument, "--offset {}={}: more bytes than can be addressed", argument.name,
                  placement.offset(argument));
  }
  return NamedTensor{argument.name, Tensor::strided(static_cast<std::uint64_t>(address), argument.dtype,
                                                    static_cast<int>(layout.shape.size()), layout.shape.data(),
                                                    layout.strides.data())};
}

Outcome<void> check_placed(const Request& request, const char* option,
                           const std::map<std::string, std::int64_t>& counts) {
  for (const auto& [name, count] : counts) {
    const bool there = std::any_of(request.tensors.begin(), request.tensors.end(),
                                   [name = name](const NamedTensor& tensor) { return tensor.name == name; });
    if (!there) return usage("{} {}={}: this configuration has no tensor {}", option, name, count, name);
  }
  return {};
}

}  // namespace

bool is_tensor(const Argument& argument) {
  return argument.kind == Argument::Kind::tensor_map || argument.kind == Argument::Kind::view;
}

void add_placement_options(Verb verb, PlacementWords& words) {
  verb.repeated("--pitch", words.pitches, "NAME=ELEMENTS from one row of a tensor to the next; may be repeated");
  verb.repeated("--offset", words.offsets, "NAME=ELEMENTS between an aligned address and the tensor; may be repeated");
}

Outcome<Pair> tensor_word(const Kernel& kernel, const char* option, const std::string& word) {
  CLI_ASSIGN(Pair pair, split_pair(word, option));
  if (kernel.declares(&KernelInfo::tensors, pair.name)) return pair;
  const std::vector<std::string> names = kernel.names(&KernelInfo::tensors);
  return unknown_name(
      usage("{} {}: {} has no tensor \"{}\"; it has {}", option, word, kernel.name, pair.name, fmt::join(names, ", ")),
      pair.name, names);
}

Outcome<Placement> read_placement(const Kernel& kernel, const PlacementWords& words) {
  Placement placement;
  CLI_ASSIGN(placement.pitches, element_counts(kernel, "--pitch", words.pitches));
  CLI_ASSIGN(placement.offsets, element_counts(kernel, "--offset", words.offsets));
  return placement;
}

Outcome<Layout> Placement::layout(const Argument& argument) const {
  const auto pitch = pitches.find(argument.name);
  if (pitch == pitches.end()) return Layout{argument.shape, argument.strides};
  if (argument.shape.size() < 2) return usage("--pitch {}: it has one dimension, and so no rows", argument.name);
  if (pitch->second < argument.shape.back())
    return usage("--pitch {}={}: a row has {} elements", argument.name, pitch->second, argument.shape.back());
  return Layout::pitched(argument.shape, pitch->second);
}

std::int64_t Placement::offset(const Argument& argument) const {
  const auto offset = offsets.find(argument.name);
  return offset == offsets.end() ? 0 : offset->second;
}

Outcome<void> check_placement(const Request& request, const Placement& placement) {
  CLI_CHECK(check_placed(request, "--pitch", placement.pitches));
  return check_placed(request, "--offset", placement.offsets);
}

Outcome<Request> placed(Engine& engine, Request request, const Placement& placement) {
  if (placement.pitches.empty() && placement.offsets.empty()) return request;
  CLI_ASSIGN(const std::vector<Argument> tensors, tensors_of(engine, request));
  for (const Argument& argument : tensors) {
    CLI_ASSIGN(NamedTensor placed, placed_tensor(argument, placement));
    request.tensors.push_back(std::move(placed));
  }
  CLI_CHECK(check_placement(request, placement));
  return request;
}

Outcome<Plan> plan_placed(Engine& engine, const Request& request, const Placement& placement) {
  CLI_ASSIGN(const Request with_tensors, placed(engine, request, placement));
  CLI_ASSIGN(Plan plan, engine.plan(with_tensors));
  return plan;
}

}  // namespace tma_jit::cli
