// What stands behind an Engine, and the way in for what is not an embedder: tests and other drivers.
#pragma once

#include <filesystem>
#include <memory>

#include <tma_jit/engine.h>

#include "base/environment.h"
#include "base/log.h"
#include "base/memo.h"
#include "driver/api.h"
#include "driver/launch_state.h"
#include "engine/builder.h"
#include "engine/counters.h"
#include "engine/device_choice.h"
#include "engine/preparation_work.h"
#include "engine/records.h"
#include "engine/selection.h"
#include "template/catalogue.h"

namespace tma_jit {

struct Engine::State {
  // `provider` gives the driver's table of functions. What the options leave open, the environment says.
  State(Options given, driver::Provider provider, const ProcessEnvironment& environment = ProcessEnvironment::read());

  [[nodiscard]] Result<engine::Selection> select(std::string_view kernel);
  [[nodiscard]] Result<Plan> plan(const Request& request);
  // For what the device's driver takes.
  [[nodiscard]] Result<Source> emit(const Plan& plan);
  [[nodiscard]] Result<engine::Built> build(const Plan& plan);
  // A cubin of the cache's that the driver refuses is compiled again, once.
  struct Loaded {
    driver::SharedKernel kernel;
    std::shared_ptr<const Artifact> instead;  // of the one that was refused; else none
  };
  [[nodiscard]] Result<Loaded> load(const driver::SharedContext& context, const Plan& plan, const engine::Built& built);
  [[nodiscard]] Result<driver::SharedPrepared> prepare(Plan plan);
  [[nodiscard]] Result<std::unique_ptr<Launch::State>> launch(Plan plan);
  // Where a configuration crashes the compiler, with the next one that fits.
  [[nodiscard]] Result<std::unique_ptr<Launch::State>> launch(const Request& request);
  // The same, and fails before anything else where there is no device.
  [[nodiscard]] Result<Launch> prepare_launch(const Request& request);

  const bool tma_disabled;  // by the environment, whatever the options say
  const Options options;    // paths resolved
  const Logger log;
  engine::Counters counters;
  templates::TemplateSet templates;
  engine::EngineDevice device;
  engine::Records records;
  engine::Misses misses;
  engine::Builder builder;
  Memo<Key, Loaded> kernels;
  engine::Preparations preparations;  // ended by the Engine, for their threads use all of this
};

// The way in for the library's own parts and for tests.
struct EngineInternals {
  static Engine engine_of(std::shared_ptr<Engine::State> state) { return Engine(std::move(state)); }
  static Engine::State& state_of(const Engine& engine) { return *engine.state_; }
};

}  // namespace tma_jit
