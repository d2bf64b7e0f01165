// The verbs. Each `add_` declares one verb and its options; parsing the verb sets `run`.
#pragma once

#include <functional>

#include "outcome.h"
#include "settings.h"

namespace CLI {
class App;
}

namespace tma_jit::cli {

struct Invocation {
  Settings settings;
  std::function<Outcome<int>()> run;  // prints, and returns the exit code
};

void add_doctor(CLI::App& app, Invocation& invocation);
void add_list(CLI::App& app, Invocation& invocation);
void add_show(CLI::App& app, Invocation& invocation);
void add_plan(CLI::App& app, Invocation& invocation);
void add_emit(CLI::App& app, Invocation& invocation);
void add_build(CLI::App& app, Invocation& invocation);
void add_run(CLI::App& app, Invocation& invocation);
void add_bench(CLI::App& app, Invocation& invocation);
void add_check(CLI::App& app, Invocation& invocation);
void add_tune(CLI::App& app, Invocation& invocation);
void add_warm(CLI::App& app, Invocation& invocation);
void add_cache(CLI::App& app, Invocation& invocation);

}  // namespace tma_jit::cli
