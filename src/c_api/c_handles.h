// What the files of the C API share: the handles, the wrapper around every function, and versioned structs.
#pragma once

#include <cxxabi.h>
#include <cstring>
#include <initializer_list>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tma_jit/c.h>
#include <tma_jit/cache.h>
#include <tma_jit/device.h>
#include <tma_jit/engine.h>

// NOLINTBEGIN(readability-identifier-naming): as c.h names them
struct tma_jit_error {
  tma_jit_status code;
  tma_jit_reason reason;
  std::string message, detail, suggestion, text;
};
struct tma_jit_engine {
  explicit tma_jit_engine(tma_jit::Engine made) : engine(std::move(made)), cache_dir(engine.cache_dir().string()) {}
  tma_jit::Engine engine;
  std::string cache_dir;
};
struct tma_jit_request {
  tma_jit::Request request;
};
struct tma_jit_presets {
  std::vector<tma_jit_request> requests;
};
struct tma_jit_plan {
  tma_jit::Plan plan;
};
struct tma_jit_source {
  tma_jit::Source source;
};
struct tma_jit_artifact {
  explicit tma_jit_artifact(tma_jit::Artifact built) : artifact(std::move(built)), key(artifact.key.hex()) {}
  tma_jit::Artifact artifact;
  std::string key;
};
struct tma_jit_launch {
  explicit tma_jit_launch(tma_jit::Launch prepared)
      : launch(std::move(prepared)), plan{launch.plan()}, artifact(launch.artifact()) {}
  tma_jit::Launch launch;
  tma_jit_plan plan;
  tma_jit_artifact artifact;
};
struct tma_jit_chain {
  explicit tma_jit_chain(tma_jit::Chain prepared) : chain(std::move(prepared)) {
    for (std::size_t i = 0; i < chain.size(); ++i) plans.push_back({chain[i].plan()});
  }
  tma_jit::Chain chain;
  std::vector<tma_jit_plan> plans;
};
struct tma_jit_preparation {
  tma_jit::Preparation preparation;
};
struct tma_jit_function {
  tma_jit::Function function;
};
struct tma_jit_buffer {
  tma_jit::DeviceBuffer buffer;
};
struct tma_jit_cache_entry {
  tma_jit::CacheEntry entry;
};
// NOLINTEND(readability-identifier-naming)

namespace tma_jit::c_api {

// An argument that must not be NULL.
struct Given {
  const char* name;
  const void* pointer;
};

[[nodiscard]] tl::unexpected<Error> invalid(std::string message);

// Stores the error for the caller unless `error` is NULL. Never throws.
tma_jit_status report(tma_jit_error** error, Error failed) noexcept;
tma_jit_status report(tma_jit_error** error, tma_jit_status code, std::string_view what) noexcept;
tma_jit_status refuse_null(const char* function, const char* name, tma_jit_error** error) noexcept;

// Runs a function's body, which returns Result<void>, and converts any failure or exception to a status. The unwinding
// of a cancelled thread passes through.
template <class Body>
tma_jit_status guarded(const char* function, tma_jit_error** error, std::initializer_list<Given> required,
                       Body&& body) {
  if (error != nullptr) *error = nullptr;
  for (const Given& given : required) {
    if (given.pointer == nullptr) return refuse_null(function, given.name, error);
  }
  try {
    Result<void> done = body();
    if (done) [[likely]]
      return TMA_JIT_OK;
    return report(error, std::move(done).error());
  } catch (const abi::__forced_unwind&) {
    throw;
  } catch (const std::bad_alloc&) {
    return report(error, TMA_JIT_NO_MEMORY, "the host has no memory left");
  } catch (const std::exception& fault) {
    return report(error, TMA_JIT_INTERNAL, fault.what());
  } catch (...) {
    return report(error, TMA_JIT_INTERNAL, "an exception of no known type");
  }
}

// The same for a function that creates an object: `body` returns a Result, and `keep` converts its value to the
// caller's handle.
template <class Made, class Body, class Keep>
tma_jit_status making(const char* function, tma_jit_error** error, std::initializer_list<Given> required, Made** out,
                      std::pair<Body, Keep> parts) {
  if (out != nullptr) *out = nullptr;
  if (out == nullptr) return refuse_null(function, "out", error);
  return guarded(function, error, required, [&]() -> Result<void> {
    auto made = parts.first();
    if (!made) return tl::make_unexpected(std::move(made).error());
    *out = parts.second(*std::move(made));
    return {};
  });
}

// Returns a string that the caller owns.
char* copy_of(std::string_view text);

template <class Handle, class Body> auto handle_of(Body body) {
  return std::pair(std::move(body), [](auto&& made) { return new Handle{std::forward<decltype(made)>(made)}; });
}
template <class Body> auto string_of(Body body) {
  return std::pair(std::move(body), [](const std::string& made) { return copy_of(made); });
}

[[nodiscard]] Result<void> refuse_struct_size(const char* type, std::size_t size, std::size_t known);

// Reads a caller's struct into this library's version of it: fields that the caller's version lacks become zero.
template <class Struct> [[nodiscard]] Result<Struct> read_struct(const Struct* given, const char* type) {
  Struct own{};
  if (given == nullptr) return own;
  const std::size_t size = given->size;
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  bool unknown = size < sizeof size;
  for (std::size_t i = sizeof(Struct); i < size && !unknown; ++i) unknown = bytes[i] != 0;
  if (unknown) {
    auto refused = refuse_struct_size(type, size, sizeof(Struct));
    return tl::make_unexpected(std::move(refused).error());
  }
  std::memcpy(&own, given, size < sizeof(Struct) ? size : sizeof(Struct));
  return own;
}

// Writes as much of the struct as the caller's version has; fields that the library's version lacks become zero.
template <class Struct> [[nodiscard]] Result<void> write_struct(Struct made, Struct* out, const char* type) {
  const std::size_t size = out->size;
  if (size < sizeof size) return refuse_struct_size(type, size, sizeof(Struct));
  made.size = size;
  auto* bytes = reinterpret_cast<unsigned char*>(out);
  if (size > sizeof(Struct)) std::memset(bytes + sizeof(Struct), 0, size - sizeof(Struct));
  std::memcpy(bytes, &made, size < sizeof(Struct) ? size : sizeof(Struct));
  return {};
}

[[nodiscard]] Result<DType> dtype_of(tma_jit_dtype dtype);
// `name` is the tensor's name in errors.
[[nodiscard]] Result<Tensor> tensor_of(const tma_jit_tensor& tensor, std::string_view name);
// `function` is named in errors.
[[nodiscard]] Result<std::vector<Request>> requests_of(const tma_jit_request* const* given, size_t count,
                                                       std::string_view function);
tma_jit_device_info device_info_of(const DeviceInfo& device);
DeviceInfo device_of(const tma_jit_device_info& info);

}  // namespace tma_jit::c_api
