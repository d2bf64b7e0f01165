// What stands behind an Engine, and the way in for what is not an embedder: tests and other drivers.
#pragma once

#include <filesystem>
#include <memory>

#include <tma_jit/engine.h>

#include "base/log.h"
#include "base/memo.h"
#include "driver/api.h"
#include "driver/launch_state.h"
#include "engine_build.h"
#include "engine_counters.h"
#include "engine_device.h"
#include "engine_selection.h"
#include "template/search.h"

namespace tma_jit {

struct Engine::State {
  // `provider` gives the driver's table of functions.
  State(Options given, driver::Provider provider);

  Result<Selection> select(std::string_view kernel);
  Result<Plan> plan(const Request& request);
  Result<Source> emit(const Plan& plan);
  Result<Built> build(const Plan& plan);
  // What the context's driver loads.
  Result<Built> build_for(const driver::Context& context, const Plan& plan);
  Result<driver::SharedPrepared> prepare(Plan plan);
  Result<std::unique_ptr<Launch::State>> launch(Plan plan);
  // Where a configuration crashes the compiler, with the next one that fits.
  Result<std::unique_ptr<Launch::State>> launch(const Request& request);

  const Options options;  // paths resolved
  const Logger log;
  Counters counters;
  manifest::TemplateSet templates;
  EngineDevice device;
  Misses misses;
  Builder builder;
  Memo<Key, driver::SharedKernel> kernels;
};

// The options with what the environment says where they say nothing; the one place that reads it.
Options resolved(Options options);

}  // namespace tma_jit
