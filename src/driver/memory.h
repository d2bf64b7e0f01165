// Owned device memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "driver/context.h"

namespace tma_jit::driver {

class Memory {
 public:
  // With 0 bytes, allocates nothing; the address is 0.
  [[nodiscard]] static Result<Memory> allocate(SharedContext context, std::size_t bytes);
  ~Memory();
  Memory(Memory&& other) noexcept
      : context_(std::move(other.context_)),
        address_(std::exchange(other.address_, 0)),
        bytes_(std::exchange(other.bytes_, 0)) {}
  Memory& operator=(Memory&& other) noexcept;

  std::uint64_t address() const { return address_; }
  std::size_t bytes() const { return bytes_; }
  const SharedContext& context() const { return context_; }

  // Complete when it returns. Uses a stream of its own, so that it waits for no work of the caller and disturbs no
  // capture.
  [[nodiscard]] Result<void> fill(std::uint8_t byte) const;

 private:
  Memory(SharedContext context, std::uint64_t address, std::size_t bytes)
      : context_(std::move(context)), address_(address), bytes_(bytes) {}
  SharedContext context_;
  std::uint64_t address_ = 0;
  std::size_t bytes_ = 0;
};

// A stream that does not synchronise with the legacy default stream; destroyed with the object. The context must be
// current when one is created.
class PrivateStream {
 public:
  [[nodiscard]] static Result<PrivateStream> create(const Context& context);
  ~PrivateStream();
  PrivateStream(PrivateStream&& other) noexcept
      : context_(other.context_), stream_(std::exchange(other.stream_, nullptr)) {}
  PrivateStream& operator=(PrivateStream&&) = delete;

  CUstream get() const { return stream_; }
  [[nodiscard]] Result<void> synchronize() const;

 private:
  PrivateStream(const Context& context, CUstream stream) : context_(&context), stream_(stream) {}
  const Context* context_;
  CUstream stream_;
};

}  // namespace tma_jit::driver
