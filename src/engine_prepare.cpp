// The stages of an engine that need a device: loading, binding, and what the machine offers.
#include <algorithm>

#include "base/failure.h"
#include "engine_state.h"

namespace tma_jit {
namespace {

Result<Environment::Compiler> describe(Builder& builder) {
  TMA_JIT_ASSIGN(const auto compiler, builder.compiler().open());
  return Environment::Compiler{.path = compiler->location().path.string(),
                               .version = compiler->version(),
                               .identity = compiler->location().identity,
                               .archs = compiler->archs(),
                               .lacks = compiler->lacks(),
                               .place = compiler->place()};
}

// What a driver that executes PTX is given: PTX of the virtual architecture, with the lines that reports name. Both are
// part of the key.
Source as_ptx(Source source) {
  source.arch = compile::virtual_of(source.arch);
  if (std::ranges::find(source.options, "-lineinfo") == source.options.end()) source.options.emplace_back("-lineinfo");
  return source;
}

}  // namespace

Result<Built> Engine::State::build_for(const driver::Context& context, const Plan& plan) {
  if (!context.api().takes_ptx) return build(plan);
  TMA_JIT_ASSIGN(Source source, emit(plan));
  return builder.build(as_ptx(std::move(source)));
}

// The context first: an engine without a device says so before it compiles anything.
Result<driver::SharedPrepared> Engine::State::prepare(Plan plan) {
  TMA_JIT_ASSIGN(const driver::SharedContext context, device.context());
  TMA_JIT_ASSIGN(Built built, build_for(*context, plan));
  TMA_JIT_ASSIGN(driver::SharedKernel kernel, kernels.get(built.cubin->key, [&] {
    auto loaded = driver::Kernel::load(context, *built.cubin, built.compiler);
    if (loaded) ++counters.loads;
    return loaded;
  }));
  return driver::prepare(std::move(plan), std::move(built.cubin), std::move(kernel));
}

Result<std::unique_ptr<Launch::State>> Engine::State::launch(Plan plan) {
  TMA_JIT_ASSIGN(driver::SharedPrepared prepared, prepare(std::move(plan)));
  return Launch::State::make(std::move(prepared));
}

// Each crash is remembered, so that planning again passes over it; `plan` ends that.
Result<std::unique_ptr<Launch::State>> Engine::State::launch(const Request& request) {
  while (true) {
    TMA_JIT_ASSIGN(Plan plan, this->plan(request));
    auto launched = launch(std::move(plan));
    const bool again = !launched && launched.error().code == ErrorCode::crash && !builder.crashes().full();
    if (!again) return launched;
    log->warn("{}", launched.error().text());
  }
}

Result<Launch> Engine::prepare(const Request& request) {
  TMA_JIT_CHECK(state_->device.context());
  TMA_JIT_ASSIGN(auto state, state_->launch(request));
  return Launch(std::move(state));
}

Result<Launch> Engine::prepare(const Plan& plan) {
  TMA_JIT_ASSIGN(auto state, state_->launch(plan));
  return Launch(std::move(state));
}

Environment Engine::environment() {
  Environment environment;
  environment.driver_version = state_->device.driver_version();
  environment.device = state_->device.facts();
  environment.compiler = describe(state_->builder);
  environment.cache_dir = state_->options.cache_dir;
  environment.cache_writable = state_->builder.cache_writable();
  return environment;
}

}  // namespace tma_jit
