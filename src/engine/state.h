// The implementation of an Engine, and access to it for tests and other drivers.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include <tma_jit/engine.h>

#include "base/environment.h"
#include "base/log.h"
#include "base/memo.h"
#include "driver/api.h"
#include "driver/launch_state.h"
#include "engine/builder.h"
#include "engine/counters.h"
#include "engine/device_choice.h"
#include "engine/live_tuning.h"
#include "engine/preparation_work.h"
#include "engine/records.h"
#include "engine/request_record.h"
#include "engine/selection.h"
#include "source/draft.h"
#include "template/catalogue.h"

namespace tma_jit {

struct Engine::State {
  // `provider` gives the driver's table of functions. Unset options are taken from the environment.
  State(Options given, driver::Provider provider, const ProcessEnvironment& environment = ProcessEnvironment::read());

  // With a target, files that do not serve it may be left out, unless none does.
  [[nodiscard]] Result<engine::Selection> select(std::string_view kernel, std::string_view target = {});
  // Selects from the one file with that stem, if there is one, for plans with all params pinned.
  [[nodiscard]] Result<engine::Selection> select_pinned(std::string_view kernel, std::string_view stem);
  // Returns the device with as many SMs as the request may use.
  [[nodiscard]] Result<DeviceInfo> facts_for(const Request& request);
  // Plans without records.
  [[nodiscard]] Result<Plan> search(const Request& request, const DeviceInfo& facts);
  // Follows a tuning record if one applies, else the search, whose result may be given.
  [[nodiscard]] Result<Plan> plan(const Request& request, std::optional<Plan> searched = {});
  // How plans for a device follow records. Refers to `facts`.
  [[nodiscard]] engine::Records::Planning planning(const DeviceInfo& facts);
  // Emits in the form that the device's driver loads.
  [[nodiscard]] Result<Source> emit(const Plan& plan);
  [[nodiscard]] Result<source::Draft> draft(const Plan& plan);
  [[nodiscard]] Result<engine::Built> build(const Plan& plan);
  // A cached cubin that the driver rejects is compiled again, once.
  struct Loaded {
    driver::SharedKernel kernel;
    std::shared_ptr<const Artifact> instead;  // the replacement of a rejected artifact; else null
  };
  [[nodiscard]] Result<Loaded> load(const driver::SharedContext& context, const Plan& plan, const engine::Built& built);
  [[nodiscard]] Result<driver::SharedPrepared> prepare(Plan plan);
  // Loads an artifact that no cache of this engine needs to have.
  [[nodiscard]] Result<driver::SharedPrepared> load(Plan plan, std::shared_ptr<const Artifact> artifact);
  [[nodiscard]] Result<std::unique_ptr<Launch::State>> launch(Plan plan);
  // If a configuration crashes the compiler, uses the next one that satisfies the request. `edit` is called with each
  // plan before it is built. `searched` is as for `plan`.
  using Edit = std::function<Result<void>(Plan& plan)>;
  [[nodiscard]] Result<std::unique_ptr<Launch::State>> launch(const Request& request, const Edit& edit = {},
                                                              std::optional<Plan> searched = {});
  // The same; without a device it fails before anything else.
  [[nodiscard]] Result<Launch> prepare_launch(const Request& request, const Edit& edit = {},
                                              std::optional<Plan> searched = {});

  // Ends what runs in the background.
  void end_threads();

  const bool tma_disabled;  // by the environment, whatever the options say
  const Options options;    // with resolved paths
  const Logger log;
  engine::Counters counters;
  templates::TemplateSet templates;
  engine::EngineDevice device;
  engine::Records records;
  engine::Misses misses;
  engine::RequestRecord asked;
  engine::Builder builder;
  Memo<Key, Loaded> kernels;
  engine::Preparations preparations;  // ended by the Engine, because their threads use this whole object
  engine::LiveTuning live_tuning;     // likewise
};

// Access for the library's other modules and for tests.
struct EngineInternals {
  static Engine engine_of(std::shared_ptr<Engine::State> state) { return Engine(std::move(state)); }
  // Leaves an engine without a state, so that its destruction ends nothing.
  static void release(Engine& engine) { engine.state_.reset(); }
  static Engine::State& state_of(const Engine& engine) { return *engine.state_; }
};

}  // namespace tma_jit
