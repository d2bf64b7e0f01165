// The primary context of one device, and scopes in which it is current.
#pragma once

#include <cstdint>
#include <memory>

#include <tma_jit/device_info.h>

#include "driver/api.h"

namespace tma_jit::driver {

// Retains the context as long as the object exists. Does not make it current; see Scope.
class Context {
 public:
  // A table for a single device determines the ordinal; `ordinal` is then ignored.
  [[nodiscard]] static Result<std::shared_ptr<const Context>> open(SharedApi shared, int ordinal);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Api& api() const { return *api_; }
  CUcontext handle() const { return handle_; }
  CUdevice ordinal() const { return ordinal_; }
  const DeviceInfo& device() const { return device_; }

 private:
  Context(SharedApi api, CUdevice ordinal, CUcontext handle, DeviceInfo device)
      : api_(std::move(api)), ordinal_(ordinal), handle_(handle), device_(std::move(device)) {}

  SharedApi api_;
  CUdevice ordinal_;
  CUcontext handle_;
  DeviceInfo device_;
};
using SharedContext = std::shared_ptr<const Context>;

// Makes a context current on this thread and restores the caller's on destruction. Does nothing if the context is
// already current.
class Current {
 public:
  [[nodiscard]] static Result<Current> enter(const Context& context);
  ~Current();
  Current(Current&& other) noexcept : context_(std::exchange(other.context_, nullptr)) {}
  Current& operator=(Current&&) = delete;

 private:
  explicit Current(const Context* pushed) : context_(pushed) {}
  const Context* context_;  // null if nothing was pushed
};

// Like Current, and also permits allocating, loading and freeing while a stream of this thread captures a graph. These
// calls are not part of the graph, but in the default capture mode each would invalidate it.
class Scope {
 public:
  [[nodiscard]] static Result<Scope> enter(const Context& context);
  ~Scope();
  Scope(Scope&& other) noexcept
      : current_(std::move(other.current_)), api_(std::exchange(other.api_, nullptr)), mode_(other.mode_) {}
  Scope& operator=(Scope&&) = delete;

 private:
  Scope(Current current, const Api& api, CUstreamCaptureMode mode)
      : current_(std::move(current)), api_(&api), mode_(mode) {}
  Current current_;
  const Api* api_;
  CUstreamCaptureMode mode_;  // the caller's mode
};

// Fails if work on the default stream would invalidate a graph, because a stream that synchronises with the default
// stream is capturing one. `what` names the requested operation. The context must be current.
[[nodiscard]] Result<void> check_no_capture(const Context& context, std::string_view what);

// Which of the process's streams a handle means: CU_STREAM_PER_THREAD means another one in every thread. As a handle's
// number, one may come again after its stream has ended.
enum class StreamId : std::uint64_t {};
// Returns what the handle means in the calling thread.
[[nodiscard]] StreamId id_of(CUstream stream);

// Whether a stream captures a graph.
struct Capture {
  bool active = false;
  std::uint64_t id = 0;  // distinguishes captures; 0 where the driver has no such number
};
// A query that the driver refuses counts as a capture.
[[nodiscard]] Capture capture_of(const Context& context, CUstream stream);

}  // namespace tma_jit::driver
