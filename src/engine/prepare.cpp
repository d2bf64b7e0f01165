// The engine's stages that need a device: loading, binding, and the description of the machine.
#include <utility>

#include "base/digest.h"
#include "cache/remote_options.h"
#include "compile/cubin_check.h"
#include "core/failure.h"
#include "engine/state.h"

namespace tma_jit {
namespace {

Result<Environment::Compiler> describe(engine::Builder& builder) {
  TMA_JIT_ASSIGN(const auto compiler, builder.compiler().open());
  return Environment::Compiler{.path = compiler->location().path.string(),
                               .version = compiler->version(),
                               .identity = compiler->location().identity,
                               .archs = compiler->archs(),
                               .missing_features = compiler->missing_features(),
                               .place = compiler->place()};
}

// A kernel whose bytes somebody kept. Its key is of the bytes alone, so that it is none of the cache.
Result<Artifact> artifact_of(const Plan& plan, std::vector<std::byte> bytes) {
  constexpr std::string_view kElf =
      "\x7f"
      "ELF";
  Artifact artifact{.bytes = std::move(bytes), .entry = plan.entry, .arch = plan.arch};
  const std::string_view text(reinterpret_cast<const char*>(artifact.bytes.data()), artifact.bytes.size());
  if (text.starts_with(kElf)) {
    const std::string fault = compile::cubin_fault(artifact.bytes, plan.arch);
    if (!fault.empty()) return failure(ErrorCode::invalid_argument, "{}: the cubin {}", plan.kernel, fault);
  } else if (text.find(".version") != text.npos) {
    artifact.form = Artifact::Form::ptx;
    artifact.bytes.push_back(std::byte{0});
  } else {
    return failure(ErrorCode::invalid_argument, "{}: these {} bytes are neither a cubin nor PTX", plan.kernel,
                   text.size());
  }
  Sha256 digest;
  digest.update(plan.entry);
  digest.update(artifact.bytes.data(), artifact.bytes.size());
  artifact.key.bytes = digest.finish();
  return artifact;
}

}  // namespace

// Loads an artifact. If the driver rejects a cached one, compiles it again; its answer to the new one is final.
Result<Engine::State::Loaded> Engine::State::load(const driver::SharedContext& context, const Plan& plan,
                                                  const engine::Built& built) {
  bool refused = false;
  auto kernel = driver::Kernel::load(context, *built.artifact, built.compiler, &refused);
  if (!kernel && refused && built.kept) {
    TMA_JIT_ASSIGN(const Source source, emit(plan));
    const auto again = builder.rebuild(source, built);
    if (again && again->artifact->bytes != built.artifact->bytes) {
      TMA_JIT_ASSIGN(auto loaded, driver::Kernel::load(context, *again->artifact, again->compiler));
      ++counters.loads;
      return Loaded{std::move(loaded), again->artifact};
    }
    if (!again) kernel.error().detail += "\nit was not compiled again: " + again.error().message;
  }
  if (!kernel) return tl::make_unexpected(std::move(kernel).error());
  ++counters.loads;
  return Loaded{*std::move(kernel), nullptr};
}

// Opens the context first, so that an engine without a device fails before it compiles anything.
Result<driver::SharedPrepared> Engine::State::prepare(Plan plan) {
  TMA_JIT_ASSIGN(const driver::SharedContext context, device.context());
  TMA_JIT_ASSIGN(engine::Built built, build(plan));
  TMA_JIT_ASSIGN(Loaded loaded, kernels.get(built.artifact->key, [&] { return load(context, plan, built); }));
  if (loaded.instead) built.artifact = std::move(loaded.instead);
  return driver::prepare(std::move(plan), std::move(built.artifact), std::move(loaded.kernel));
}

Result<driver::SharedPrepared> Engine::State::load(Plan plan, std::shared_ptr<const Artifact> artifact) {
  TMA_JIT_ASSIGN(const driver::SharedContext context, device.context());
  TMA_JIT_ASSIGN(Loaded loaded, kernels.get(artifact->key, [&]() -> Result<Loaded> {
    TMA_JIT_ASSIGN(auto kernel, driver::Kernel::load(context, *artifact, {}));
    ++counters.loads;
    return Loaded{std::move(kernel), nullptr};
  }));
  return driver::prepare(std::move(plan), std::move(artifact), std::move(loaded.kernel));
}

Result<std::unique_ptr<Launch::State>> Engine::State::launch(Plan plan) {
  TMA_JIT_ASSIGN(driver::SharedPrepared prepared, prepare(std::move(plan)));
  return Launch::State::make(std::move(prepared));
}

// Records each crash and plans again, which passes over the configuration; ends when planning fails.
Result<std::unique_ptr<Launch::State>> Engine::State::launch(const Request& request, const Edit& edit,
                                                             std::optional<Plan> searched) {
  while (true) {
    TMA_JIT_ASSIGN(Plan plan, this->plan(request, std::exchange(searched, std::nullopt)));
    if (edit) TMA_JIT_CHECK(edit(plan));
    auto launched = launch(std::move(plan));
    const bool again = !launched && launched.error().code == ErrorCode::crash && !builder.crashes().full();
    if (launched) asked.add(request);
    if (!again) return launched;
    log->warn("{}", launched.error().text());
  }
}

Result<Launch> Engine::State::prepare_launch(const Request& request, const Edit& edit, std::optional<Plan> searched) {
  TMA_JIT_CHECK(device.context());
  live_tuning.before_preparing(request);
  TMA_JIT_ASSIGN(auto state, launch(request, edit, std::move(searched)));
  return LaunchInternals::launch_of(std::move(state));
}

Result<Launch> Engine::prepare(const Request& request) {
  return state_->prepare_launch(request);
}

Result<Launch> Engine::prepare(const Plan& plan) {
  TMA_JIT_ASSIGN(auto state, state_->launch(plan));
  return LaunchInternals::launch_of(std::move(state));
}

Result<Launch> Engine::load(const Plan& plan, std::vector<std::byte> kernel) {
  TMA_JIT_ASSIGN(Artifact artifact, artifact_of(plan, std::move(kernel)));
  TMA_JIT_ASSIGN(auto prepared, state_->load(plan, std::make_shared<const Artifact>(std::move(artifact))));
  TMA_JIT_ASSIGN(auto state, Launch::State::make(std::move(prepared)));
  return LaunchInternals::launch_of(std::move(state));
}

Result<Environment::Compiler> Engine::compiler() {
  TMA_JIT_ASSIGN(const auto compiler, state_->builder.compiler().open());
  return Environment::Compiler{.path = compiler->location().path.string(),
                               .version = compiler->version(),
                               .identity = compiler->location().identity,
                               .archs = {},
                               .missing_features = {},
                               .place = compiler->place()};
}

Environment Engine::environment() {
  Environment environment;
  environment.driver_version = state_->device.driver_version();
  environment.device = state_->device.facts();
  environment.compiler = describe(state_->builder);
  environment.cache_dir = state_->options.cache_dir;
  environment.cache_writable = state_->builder.cache_writable();
  environment.remote = cache::shown(state_->options.cache.remote);
  environment.tma_disabled = state_->tma_disabled;
  return environment;
}

}  // namespace tma_jit
