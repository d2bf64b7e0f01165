// What the whole C API uses: versions, errors, strings, types, tensors and devices by name.
#include "c_api/c_handles.h"

#include <array>
#include <cstdlib>

#include "core/fields.h"

namespace {

using tma_jit::DType;
using tma_jit::Error;
using tma_jit::ErrorCode;
using tma_jit::Result;

static_assert(TMA_JIT_VERSION == TMA_JIT_PROJECT_VERSION, "c.h and CMakeLists.txt disagree about the version");

constexpr tma_jit_status status_of(ErrorCode code) {
  return static_cast<tma_jit_status>(code) + 1;
}
static_assert(status_of(ErrorCode::invalid_argument) == TMA_JIT_INVALID_ARGUMENT);
static_assert(status_of(ErrorCode::not_found) == TMA_JIT_NOT_FOUND);
static_assert(status_of(ErrorCode::parse) == TMA_JIT_PARSE);
static_assert(status_of(ErrorCode::no_config) == TMA_JIT_NO_CONFIG);
static_assert(status_of(ErrorCode::unsupported) == TMA_JIT_UNSUPPORTED);
static_assert(status_of(ErrorCode::compile) == TMA_JIT_COMPILE);
static_assert(status_of(ErrorCode::nvrtc) == TMA_JIT_NVRTC);
static_assert(status_of(ErrorCode::driver) == TMA_JIT_DRIVER);
static_assert(status_of(ErrorCode::io) == TMA_JIT_IO);
static_assert(status_of(ErrorCode::crash) == TMA_JIT_CRASH);
static_assert(status_of(ErrorCode::sealed) == TMA_JIT_SEALED);
static_assert(status_of(ErrorCode::cancelled) == TMA_JIT_CANCELLED);

constexpr std::array kDTypes = {DType::u8,  DType::s8,  DType::u16,  DType::s16, DType::u32, DType::s32,  DType::u64,
                                DType::s64, DType::f16, DType::bf16, DType::f32, DType::f64, DType::e4m3, DType::e5m2};
constexpr bool numbered_alike() {
  for (std::size_t i = 0; i < kDTypes.size(); ++i) {
    if (static_cast<std::size_t>(kDTypes[i]) != i) return false;
  }
  return static_cast<int>(DType::bf16) == TMA_JIT_BF16 && static_cast<int>(DType::e5m2) == TMA_JIT_E5M2;
}
static_assert(numbered_alike());
static_assert(static_cast<int>(tma_jit::ErrorReason::crashed_before) == TMA_JIT_REASON_CRASHED_BEFORE);
static_assert(TMA_JIT_MAX_RANK == tma_jit::kMaxRank);
static_assert(sizeof(tma_jit_tensor) == 96);

// Static, because it reports that no memory is left; freeing it does nothing.
tma_jit_error no_memory{TMA_JIT_NO_MEMORY,
                        TMA_JIT_REASON_UNSPECIFIED,
                        "the host has no memory left",
                        {},
                        {},
                        "no_memory: the host has no memory left"};

const std::vector<std::string>& devices() {
  static const std::vector<std::string> names = tma_jit::known_devices();
  return names;
}

tma_jit_status keep(tma_jit_error** error, tma_jit_error made) {
  const tma_jit_status code = made.code;
  if (error != nullptr) *error = new tma_jit_error(std::move(made));
  return code;
}

// Sets a tensor's shape and packed row-major strides.
Result<void> pack(tma_jit_tensor& tensor, const int64_t* shape) {
  using tma_jit::c_api::invalid;
  const std::string function = "tma_jit_tensor_row_major";
  if (auto usable = tma_jit::c_api::tensor_of(tensor, function); !usable) {
    return tl::make_unexpected(std::move(usable).error());
  }
  if (shape == nullptr && tensor.rank > 0) return invalid(function + ": shape is NULL");
  int64_t stride = 1;
  for (int32_t i = tensor.rank; i-- > 0;) {
    if (shape[i] < 0) return invalid(function + ": an extent of " + std::to_string(shape[i]));
    tensor.shape[i] = shape[i];
    tensor.strides[i] = stride;
    if (__builtin_mul_overflow(stride, std::max<int64_t>(shape[i], 1), &stride)) {
      return invalid(function + ": more elements than 64 bits can count");
    }
  }
  return {};
}

template <std::size_t kSize> void copy_text(char (&to)[kSize], std::string_view from) {
  const std::size_t length = std::min(from.size(), kSize - 1);
  std::memcpy(to, from.data(), length);
  to[length] = 0;
}

template <std::size_t kSize> std::string text_in(const char (&from)[kSize]) {
  return {from, ::strnlen(from, kSize)};
}

}  // namespace

