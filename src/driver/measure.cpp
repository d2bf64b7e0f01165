#include "driver/measure.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>
#include <vector>

#include "base/median.h"
#include "core/failure.h"
#include "driver/memory.h"
#include "driver/replay.h"

namespace tma_jit::driver {
namespace {

// Less than the length of any driver's launch queue, so that no timed call waits for the device.
constexpr int kHostBatch = 20;

class Event {
 public:
  static Result<Event> create(const driver::Context& context) {
    const driver::Api& api = context.api();
    CUevent event = nullptr;
    TMA_JIT_CHECK(driver::checked(api, api.event_create(&event, CU_EVENT_DEFAULT), "cuEventCreate"));
    return Event(api, event);
  }
  ~Event() {
    if (event_ != nullptr) api_->event_destroy(event_);
  }
  Event(Event&& other) noexcept : api_(other.api_), event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event&&) = delete;

  Result<void> record(CUstream stream) const {
    return driver::checked(*api_, api_->event_record(event_, stream), "cuEventRecord");
  }
  Result<double> microseconds_since(const Event& start) const {
    float milliseconds = 0;
    TMA_JIT_CHECK(
        driver::checked(*api_, api_->event_elapsed_time(&milliseconds, start.event_, event_), "cuEventElapsedTime"));
    return double{milliseconds} * 1e3;
  }

 private:
  Event(const driver::Api& api, CUevent event) : api_(&api), event_(event) {}
  const driver::Api* api_;
  CUevent event_;
};

struct Span {
  Event start, stop;
};

// One measurement; all its work is queued to one stream.
class Run {
 public:
  Run(const driver::Context& context, CUstream stream, std::span<Launch* const> launches)
      : context_(context), stream_(stream), launches_(launches) {}

  // Lets every launch be replayed from a graph from now on.
  Result<void> capture() {
    for (Launch* launch : launches_) {
      TMA_JIT_ASSIGN(Replay replay, Replay::capture(context_, stream_, *launch));
      replays_.push_back(std::move(replay));
    }
    return {};
  }

  Result<void> warm_up(int rounds) {
    for (int i = 0; i < rounds; ++i) {
      for (std::size_t index = 0; index < launches_.size(); ++index) TMA_JIT_CHECK(launch(index));
    }
    return synchronize();
  }

  // The flush before a launch keeps the device busy while the host queues the events and the launch, so that the time
  // between the two events contains only the kernel. Every other round runs backwards: the odd ones among launches that
  // follow each other without a pause take 0.4 us more or less than the even ones (seen on an H200), which an even
  // number of launches in the same order every time would take for a difference between them.
  Result<RoundTimes> device_times(int rounds, const driver::Memory& flushed) {
    std::vector<std::pair<std::size_t, Span>> spans;  // of the launch with this index
    for (int round = 0; round < rounds; ++round) {
      for (std::size_t i = 0; i < launches_.size(); ++i) {
        const std::size_t index = round % 2 == 0 ? i : launches_.size() - 1 - i;
        TMA_JIT_CHECK(flush(flushed));
        TMA_JIT_ASSIGN(Span span, timed(index));
        spans.emplace_back(index, std::move(span));
      }
    }
    TMA_JIT_CHECK(synchronize());
    RoundTimes times(launches_.size());
    for (const auto& [index, span] : spans) {
      TMA_JIT_ASSIGN(const double time, span.stop.microseconds_since(span.start));
      times[index].push_back(time);
    }
    return times;
  }

  // Of the first launch.
  Result<std::vector<double>> host_times(int launches) {
    using Clock = std::chrono::steady_clock;
    std::vector<double> times;
    for (int done = 0; done < launches; done += kHostBatch) {
      const auto start = Clock::now();
      for (int i = 0; i < kHostBatch; ++i) TMA_JIT_CHECK(launch(0));
      times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count() / kHostBatch);
      TMA_JIT_CHECK(synchronize());
    }
    return times;
  }

 private:
  Result<void> launch(std::size_t index) {
    return replays_.empty() ? launches_[index]->launch(stream_) : replays_[index].run(stream_);
  }

  Result<Span> timed(std::size_t index) {
    TMA_JIT_ASSIGN(Event start, Event::create(context_));
    TMA_JIT_ASSIGN(Event stop, Event::create(context_));
    TMA_JIT_CHECK(start.record(stream_));
    TMA_JIT_CHECK(launch(index));
    TMA_JIT_CHECK(stop.record(stream_));
    return Span{std::move(start), std::move(stop)};
  }

