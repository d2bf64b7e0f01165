// The worker's side: greets, then takes one job after the other from descriptor 0 until the program at the other end is
// gone or has had nothing for it for a while.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "compile/message.h"
#include "compile/slots.h"

namespace tma_jit::compile {

// What is done with jobs, and how it introduces itself.
struct Service {
  Greeting greeting;
  std::function<Outcome(const Job&)> compile;
};

struct ServeSettings {
  std::uint64_t memory_bytes = 0;  // RLIMIT_AS; 0: no limit
  std::chrono::milliseconds idle{30'000};
  Slots::Settings slots;
};

// `make` opens the compiler; it is called when the limits are in force. Returns the process's exit status: 0 after its
// program is gone or it was idle for too long. While a job runs, the program's end ends this process at once.
int serve(const ServeSettings& settings, const std::function<Service()>& make);

// NVRTC at that path, as a service.
Service nvrtc_service(const std::filesystem::path& nvrtc);

}  // namespace tma_jit::compile
