// The messages that frames carry, and their layout.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compile/runner.h"

namespace tma_jit::compile {

// The worker's first message.
struct Greeting {
  NvrtcFacts facts;
  std::optional<Error> fault;  // why it cannot compile; `facts` is then empty
};

struct WorkerJob {
  Job job;
  bool alone = false;  // run with all slots of the machine, after a run that exhausted memory
};

struct WorkerOutcome {
  Outcome outcome;
  std::uint64_t resident_bytes = 0;  // the worker's memory afterwards
};

std::string to_payload(const Greeting& greeting);
std::string to_payload(const Job& job, bool alone);
std::string to_payload(const WorkerOutcome& of);

// Each returns nullopt if the payload is malformed.
std::optional<Greeting> greeting_in(std::string_view payload);
std::optional<WorkerJob> job_in(std::string_view payload);
std::optional<WorkerOutcome> outcome_in(std::string_view payload);

}  // namespace tma_jit::compile
