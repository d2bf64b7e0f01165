#include "trial.h"

#include <algorithm>
#include <cstring>

#include "index_check.h"
#include "text.h"

namespace tma_jit::cli {
namespace {

// Fails if a file or a layout is given for a tensor that this launch does not have.
Outcome<void> check_names(const Trial& trial) {
  const auto exists = [&](const std::string& name) {
    return std::any_of(trial.tensors.begin(), trial.tensors.end(),
                       [&](const DeviceTensor& t) { return t.name == name; });
  };
  for (const auto& [name, file] : trial.choices.inputs)
    if (!exists(name)) return usage("--in {}={}: this configuration has no tensor {}", name, file.path, name);
  for (const auto& [name, file] : trial.choices.outputs) {
    const auto tensor = std::find_if(trial.tensors.begin(), trial.tensors.end(),
                                     [name = name](const DeviceTensor& t) { return t.name == name; });
    if (tensor == trial.tensors.end())
      return usage("--out {}={}: this configuration has no tensor {}", name, file, name);
    if (!tensor->output) return usage("--out {}={}: {} is an input", name, file, name);
  }
  return check_placement(trial.request, trial.choices.placement);
}

Strictness strictness_of(const Trial& trial) {
  const Plan& plan = trial.launch.plan();
  const bool moves_data = plan.work.bytes > 0 && plan.work.flops == 0 && plan.hooks.empty();
  if (moves_data) return Strictness::exact;
  return trial.choices.recipe.kind == DataKind::integers ? Strictness::integers : Strictness::tolerant;
}

// Returns the request of another kernel of the plan's file: with the chosen configuration and all types pinned.
Request beside(const Plan& plan, Request request) {
  request.file = stem_of(plan.file);
  for (const auto& [name, value] : plan.config) request.params[name] = value;
  request.types.merge(types_of(plan));
  return request;
}

// Computes the inputs that depend on others, where the template says how, but for those that a file gives.
Outcome<void> compute_inputs(Engine& engine, const Plan& plan, Request request, const DataChoices& choices,
                             std::vector<DeviceTensor>& tensors) {
  const std::vector<Result<KernelInfo>> files = engine.kernels(plan.kernel);
  const bool declared = std::any_of(files.begin(), files.end(), [&](const Result<KernelInfo>& info) {
    return info && info->file == plan.file && info->inputs;
  });
  if (!declared) return {};
  request = beside(plan, std::move(request));
  request.inputs = true;
  CLI_ASSIGN(Launch launch, engine.prepare(request));
  CLI_CHECK(launch.launch());
  CLI_CHECK(synchronize(engine));
  return restore_inputs(choices, tensors);
}

Outcome<std::vector<double>> doubles_of(const DeviceTensor& tensor) {
  CLI_ASSIGN(const std::vector<std::byte> content, download(tensor));
  std::vector<double> values(static_cast<std::size_t>(tensor.layout.elements()));
  std::memcpy(values.data(), content.data() + tensor.origin, values.size() * sizeof(double));
  return values;
}

Outcome<OutputCheck> check_output(const DeviceTensor& output, const DeviceTensor& reference, Demand demand) {
  CLI_ASSIGN(std::vector<std::byte> content, download(output));
  CLI_ASSIGN(const std::vector<double> expected, doubles_of(reference));
  OutputCheck check{output.name, output.dtype, output.layout, {}, 0};
  const std::span<const std::byte> elements = std::span<const std::byte>(content).subspan(output.origin);
  check.comparison = compare(elements, output.dtype, output.layout, expected, demand);
  check.stray_bytes = count_stray_bytes(content, output.origin, output.dtype, output.layout);
  return check;
}

const char* name_of(Strictness strictness) {
  switch (strictness) {
    case Strictness::exact: return "exact";
    case Strictness::integers: return "exact where all references are integers";
    default: return "tolerance";
  }
}

std::string describe(const OutputCheck& check, Strictness strictness) {
  const Comparison& c = check.comparison;
  std::string text = fmt::format("  check     {}: {} of {} elements agree with the float64 reference ({})\n",
                                 check.name, c.elements - c.mismatches, c.elements, name_of(strictness));
  text += fmt::format("            max error {:.3g}, {:.3g} relative to max(|reference|, rms); rms {:.3g}\n",
                      c.max_error, c.max_relative, c.rms);
  if (c.unwritten > 0) text += fmt::format("            {} elements were never written\n", c.unwritten);
  if (check.stray_bytes > 0)
    text += fmt::format("            {} bytes outside the tensor were written\n", check.stray_bytes);
  for (const Mismatch& mismatch : c.first) {
    text += fmt::format("            {}{} is {}, the reference {}\n", check.name,
                        bracketed(check.layout.position(mismatch.index)),
                        mismatch.unwritten ? std::string("unwritten") : fmt::format("{:.9g}", mismatch.got),
                        fmt::format("{:.9g}", mismatch.expected));
  }
  return text;
}

Json to_json(const OutputCheck& check) {
  const Comparison& c = check.comparison;
  Json first = Json::array();
  for (const Mismatch& mismatch : c.first) {
    first.push_back({{"index", check.layout.position(mismatch.index)},
                     {"got", mismatch.got},
                     {"expected", mismatch.expected},
                     {"unwritten", mismatch.unwritten}});
  }
  return {
      {"tensor", check.name},
      {"passed", check.passed()},
      {"elements", c.elements},
      {"mismatches", c.mismatches},
      {"unwritten", c.unwritten},
      {"stray_bytes", check.stray_bytes},
      {"max_error", c.max_error},
      {"max_relative", c.max_relative},
      {"rms", c.rms},
      {"tolerance",
       {{"relative", c.tolerance.relative}, {"absolute", c.tolerance.absolute_per_rms * c.rms + c.tolerance.smallest}}},
      {"first", first}};
}

using References = std::map<std::string, DeviceTensor>;

Outcome<std::vector<OutputCheck>> check_outputs(const Trial& trial, const References& references,
                                                Strictness strictness) {
  std::vector<OutputCheck> outputs;
  for (const DeviceTensor& tensor : trial.tensors) {
    const auto reference = references.find(tensor.name);
    if (reference == references.end()) continue;
    CLI_ASSIGN(OutputCheck output, check_output(tensor, reference->second, {strictness, trial.launch.plan().sum_bits}));
    outputs.push_back(std::move(output));
  }
  return outputs;
}

// Returns the same trial on tensors of its own, launched with the workspaces as `trial` left them.
Outcome<Trial> launch_again(Engine& engine, const Trial& trial) {
  Request request = trial.request;
  request.tensors.clear();
  CLI_ASSIGN(Trial again, prepare_trial(engine, std::move(request), trial.choices));
  for (const ZeroedWorkspace& workspace : trial.zeroed)
    CLI_CHECK(again.launch.rebind(workspace.name, workspace.buffer.address()));
  CLI_CHECK(run_trial(engine, again));
  return again;
}

}  // namespace

bool TrialCheck::passed() const {
  const auto passes = [](const OutputCheck& check) { return check.passed(); };
  return std::ranges::all_of(outputs, passes) && std::ranges::all_of(again, passes);
}

Outcome<Trial> prepare_trial(Engine& engine, Request request, DataChoices choices) {
  CLI_ASSIGN(const Plan plan, plan_placed(engine, request, choices.placement));
  CLI_ASSIGN(std::vector<DeviceTensor> tensors, make_tensors(engine, plan, choices));
  CLI_ASSIGN(std::vector<std::string> notes, check_indices(plan, choices));
  for (const DeviceTensor& tensor : tensors) request.tensors.push_back({tensor.name, tensor.view()});
  if (choices.consistent) CLI_CHECK(compute_inputs(engine, plan, request, choices, tensors));
  CLI_ASSIGN(Launch launch, engine.prepare(request));
  CLI_ASSIGN(std::vector<ZeroedWorkspace> zeroed, give_zeroed_workspaces(engine, launch));
  Trial trial{std::move(request), std::move(choices), std::move(tensors),
              std::move(zeroed),  std::move(launch),  std::move(notes)};
  CLI_CHECK(check_names(trial));
  return trial;
}

Outcome<void> run_trial(Engine& engine, Trial& trial) {
  CLI_CHECK(trial.launch.launch());
  CLI_CHECK(synchronize(engine));
  return {};
}

Outcome<TrialCheck> check_trial(Engine& engine, const Trial& trial) {
  Request request = beside(trial.launch.plan(), trial.request);
  request.reference = true;
  References references;
  for (const DeviceTensor& tensor : trial.tensors) {
    if (!tensor.output) continue;
    CLI_ASSIGN(DeviceTensor reference, make_reference_output(engine, tensor, trial.choices));
    for (NamedTensor& named : request.tensors)
      if (named.name == tensor.name) named.tensor = reference.view();
    references.emplace(tensor.name, std::move(reference));
  }
  CLI_ASSIGN(Launch launch, engine.prepare(request));
  CLI_CHECK(launch.launch());
  CLI_CHECK(synchronize(engine));

  TrialCheck check;
  check.strictness = strictness_of(trial);
  CLI_ASSIGN(check.outputs, check_outputs(trial, references, check.strictness));
  CLI_ASSIGN(const bool zero, are_zero(trial.zeroed));
  if (zero || !check.passed()) return check;
  CLI_ASSIGN(const Trial again, launch_again(engine, trial));
  CLI_ASSIGN(check.again, check_outputs(again, references, check.strictness));
  return check;
}

std::string describe(const TrialCheck& check) {
  std::string text;
  for (const OutputCheck& output : check.outputs) text += describe(output, check.strictness);
  if (!check.again.empty()) text += "  again     with the workspaces that the first launch did not leave zero\n";
  for (const OutputCheck& output : check.again) text += describe(output, check.strictness);
  return text;
}

Json to_json(const TrialCheck& check) {
  Json outputs = Json::array(), again = Json::array();
  for (const OutputCheck& output : check.outputs) outputs.push_back(to_json(output));
  for (const OutputCheck& output : check.again) again.push_back(to_json(output));
  return {{"passed", check.passed()}, {"compared", name_of(check.strictness)}, {"outputs", outputs}, {"again", again}};
}

}  // namespace tma_jit::cli
