// Device memory, synchronisation and timing for the public API.
#include <tma_jit/device.h>

#include "core/failure.h"
#include "driver/measure.h"
#include "driver/memory.h"
#include "engine/state.h"

namespace tma_jit {

struct DeviceBuffer::State {
  driver::Memory memory;
};

namespace {

Result<void> check_range(const driver::Memory& memory, std::string_view action, std::size_t bytes, std::size_t offset) {
  if (offset <= memory.bytes() && bytes <= memory.bytes() - offset) return {};
  return failure(ErrorCode::invalid_argument, "cannot {} {} bytes at offset {}: the buffer has {} bytes", action, bytes,
                 offset, memory.bytes());
}

}  // namespace

DeviceBuffer::DeviceBuffer(std::unique_ptr<State> state) : state_(std::move(state)) {}
DeviceBuffer::DeviceBuffer(DeviceBuffer&&) noexcept = default;
DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&&) noexcept = default;
DeviceBuffer::~DeviceBuffer() = default;

Result<DeviceBuffer> DeviceBuffer::allocate(Engine& engine, std::size_t bytes) {
  TMA_JIT_ASSIGN(const driver::SharedContext context, EngineInternals::state_of(engine).device.context());
  TMA_JIT_ASSIGN(driver::Memory memory, driver::Memory::allocate(context, bytes));
  return DeviceBuffer(std::make_unique<State>(State{std::move(memory)}));
}

std::uint64_t DeviceBuffer::address() const {
  return state_->memory.address();
}
std::size_t DeviceBuffer::bytes() const {
  return state_->memory.bytes();
}

// Synchronises, because a copy from pageable memory may return before the last bytes have reached the device.
Result<void> DeviceBuffer::upload(const void* source, std::size_t bytes, std::size_t offset, const SideStream* side) {
  TMA_JIT_CHECK(check_range(state_->memory, "upload", bytes, offset));
  if (bytes == 0) return {};
  const driver::Context& context = *state_->memory.context();
  TMA_JIT_ASSIGN([[maybe_unused]] const driver::Scope scope, driver::Scope::enter(context));
  const driver::Api& api = context.api();
  if (side != nullptr) {
    TMA_JIT_CHECK(driver::checked(api,
                                  api.memcpy_host_to_device_async(address() + offset, source, bytes, side->handle()),
                                  "cuMemcpyHtoDAsync({:#x}, {} bytes)", address() + offset, bytes));
    return side->synchronize();
  }
  TMA_JIT_CHECK(driver::check_no_capture(context, "upload"));
  TMA_JIT_CHECK(driver::checked(api, api.memcpy_host_to_device(address() + offset, source, bytes),
                                "cuMemcpyHtoD({:#x}, {} bytes)", address() + offset, bytes));
  return driver::checked(api, api.stream_synchronize(nullptr), "cuStreamSynchronize");
}

Result<void> DeviceBuffer::download(void* destination, std::size_t bytes, std::size_t offset,
                                    const SideStream* side) const {
  TMA_JIT_CHECK(check_range(state_->memory, "download", bytes, offset));
  if (bytes == 0) return {};
  const driver::Context& context = *state_->memory.context();
  TMA_JIT_ASSIGN([[maybe_unused]] const driver::Scope scope, driver::Scope::enter(context));
  const driver::Api& api = context.api();
  if (side != nullptr) {
    TMA_JIT_CHECK(
        driver::checked(api, api.memcpy_device_to_host_async(destination, address() + offset, bytes, side->handle()),
                        "cuMemcpyDtoHAsync({:#x}, {} bytes)", address() + offset, bytes));
    return side->synchronize();
  }
  TMA_JIT_CHECK(driver::check_no_capture(context, "download"));
  return driver::checked(api, api.memcpy_device_to_host(destination, address() + offset, bytes),
                         "cuMemcpyDtoH({:#x}, {} bytes)", address() + offset, bytes);
}

Result<void> DeviceBuffer::fill(std::uint8_t byte, const SideStream* side) {
  if (bytes() == 0) return {};
  const driver::Context& context = *state_->memory.context();
  TMA_JIT_ASSIGN([[maybe_unused]] const driver::Scope scope, driver::Scope::enter(context));
  if (side == nullptr) TMA_JIT_CHECK(driver::check_no_capture(context, "fill"));
  const driver::Api& api = context.api();
  const Stream stream = side != nullptr ? side->handle() : nullptr;
  TMA_JIT_CHECK(driver::checked(api, api.memset_d8_async(address(), byte, bytes(), stream),
                                "cuMemsetD8Async({:#x}, {}, {} bytes)", address(), byte, bytes()));
  return driver::checked(api, api.stream_synchronize(stream), "cuStreamSynchronize");
}

struct SideStream::State {
  driver::SharedContext context;
  driver::MeasureLane lane;
};

struct SideStreamInternals {
  static const driver::MeasureLane& lane_of(const SideStream& side) { return side.state_->lane; }
};

SideStream::SideStream(std::unique_ptr<State> state) : state_(std::move(state)) {}
SideStream::SideStream(SideStream&&) noexcept = default;
SideStream& SideStream::operator=(SideStream&&) noexcept = default;
SideStream::~SideStream() = default;

Result<SideStream> SideStream::create(Engine& engine, bool flush_l2) {
  TMA_JIT_ASSIGN(driver::SharedContext context, EngineInternals::state_of(engine).device.context());
  TMA_JIT_ASSIGN([[maybe_unused]] const driver::Scope scope, driver::Scope::enter(*context));
  TMA_JIT_ASSIGN(driver::MeasureLane lane, driver::make_lane(context, flush_l2));
  return SideStream(std::make_unique<State>(State{std::move(context), std::move(lane)}));
}

Stream SideStream::handle() const {
  return state_->lane.stream.get();
}

Result<void> SideStream::synchronize() const {
  TMA_JIT_ASSIGN([[maybe_unused]] const driver::Scope scope, driver::Scope::enter(*state_->context));
  return state_->lane.stream.synchronize();
}

Result<void> synchronize(Engine& engine) {
  TMA_JIT_ASSIGN(const driver::SharedContext context, EngineInternals::state_of(engine).device.context());
  TMA_JIT_ASSIGN([[maybe_unused]] const driver::Scope scope, driver::Scope::enter(*context));
  return driver::checked(context->api(), context->api().ctx_synchronize(), "cuCtxSynchronize");
}

Result<Measurement> measure(Engine& engine, Launch& launch, const MeasureOptions& options) {
  TMA_JIT_ASSIGN(const driver::SharedContext context, EngineInternals::state_of(engine).device.context());
  return driver::measure(context, launch, options);
}

Result<RoundTimes> measure_in_turns(Engine& engine, std::span<Launch* const> launches, const MeasureOptions& options) {
  TMA_JIT_ASSIGN(const driver::SharedContext context, EngineInternals::state_of(engine).device.context());
  if (options.side == nullptr) return driver::measure_in_turns(context, launches, options);
  return driver::measure_in_turns(context, SideStreamInternals::lane_of(*options.side), launches, options);
}

}  // namespace tma_jit
