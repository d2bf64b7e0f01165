// Device memory and timing: enough to run, check and measure a launch without another CUDA library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <tma_jit/engine.h>
#include <tma_jit/launch.h>

namespace tma_jit {

// A stream of its own for work beside the application's: it does not synchronise with the default stream, and what is
// done in it waits for no other work and breaks no capture. Owns the memory that `measure_in_turns` overwrites if L2 is
// flushed, so that measuring again allocates nothing. One thread at a time may use it. Move-only.
class TMA_JIT_API SideStream {
 public:
  [[nodiscard]] static Result<SideStream> create(Engine& engine, bool flush_l2 = true);
  SideStream(SideStream&&) noexcept;
  SideStream& operator=(SideStream&&) noexcept;
  ~SideStream();

  Stream handle() const;
  [[nodiscard]] Result<void> synchronize() const;

  struct State;  // private to the library

 private:
  friend struct SideStreamInternals;
  explicit SideStream(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

// Memory of the engine's device. Move-only; freed on destruction. Copies and fills run after the default stream's
// earlier work and are complete when they return. Work on a stream that does not synchronise with the default stream
// needs `synchronize` first. They fail (driver) while a graph is being captured that they would invalidate. With a
// SideStream they run in it instead, after its earlier work only.
class TMA_JIT_API DeviceBuffer {
 public:
  [[nodiscard]] static Result<DeviceBuffer> allocate(Engine& engine, std::size_t bytes);
  DeviceBuffer(DeviceBuffer&&) noexcept;
  DeviceBuffer& operator=(DeviceBuffer&&) noexcept;
  ~DeviceBuffer();

  std::uint64_t address() const;
  std::size_t bytes() const;
  [[nodiscard]] Result<void> upload(const void* source, std::size_t bytes, std::size_t offset = 0,
                                    const SideStream* side = nullptr);
  [[nodiscard]] Result<void> download(void* destination, std::size_t bytes, std::size_t offset = 0,
                                      const SideStream* side = nullptr) const;
  [[nodiscard]] Result<void> fill(std::uint8_t byte, const SideStream* side = nullptr);

  struct State;  // private to the library

 private:
  explicit DeviceBuffer(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

// Waits for all work submitted to the engine's device.
[[nodiscard]] TMA_JIT_API Result<void> synchronize(Engine& engine);

struct MeasureOptions {
  int warmups = 3;
  int repeats = 30;
  bool flush_l2 = true;              // overwrite a buffer of twice the L2's size before every timed launch
  bool replay = false;               // replay each launch from a CUDA graph of its own; the emulator has no graphs
  int host_launches = 2000;          // launches that measure the host cost; 0: skip
  const SideStream* side = nullptr;  // for measure_in_turns beside the application's work, for which it does not wait;
                                     // null: waits for all work of the device, then uses a stream of its own
};

// Times in microseconds.
struct Measurement {
  double median_us = 0, min_us = 0, max_us = 0;  // device time of one launch, measured with events
  double host_us = 0;  // host time of one `launch` call, median over batches that never fill the queue
  int repeats = 0;
  bool flushed_l2 = false;
};
[[nodiscard]] TMA_JIT_API Result<Measurement> measure(Engine& engine, Launch& launch,
                                                      const MeasureOptions& options = {});

// Device times in microseconds, of each launch its time in each round.
using RoundTimes = std::vector<std::vector<double>>;
// Measures launches against each other: in each of `options.repeats` rounds every one is launched once, so that a
// change of the clocks during the measurement changes the times of all. Their host cost is not measured.
[[nodiscard]] TMA_JIT_API Result<RoundTimes> measure_in_turns(Engine& engine, std::span<Launch* const> launches,
                                                              const MeasureOptions& options = {});

}  // namespace tma_jit
