#include "driver/context.h"

#include "driver/read_device.h"

namespace tma_jit::driver {
namespace {

Result<void> refuse_ordinal(const Api& api, int ordinal) {
  int count = 0;
  TMA_JIT_CHECK(checked(api, api.device_get_count(&count), "cuDeviceGetCount"));
  if (ordinal >= 0 && ordinal < count) return {};
  return failure(ErrorCode::not_found, ErrorReason::no_device, "no CUDA device {}: this process sees {} device{}",
                 ordinal, count, count == 1 ? " (0)" : "s");
}

}  // namespace

Result<SharedContext> Context::open(SharedApi shared, int ordinal) {
  const Api& api = *shared;
  if (api.only_device >= 0) ordinal = api.only_device;
  TMA_JIT_CHECK(refuse_ordinal(api, ordinal));
  CUdevice device = 0;
  TMA_JIT_CHECK(checked(api, api.device_get(&device, ordinal), "cuDeviceGet({})", ordinal));
  TMA_JIT_ASSIGN(DeviceInfo info, read_device(api, device));
  CUcontext handle = nullptr;
  TMA_JIT_CHECK(
      checked(api, api.device_primary_ctx_retain(&handle, device), "cuDevicePrimaryCtxRetain(device {})", ordinal));
  return SharedContext(new Context(std::move(shared), device, handle, std::move(info)));
}

Context::~Context() {
  api_->device_primary_ctx_release(ordinal_);
}

Result<Current> Current::enter(const Context& context) {
  const Api& api = context.api();
  CUcontext current = nullptr;
  TMA_JIT_CHECK(checked(api, api.ctx_get_current(&current), "cuCtxGetCurrent"));
  if (current == context.handle()) return Current(nullptr);
  TMA_JIT_CHECK(checked(api, api.ctx_push_current(context.handle()), "cuCtxPushCurrent"));
  return Current(&context);
}

Current::~Current() {
  CUcontext popped = nullptr;
  if (context_ != nullptr) context_->api().ctx_pop_current(&popped);
}

Result<Scope> Scope::enter(const Context& context) {
  TMA_JIT_ASSIGN(Current current, Current::enter(context));
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  const Api& api = context.api();
  TMA_JIT_CHECK(checked(api, api.thread_exchange_stream_capture_mode(&mode), "cuThreadExchangeStreamCaptureMode"));
  return Scope(std::move(current), api, mode);
}

// The query itself does not invalidate the capture (CUDA driver API, cuStreamIsCapturing).
Result<void> check_no_capture(const Context& context, std::string_view what) {
  const Api& api = context.api();
  CUstreamCaptureStatus status{};
  if (api.stream_is_capturing == nullptr) return {};
  if (api.stream_is_capturing(nullptr, &status) != CUDA_ERROR_STREAM_CAPTURE_IMPLICIT) return {};
  return failure(
      ErrorCode::driver,
      "{}: a stream of {} is capturing a graph, which work on the default stream would break; do this before the "
      "capture, or capture a stream made with CU_STREAM_NON_BLOCKING",
      what, context.device().name);
}

Scope::~Scope() {
  if (api_ != nullptr) api_->thread_exchange_stream_capture_mode(&mode_);
}

StreamId id_of(CUstream stream) {
  static thread_local char thread = 0;  // its address is no handle's
  return static_cast<StreamId>(stream == CU_STREAM_PER_THREAD ? reinterpret_cast<std::uint64_t>(&thread)
                                                              : reinterpret_cast<std::uint64_t>(stream));
}

Capture capture_of(const Context& context, CUstream stream) {
  const Api& api = context.api();
  if (api.stream_is_capturing == nullptr) return {};
  const auto current = Current::enter(context);
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  if (!current || api.stream_is_capturing(stream, &status) != CUDA_SUCCESS) return {.active = true};
  if (status == CU_STREAM_CAPTURE_STATUS_NONE) return {};
  cuuint64_t id = 0;
  if (api.stream_capture_info != nullptr) api.stream_capture_info(stream, &status, &id, nullptr, nullptr, nullptr);
  return {.active = true, .id = id};
}

}  // namespace tma_jit::driver
