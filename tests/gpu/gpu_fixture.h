// An engine on the first device with a cache of its own, buffers with values, and the driver calls that only tests
// make.
#pragma once

#include <dlfcn.h>
#include <numeric>
#include <vector>

#include <doctest/doctest.h>

#include <tma_jit/tma_jit.h>

#include "driver/context.h"
#include "support/engines.h"
#include "support/templates.h"

namespace tma_jit::testing {

#define TMA_JIT_REQUIRE_OK(...)                                     \
  do {                                                              \
    const auto& outcome_ = (__VA_ARGS__);                           \
    REQUIRE_MESSAGE(outcome_.has_value(), outcome_.error().text()); \
  } while (false)

// A function of libcuda that the library itself does not use.
template <class Function> Function* raw(const char* name) {
  static void* library = ::dlopen("libcuda.so.1", RTLD_NOW);
  void* function = ::dlsym(library, name);
  REQUIRE_MESSAGE(function != nullptr, name);
  return reinterpret_cast<Function*>(function);
}

inline const driver::Api& api() {
  return *driver::load().value();
}

inline CUcontext current_context() {
  CUcontext context = nullptr;
  api().ctx_get_current(&context);
  return context;
}

class Gpu {
 public:
  explicit Gpu(Options options = {}) : engine(made(std::move(options), folder, log)) {
    TMA_JIT_REQUIRE_OK(engine.add_template("scale.cu", kScale));
    TMA_JIT_REQUIRE_OK(engine.add_template("tile.cu", kTile));
    TMA_JIT_REQUIRE_OK(engine.add_template("rank.cu", kRank));
  }

  DeviceBuffer buffer(std::size_t bytes) {
    auto allocated = DeviceBuffer::allocate(engine, bytes);
    TMA_JIT_REQUIRE_OK(allocated);
    return *std::move(allocated);
  }
  template <class Value> DeviceBuffer buffer_of(const std::vector<Value>& values) {
    DeviceBuffer made_buffer = buffer(values.size() * sizeof(Value));
    TMA_JIT_REQUIRE_OK(made_buffer.upload(values.data(), values.size() * sizeof(Value)));
    return made_buffer;
  }
  template <class Value> std::vector<Value> values_of(const DeviceBuffer& from, std::size_t count) {
    TMA_JIT_REQUIRE_OK(synchronize(engine));
    std::vector<Value> values(count);
    TMA_JIT_REQUIRE_OK(from.download(values.data(), count * sizeof(Value)));
    return values;
  }
  Launch prepared(const Request& request) {
    auto launch = engine.prepare(request);
    TMA_JIT_REQUIRE_OK(launch);
    return *std::move(launch);
  }

  TemporaryFolder folder;
  TestLog log;
  Engine engine;

 private:
  static Engine made(Options options, const TemporaryFolder& folder, TestLog& log) {
    options.cache_dir = folder.path() / "cache";
    options.log = log.callback();
    return Engine(std::move(options));
  }
};

inline Tensor vector_of(const DeviceBuffer& buffer, std::int64_t extent, DType dtype = DType::f32) {
  return Tensor::row_major(buffer.address(), dtype, {extent});
}

inline Request scale_of(const DeviceBuffer& x, const DeviceBuffer& y, std::int64_t n) {
  return {.kernel = "scale", .tensors = {{"X", vector_of(x, n)}, {"Y", vector_of(y, n)}}, .scalars = {{"alpha", 2.0}}};
}

inline std::vector<float> ramp(std::size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 1.0F);
  return values;
}

// A stream of the device's primary context, which is current on this thread meanwhile.
class TestStream {
 public:
  explicit TestStream(Gpu& gpu, unsigned flags = CU_STREAM_NON_BLOCKING)
      : current_(driver::Current::enter(*EngineInternals::state_of(gpu.engine).device.context().value()).value()) {
    REQUIRE(api().stream_create(&stream_, flags) == CUDA_SUCCESS);
  }
  ~TestStream() { api().stream_destroy(stream_); }
  TestStream(const TestStream&) = delete;
  TestStream& operator=(const TestStream&) = delete;

  CUstream get() const { return stream_; }
  void wait() const { REQUIRE(api().stream_synchronize(stream_) == CUDA_SUCCESS); }

 private:
  driver::Current current_;
  CUstream stream_ = nullptr;
};

}  // namespace tma_jit::testing