namespace tma_jit::c_api {

tl::unexpected<Error> invalid(std::string message) {
  return tl::make_unexpected(Error{ErrorCode::invalid_argument, std::move(message), {}});
}

tma_jit_status report(tma_jit_error** error, Error failed) noexcept {
  try {
    std::string text = failed.text();
    return keep(error, {status_of(failed.code), static_cast<tma_jit_reason>(failed.reason), std::move(failed.message),
                        std::move(failed.detail), std::move(failed.suggestion), std::move(text)});
  } catch (...) {
    if (error != nullptr) *error = &no_memory;
    return TMA_JIT_NO_MEMORY;
  }
}

tma_jit_status report(tma_jit_error** error, tma_jit_status code, std::string_view what) noexcept {
  try {
    return keep(error, {code,
                        TMA_JIT_REASON_UNSPECIFIED,
                        std::string(what),
                        {},
                        {},
                        std::string(tma_jit_status_name(code)) + ": " + std::string(what)});
  } catch (...) {
    if (error != nullptr) *error = &no_memory;
    return TMA_JIT_NO_MEMORY;
  }
}

tma_jit_status refuse_null(const char* function, const char* name, tma_jit_error** error) noexcept {
  try {
    return report(error, TMA_JIT_INVALID_ARGUMENT, std::string(function) + ": " + name + " is NULL");
  } catch (...) {
    return report(error, TMA_JIT_INVALID_ARGUMENT, name);
  }
}

char* copy_of(std::string_view text) {
  auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.data(), text.size());
  copy[text.size()] = 0;
  return copy;
}

Result<void> refuse_struct_size(const char* type, std::size_t size, std::size_t known) {
  if (size < sizeof size) {
    return invalid(std::string(type) + ": size is " + std::to_string(size) + "; set it to sizeof(" + type + ")");
  }
  return invalid(std::string(type) + ": a field that this library does not know is set: its size is " +
                 std::to_string(size) + " bytes here, and this library knows " + std::to_string(known));
}

Result<DType> dtype_of(tma_jit_dtype dtype) {
  if (dtype >= 0 && static_cast<std::size_t>(dtype) < kDTypes.size()) return kDTypes[static_cast<std::size_t>(dtype)];
  return invalid("there is no tma_jit_dtype " + std::to_string(dtype) + "; they are 0 to " +
                 std::to_string(kDTypes.size() - 1));
}

Result<Tensor> tensor_of(const tma_jit_tensor& tensor, std::string_view name) {
  auto dtype = dtype_of(tensor.dtype);
  if (!dtype) return invalid(std::string(name) + ": " + dtype.error().message);
  if (tensor.rank < 0 || tensor.rank > TMA_JIT_MAX_RANK) {
    return invalid(std::string(name) + ": rank " + std::to_string(tensor.rank) + "; tensors have 0 to " +
                   std::to_string(TMA_JIT_MAX_RANK) + " dimensions");
  }
  return Tensor::strided(tensor.address, *dtype, tensor.rank, tensor.shape, tensor.strides);
}

Result<std::vector<Request>> requests_of(const tma_jit_request* const* given, size_t count, std::string_view function) {
  if (given == nullptr && count > 0) return invalid(std::string(function) + ": requests is NULL");
  std::vector<Request> requests;
  for (size_t i = 0; i < count; ++i) {
    if (given[i] == nullptr) {
      return invalid(std::string(function) + ": requests[" + std::to_string(i) + "] is NULL");
    }
    requests.push_back(given[i]->request);
  }
  return requests;
}

tma_jit_device_info device_info_of(const DeviceInfo& device) {
  tma_jit_device_info info{};
  copy_text(info.name, device.name);
  copy_text(info.arch, device.arch);
  each_device_number([](const char*, auto& to, const auto& from) { to = from; }, info, device);
  return info;
}

DeviceInfo device_of(const tma_jit_device_info& info) {
  DeviceInfo device;
  device.name = text_in(info.name);
  device.arch = text_in(info.arch);
  each_device_number(
      [](const char*, auto& to, const auto& from) { to = static_cast<std::remove_reference_t<decltype(to)>>(from); },
      device, info);
  return device;
}

}  // namespace tma_jit::c_api

