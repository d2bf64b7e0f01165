#include "driver/memory.h"

namespace tma_jit::driver {

Result<Memory> Memory::allocate(SharedContext context, std::size_t bytes) {
  if (bytes == 0) return Memory(std::move(context), 0, 0);
  TMA_JIT_ASSIGN([[maybe_unused]] const Scope scope, Scope::enter(*context));
  CUdeviceptr address = 0;
  const Api& api = context->api();
  TMA_JIT_CHECK(checked(api, api.mem_alloc(&address, bytes), "cuMemAlloc({} bytes)", bytes));
  return Memory(context, address, bytes);
}

Memory::~Memory() {
  if (address_ == 0) return;
  const auto scope = Scope::enter(*context_);
  if (scope) context_->api().mem_free(address_);
}

Memory& Memory::operator=(Memory&& other) noexcept {
  std::swap(context_, other.context_);
  std::swap(address_, other.address_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Result<void> Memory::fill(std::uint8_t byte) const {
  if (bytes_ == 0) return {};
  TMA_JIT_ASSIGN([[maybe_unused]] const Scope scope, Scope::enter(*context_));
  TMA_JIT_ASSIGN(const PrivateStream stream, PrivateStream::create(*context_));
  const Api& api = context_->api();
  TMA_JIT_CHECK(checked(api, api.memset_d8_async(address_, byte, bytes_, stream.get()),
                        "cuMemsetD8Async({:#x}, {}, {} bytes)", address_, byte, bytes_));
  return stream.synchronize();
}

Result<PrivateStream> PrivateStream::create(const Context& context) {
  CUstream stream = nullptr;
  const Api& api = context.api();
  TMA_JIT_CHECK(checked(api, api.stream_create(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate"));
  return PrivateStream(context, stream);
}

PrivateStream::~PrivateStream() {
  if (stream_ != nullptr) context_->api().stream_destroy(stream_);
}

Result<void> PrivateStream::synchronize() const {
  const Api& api = context_->api();
  return checked(api, api.stream_synchronize(stream_), "cuStreamSynchronize");
}

}  // namespace tma_jit::driver
