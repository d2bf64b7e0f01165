#include <tma_jit/launch.h>

#include "base/profile.h"
#include "base/text.h"
#include "driver/launch_state.h"

namespace tma_jit {
namespace driver {
namespace {

[[gnu::noinline, gnu::cold]] tl::unexpected<Error> launch_failure(const Prepared& prepared, CUresult result) {
  const Geometry& geometry = prepared.plan.geometry;
  return tl::make_unexpected(
      error_of(prepared.kernel->context().api(), result,
               fmt::format("cuLaunchKernelEx({}, grid [{}], block [{}], cluster [{}], {} bytes of shared memory)",
                           prepared.plan.entry, fmt::join(geometry.grid, ", "), fmt::join(geometry.block, ", "),
                           fmt::join(geometry.cluster, ", "), geometry.smem_bytes)));
}

// For a thread whose current context belongs to another device, or that has none.
[[gnu::noinline, gnu::cold]] Result<void> launch_elsewhere(const Prepared& prepared, const CUlaunchConfig& config,
                                                           void** arguments) {
  const Context& context = prepared.kernel->context();
  TMA_JIT_ASSIGN([[maybe_unused]] const Current current, Current::enter(context));
  const CUresult result = context.api().launch_kernel_ex(&config, prepared.kernel->function(), arguments, nullptr);
  if (result != CUDA_SUCCESS) return launch_failure(prepared, result);
  return {};
}

Result<void> launch_now(const Prepared& prepared, void** arguments, CUstream stream) {
  CUlaunchConfig config = prepared.configuration.config();
  config.hStream = stream;
  const Context& context = prepared.kernel->context();
  CUcontext current = nullptr;
  if (context.api().ctx_get_current(&current) != CUDA_SUCCESS || current != context.handle()) [[unlikely]] {
    return launch_elsewhere(prepared, config, arguments);
  }
  const CUresult result = context.api().launch_kernel_ex(&config, prepared.kernel->function(), arguments, nullptr);
  if (result != CUDA_SUCCESS) [[unlikely]]
    return launch_failure(prepared, result);
  return {};
}

// For a process with an attached profiler.
[[gnu::noinline, gnu::cold]] Result<void> launch_in_range(const Prepared& prepared, void** arguments, CUstream stream) {
  const profile::Range range("launch", prepared.plan.entry);
  return launch_now(prepared, arguments, stream);
}

}  // namespace

Result<SharedPrepared> prepare(Plan plan, std::shared_ptr<const Artifact> artifact, SharedKernel kernel) {
  TMA_JIT_CHECK(kernel->check_arguments(plan.arguments));
  TMA_JIT_CHECK(kernel->admit(plan.geometry));
  if (plan.reference) kernel->mark_reference();
  return std::make_shared<const Prepared>(std::move(plan), std::move(artifact), std::move(kernel));
}

Result<void> launch(const Prepared& prepared, void** arguments, CUstream stream) {
  if (prepared.configuration.empty()) return {};
  if (profile::attached()) [[unlikely]]
    return launch_in_range(prepared, arguments, stream);
  return launch_now(prepared, arguments, stream);
}

Result<std::vector<Memory>> make_workspaces(const Prepared& prepared, Arguments& arguments) {
  const SharedContext& context = prepared.kernel->shared_context();
  std::vector<Memory> workspaces;
  for (std::size_t i = 0; i < prepared.plan.arguments.size(); ++i) {
    const Argument& argument = prepared.plan.arguments[i];
    if (argument.kind != Argument::Kind::workspace || argument.address != 0 || !needs_address(argument)) continue;
    TMA_JIT_ASSIGN(Memory memory, Memory::allocate(context, argument.workspace_bytes));
    if (argument.workspace_zeroed) TMA_JIT_CHECK(memory.fill(0));
    TMA_JIT_CHECK(arguments.set_address(*context, i, memory.address()));
    workspaces.push_back(std::move(memory));
  }
  return workspaces;
}

}  // namespace driver

namespace {

// Returns the index of an argument with an address, by its name in the template.
Result<std::size_t> find_rebindable(const Plan& plan, std::string_view name) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < plan.arguments.size(); ++i) {
    const Argument& argument = plan.arguments[i];
    const bool rebindable = argument.kind == Argument::Kind::tensor_map || argument.kind == Argument::Kind::view ||
                            argument.kind == Argument::Kind::workspace;
    if (!rebindable) continue;
    if (argument.name == name && argument.present) return i;
    if (argument.name == name) {
      return failure(ErrorCode::invalid_argument, "{}: this launch was prepared without {}", plan.kernel, name);
    }
    names.push_back(argument.name);
  }
  return unknown_name(failure(ErrorCode::not_found, "{}: no tensor or workspace is named {}", plan.kernel, name), name,
                      names);
}

}  // namespace

Result<std::unique_ptr<Launch::State>> Launch::State::make(driver::SharedPrepared prepared) {
  TMA_JIT_ASSIGN(driver::Arguments arguments,
                 driver::Arguments::encode(prepared->kernel->context(), prepared->plan.arguments));
  TMA_JIT_ASSIGN(std::vector<driver::Memory> workspaces, driver::make_workspaces(*prepared, arguments));
  return std::make_unique<State>(State{std::move(prepared), std::move(arguments), std::move(workspaces)});
}

Launch::Launch(std::unique_ptr<State> state) : state_(std::move(state)) {}
Launch::Launch(Launch&&) noexcept = default;
Launch& Launch::operator=(Launch&&) noexcept = default;
Launch::~Launch() = default;

Result<void> Launch::launch(Stream stream) {
  if (const Argument* unbound = state_->arguments.unbound(); unbound != nullptr) [[unlikely]] {
    if (state_->prepared->configuration.empty()) return {};
    return failure(ErrorCode::invalid_argument, "{}: {} has no address: rebind it before the launch",
                   state_->prepared->plan.kernel, unbound->name);
  }
  return driver::launch(*state_->prepared, state_->arguments.pointers(), stream);
}

Result<void> Launch::rebind(std::string_view name, std::uint64_t address) {
  TMA_JIT_ASSIGN(const std::size_t index, find_rebindable(state_->prepared->plan, name));
  return state_->arguments.set_address(state_->prepared->kernel->context(), index, address);
}

Result<void> Launch::rebind(std::string_view name, const void* address) {
  return rebind(name, reinterpret_cast<std::uint64_t>(address));
}

const Plan& Launch::plan() const {
  return state_->prepared->plan;
}
const Artifact& Launch::artifact() const {
  return *state_->prepared->artifact;
}

}  // namespace tma_jit