using namespace tma_jit::c_api;

int32_t tma_jit_version(void) {
  return TMA_JIT_VERSION;
}

const char* tma_jit_status_name(tma_jit_status status) {
  if (status == TMA_JIT_OK) return "ok";
  if (status == TMA_JIT_NO_MEMORY) return "no_memory";
  if (status == TMA_JIT_INTERNAL) return "internal";
  if (status < TMA_JIT_INVALID_ARGUMENT || status > TMA_JIT_CANCELLED) return "unknown";
  return tma_jit::name_of(static_cast<ErrorCode>(status - 1)).data();  // a literal, so that it ends with a zero byte
}

tma_jit_status tma_jit_error_code(const tma_jit_error* error) {
  return error != nullptr ? error->code : TMA_JIT_OK;
}
const char* tma_jit_error_message(const tma_jit_error* error) {
  return error != nullptr ? error->message.c_str() : "";
}
const char* tma_jit_error_detail(const tma_jit_error* error) {
  return error != nullptr ? error->detail.c_str() : "";
}
tma_jit_reason tma_jit_error_reason(const tma_jit_error* error) {
  return error != nullptr ? error->reason : TMA_JIT_REASON_UNSPECIFIED;
}
const char* tma_jit_reason_name(tma_jit_reason reason) {
  if (reason < 0 || reason > TMA_JIT_REASON_CRASHED_BEFORE) return "unknown";
  return tma_jit::name_of(static_cast<tma_jit::ErrorReason>(reason)).data();
}
const char* tma_jit_error_suggestion(const tma_jit_error* error) {
  return error != nullptr ? error->suggestion.c_str() : "";
}
const char* tma_jit_error_text(const tma_jit_error* error) {
  return error != nullptr ? error->text.c_str() : "";
}
void tma_jit_error_free(tma_jit_error* error) {
  if (error != &no_memory) delete error;
}

void tma_jit_string_free(char* string) {
  std::free(string);
}

const char* tma_jit_dtype_name(tma_jit_dtype dtype) {
  const auto known = dtype_of(dtype);
  return known ? tma_jit::name_of(*known).data() : nullptr;
}

size_t tma_jit_dtype_size(tma_jit_dtype dtype) {
  const auto known = dtype_of(dtype);
  return known ? tma_jit::size_of(*known) : 0;
}

tma_jit_status tma_jit_dtype_named(const char* name, tma_jit_dtype* out, tma_jit_error** error) {
  return guarded(__func__, error, {{"name", name}, {"out", out}}, [&]() -> Result<void> {
    const auto known = tma_jit::dtype_named(name);
    if (!known)
      return tl::make_unexpected(Error{ErrorCode::not_found, "no type is named \"" + std::string(name) + "\"", {}});
    *out = static_cast<tma_jit_dtype>(*known);
    return {};
  });
}

// NOLINTNEXTLINE(readability-function-size): what makes a tensor
tma_jit_status tma_jit_tensor_row_major(uint64_t address, tma_jit_dtype dtype, int32_t rank, const int64_t* shape,
                                        tma_jit_tensor* out, tma_jit_error** error) {
  return guarded(__func__, error, {{"out", out}}, [&]() -> Result<void> {
    tma_jit_tensor made{address, dtype, rank, {}, {}};
    if (auto filled = pack(made, shape); !filled) return filled;
    *out = made;
    return {};
  });
}

size_t tma_jit_known_device_count(void) {
  return devices().size();
}

const char* tma_jit_known_device(size_t index) {
  return index < devices().size() ? devices()[index].c_str() : nullptr;
}

tma_jit_status tma_jit_device_named(const char* name, tma_jit_device_info* out, tma_jit_error** error) {
  return guarded(__func__, error, {{"name", name}, {"out", out}}, [&]() -> Result<void> {
    const auto device = tma_jit::device_named(name);
    if (!device) return tl::make_unexpected(device.error());
    return write_struct(device_info_of(*device), out, "tma_jit_device_info");
  });
}

tma_jit_status tma_jit_normalise_arch(const char* arch, char** out, tma_jit_error** error) {
  return making(__func__, error, {{"arch", arch}}, out, string_of([&] { return tma_jit::normalise_arch(arch); }));
}
