// The primary context of one device, and the scope in which it is current.
#pragma once

#include <cstdint>
#include <memory>

#include <tma_jit/device_info.h>

#include "driver/api.h"

namespace tma_jit::driver {

// Retained for as long as the object lives. Never changes which context is current; that is Scope's.
class Context {
 public:
  // A table that is for one device has its own ordinal, and `ordinal` is not looked at.
  [[nodiscard]] static Result<std::shared_ptr<const Context>> open(SharedApi api, int ordinal);
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

// Makes a context current on this thread and puts the caller's back. Where the caller's is ours already, it pushes
// nothing.
class Current {
 public:
  [[nodiscard]] static Result<Current> enter(const Context& context);
  ~Current();
  Current(Current&& other) noexcept : context_(std::exchange(other.context_, nullptr)) {}
  Current& operator=(Current&&) = delete;

 private:
  explicit Current(const Context* pushed) : context_(pushed) {}
  const Context* context_;  // null when nothing was pushed
};

// Current, and also lets the thread allocate, load and free while one of its streams captures a graph: those calls are
// none of the graph's, and in the default capture mode each of them would break it.
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
  CUstreamCaptureMode mode_;  // the caller's
};

// Fails where work on the default stream would break a graph: a stream that waits for the default stream is capturing
// one. `what` is what was asked for. In the context's scope.
[[nodiscard]] Result<void> check_no_capture(const Context& context, std::string_view what);

}  // namespace tma_jit::driver
