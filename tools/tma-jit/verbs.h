// The verbs. Each `add_` declares one verb with its options, and what it runs.
#pragma once

#include "command_line.h"
#include "settings.h"

namespace tma_jit::cli {

// The settings get the words' values, and must live until the verb has run.
void add_doctor(Verb command, Settings& settings);
void add_list(Verb command, Settings& settings);
void add_show(Verb command, Settings& settings);
void add_plan(Verb command, Settings& settings);
void add_emit(Verb command, Settings& settings);
void add_build(Verb command, Settings& settings);
void add_run(Verb command, Settings& settings);
void add_bench(Verb command, Settings& settings);
void add_estimate(Verb command, Settings& settings);
void add_check(Verb command, Settings& settings);
void add_tune(Verb command, Settings& settings);
void add_report(Verb command, Settings& settings);
void add_warm(Verb command, Settings& settings);
void add_manifest(Verb command, Settings& settings);
void add_cache(Verb command, Settings& settings);
// These print what the command line declares, when they run.
void add_completion(CommandLine& line, Settings& settings);
void add_help(CommandLine& line, Settings& settings);

}  // namespace tma_jit::cli