  Result<void> flush(const driver::Memory& memory) {
    if (memory.bytes() == 0) return {};
    const driver::Api& api = context_.api();
    return driver::checked(api, api.memset_d8_async(memory.address(), 0, memory.bytes(), stream_),
                           "cuMemsetD8Async({} bytes)", memory.bytes());
  }

  Result<void> synchronize() {
    const driver::Api& api = context_.api();
    return driver::checked(api, api.stream_synchronize(stream_), "cuStreamSynchronize");
  }

  const driver::Context& context_;
  CUstream stream_;
  const std::span<Launch* const> launches_;
  std::vector<Replay> replays_;  // of the launches, in their order; empty: they are launched themselves
};

// Returns the times of all launches in `lane`.
Result<RoundTimes> times_in(const Context& context, const MeasureLane& lane, std::span<Launch* const> launches,
                            const MeasureOptions& options) {
  Run run(context, lane.stream.get(), launches);
  if (options.replay) TMA_JIT_CHECK(run.capture());
  TMA_JIT_CHECK(run.warm_up(options.warmups));
  return run.device_times(options.repeats, lane.flushed);
}

Result<void> check_repeats(const MeasureOptions& options) {
  if (options.repeats >= 1) return {};
  return failure(ErrorCode::invalid_argument, "measure: {} repeats; 1 or more are needed", options.repeats);
}

// Waits for the device's other work.
Result<MeasureLane> set_up(const driver::SharedContext& context, const MeasureOptions& options) {
  TMA_JIT_CHECK(check_repeats(options));
  TMA_JIT_CHECK(driver::checked(context->api(), context->api().ctx_synchronize(), "cuCtxSynchronize"));
  return make_lane(context, options.flush_l2);
}

}  // namespace

Result<MeasureLane> make_lane(const SharedContext& context, bool flush_l2) {
  TMA_JIT_ASSIGN(PrivateStream stream, PrivateStream::create(*context));
  const auto flushed_bytes = flush_l2 ? 2 * static_cast<std::size_t>(context->device().l2_bytes) : 0;
  TMA_JIT_ASSIGN(Memory flushed, Memory::allocate(context, flushed_bytes));
  return MeasureLane{std::move(stream), std::move(flushed)};
}

Result<RoundTimes> measure_in_turns(const SharedContext& context, const MeasureLane& lane,
                                    std::span<Launch* const> launches, const MeasureOptions& options) {
  TMA_JIT_CHECK(check_repeats(options));
  TMA_JIT_ASSIGN([[maybe_unused]] const Scope scope, Scope::enter(*context));
  return times_in(*context, lane, launches, options);
}

Result<RoundTimes> measure_in_turns(const driver::SharedContext& context, std::span<Launch* const> launches,
                                    const MeasureOptions& options) {
  TMA_JIT_ASSIGN([[maybe_unused]] const driver::Scope scope, driver::Scope::enter(*context));
  TMA_JIT_ASSIGN(const MeasureLane setup, set_up(context, options));
  return times_in(*context, setup, launches, options);
}

Result<Measurement> measure(const driver::SharedContext& context, Launch& launch, const MeasureOptions& options) {
  TMA_JIT_ASSIGN([[maybe_unused]] const driver::Scope scope, driver::Scope::enter(*context));
  TMA_JIT_ASSIGN(const MeasureLane setup, set_up(context, options));
  Launch* const launches[] = {&launch};
  Run run(*context, setup.stream.get(), launches);
  if (options.replay) TMA_JIT_CHECK(run.capture());
  TMA_JIT_CHECK(run.warm_up(options.warmups));
  TMA_JIT_ASSIGN(const RoundTimes device, run.device_times(options.repeats, setup.flushed));
  Measurement measurement{.repeats = options.repeats, .flushed_l2 = setup.flushed.bytes() > 0};
  measurement.median_us = median_of(device.front());
  const auto [fastest, slowest] = std::ranges::minmax(device.front());
  measurement.min_us = fastest;
  measurement.max_us = slowest;
  if (options.host_launches > 0) {
    TMA_JIT_ASSIGN(const std::vector<double> host, run.host_times(options.host_launches));
    measurement.host_us = median_of(host);
  }
  return measurement;
}

}  // namespace tma_jit::driver
