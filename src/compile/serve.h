// The worker's side: it greets, then runs jobs from descriptor 0 until the program at the other end ends or sends no
// job for some time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "compile/message.h"
#include "compile/slots.h"

namespace tma_jit::compile {

// How jobs are run, and the greeting.
struct Service {
  Greeting greeting;
  std::function<Outcome(const Job&)> compile;
};

struct ServeSettings {
  std::uint64_t memory_bytes = 0;  // RLIMIT_AS; 0: no limit
  std::chrono::milliseconds idle{30'000};
  Slots::Settings slots;
};

// `make` opens the compiler; it is called after the limits are set. Returns the process's exit status: 0 after the
// program has ended or the worker was idle for too long. If the program ends during a job, this process ends at once.
int serve(const ServeSettings& settings, const std::function<Service()>& make);

// Returns a service that runs the NVRTC at that path.
Service nvrtc_service(const std::filesystem::path& nvrtc);

}  // namespace tma_jit::compile
