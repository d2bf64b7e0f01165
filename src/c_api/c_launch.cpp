// Launches, functions, device memory and measurements for C.
#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <string>
#include <string_view>

#include <tma_jit/json.h>
#include <tma_jit/lost_arrival.h>

#include "c_api/c_handles.h"

namespace {

using namespace tma_jit::c_api;
using tma_jit::MeasureOptions;
using tma_jit::Result;
using tma_jit::Scalar;
using tma_jit::Tensor;

// More tensors than any function takes; the call itself rejects a wrong number with an error that names it.
constexpr size_t kTensorsMax = 64;

// A call for each launch: texts are made only for errors.
Result<void> call(std::string_view caller, tma_jit_function& function, const tma_jit_tensor* tensors, size_t count,
                  const tma_jit_call_options& options) {
  const auto by = [&] { return std::string(caller) + ": "; };
  if (tensors == nullptr && count > 0) return invalid(by() + "tensors is NULL");
  std::array<Tensor, kTensorsMax> views;
  if (count > views.size()) return invalid(by() + std::to_string(count) + " tensors; no function takes more than 32");
  for (size_t i = 0; i < count; ++i) {
    auto view = tensor_of(tensors[i], "a tensor");
    if (!view) return invalid(by() + "tensors[" + std::to_string(i) + "]: " + by() + view.error().message);
    views[i] = *view;
  }
  if (options.scalars == nullptr && options.scalar_count > 0) return invalid(by() + "scalars is NULL");
  std::map<std::string, Scalar> values;
  for (size_t i = 0; i < options.scalar_count; ++i) {
    const tma_jit_scalar& scalar = options.scalars[i];
    const auto which = [&] { return by() + "scalars[" + std::to_string(i) + "]: "; };
    if (scalar.name == nullptr) return invalid(which() + "name is NULL");
    switch (scalar.kind) {
      case TMA_JIT_SCALAR_INTEGER: values[scalar.name] = std::int64_t{scalar.integer}; break;
      case TMA_JIT_SCALAR_UNSIGNED: values[scalar.name] = std::uint64_t{scalar.unsigned_integer}; break;
      case TMA_JIT_SCALAR_REAL: values[scalar.name] = scalar.real; break;
      default: return invalid(which() + "kind is " + std::to_string(scalar.kind) + "; it is 0, 1 or 2");
    }
  }
  return function.function(views.data(), count, values, options.stream);
}

Result<tma_jit::Launch> load(tma_jit_engine& engine, const char* plan_json, const void* kernel, size_t bytes) {
  const auto plan = tma_jit::parse_plan(plan_json);
  if (!plan) return tl::make_unexpected(plan.error());
  const auto* const begin = static_cast<const std::byte*>(kernel);
  return engine.engine.load(*plan, {begin, begin + bytes});
}

// Returns an option's value, or the default if it is 0.
Result<int> choice(const char* field, int32_t given, int by_default, bool may_be_none) {
  if (given > 0) return given;
  if (given == 0) return by_default;
  if (given == TMA_JIT_NONE && may_be_none) return 0;
  return invalid("tma_jit_measure_options: " + std::string(field) + " is " + std::to_string(given));
}

Result<MeasureOptions> measure_options_of(const tma_jit_measure_options* from) {
  auto given = read_struct(from, "tma_jit_measure_options");
  if (!given) return tl::make_unexpected(std::move(given).error());
  MeasureOptions options;
  const auto warmups = choice("warmups", given->warmups, options.warmups, true);
  const auto repeats = choice("repeats", given->repeats, options.repeats, false);
  const auto host_launches = choice("host_launches", given->host_launches, options.host_launches, true);
  for (const auto* number : {&warmups, &repeats, &host_launches}) {
    if (!*number) return tl::make_unexpected(number->error());
  }
  options.warmups = *warmups;
  options.repeats = *repeats;
  options.host_launches = *host_launches;
  options.flush_l2 = given->keep_l2 == 0;
  return options;
}

Result<void> measure(tma_jit_engine& engine, tma_jit_launch& launch, const tma_jit_measure_options* options,
                     tma_jit_measurement* out) {
  const auto chosen = measure_options_of(options);
  if (!chosen) return tl::make_unexpected(chosen.error());
  const auto made = tma_jit::measure(engine.engine, launch.launch, *chosen);
  if (!made) return tl::make_unexpected(made.error());
  return write_struct(
      {0, made->median_us, made->min_us, made->max_us, made->host_us, made->repeats, made->flushed_l2 ? 1 : 0}, out,
      "tma_jit_measurement");
}

}  // namespace

tma_jit_status tma_jit_prepare(tma_jit_engine* engine, const tma_jit_request* request, tma_jit_launch** out,
                               tma_jit_error** error) {
  return making(__func__, error, {{"engine", engine}, {"request", request}}, out,
                handle_of<tma_jit_launch>([&] { return engine->engine.prepare(request->request); }));
}

tma_jit_status tma_jit_prepare_plan(tma_jit_engine* engine, const tma_jit_plan* plan, tma_jit_launch** out,
                                    tma_jit_error** error) {
  return making(__func__, error, {{"engine", engine}, {"plan", plan}}, out,
                handle_of<tma_jit_launch>([&] { return engine->engine.prepare(plan->plan); }));
}

// NOLINTNEXTLINE(readability-function-size): the bytes are two parameters
tma_jit_status tma_jit_load(tma_jit_engine* engine, const char* plan_json, const void* kernel, size_t bytes,
                            tma_jit_launch** out, tma_jit_error** error) {
  return making(__func__, error, {{"engine", engine}, {"plan_json", plan_json}, {"kernel", kernel}}, out,
                handle_of<tma_jit_launch>([&] { return load(*engine, plan_json, kernel, bytes); }));
}

void tma_jit_launch_free(tma_jit_launch* launch) {
  delete launch;
}

tma_jit_status tma_jit_launch_run(tma_jit_launch* launch, tma_jit_stream stream, tma_jit_error** error) {
  return guarded(__func__, error, {{"launch", launch}}, [&] { return launch->launch.launch(stream); });
}

tma_jit_status tma_jit_launch_rebind(tma_jit_launch* launch, const char* name, uint64_t address,
                                     tma_jit_error** error) {
  return guarded(__func__, error, {{"launch", launch}, {"name", name}},
                 [&] { return launch->launch.rebind(name, std::uint64_t{address}); });
}

const tma_jit_plan* tma_jit_launch_plan(const tma_jit_launch* launch) {
  return launch != nullptr ? &launch->plan : nullptr;
}

const tma_jit_artifact* tma_jit_launch_artifact(const tma_jit_launch* launch) {
  return launch != nullptr ? &launch->artifact : nullptr;
}

tma_jit_status tma_jit_function_create(tma_jit_engine* engine, const tma_jit_request* request, tma_jit_function** out,
                                       tma_jit_error** error) {
  return making(__func__, error, {{"engine", engine}, {"request", request}}, out,
                handle_of<tma_jit_function>([&] { return engine->engine.function(request->request); }));
}

void tma_jit_function_free(tma_jit_function* function) {
  delete function;
}

tma_jit_status tma_jit_function_call(tma_jit_function* function, const tma_jit_tensor* tensors, size_t count,
                                     tma_jit_stream stream, tma_jit_error** error) {
  return guarded(__func__, error, {{"function", function}}, [&, caller = __func__] {
    return call(caller, *function, tensors, count, {sizeof(tma_jit_call_options), stream, nullptr, 0});
  });
}

tma_jit_status tma_jit_function_call_with(tma_jit_function* function, const tma_jit_tensor* tensors, size_t count,
                                          const tma_jit_call_options* options, tma_jit_error** error) {
  return guarded(__func__, error, {{"function", function}}, [&, caller = __func__]() -> Result<void> {
    const auto given = read_struct(options, "tma_jit_call_options");
    if (!given) return tl::make_unexpected(given.error());
    return call(caller, *function, tensors, count, *given);
  });
}

tma_jit_status tma_jit_buffer_create(tma_jit_engine* engine, size_t bytes, tma_jit_buffer** out,
                                     tma_jit_error** error) {
  return making(__func__, error, {{"engine", engine}}, out,
                handle_of<tma_jit_buffer>([&] { return tma_jit::DeviceBuffer::allocate(engine->engine, bytes); }));
}

void tma_jit_buffer_free(tma_jit_buffer* buffer) {
  delete buffer;
}

uint64_t tma_jit_buffer_address(const tma_jit_buffer* buffer) {
  return buffer != nullptr ? buffer->buffer.address() : 0;
}

size_t tma_jit_buffer_bytes(const tma_jit_buffer* buffer) {
  return buffer != nullptr ? buffer->buffer.bytes() : 0;
}

tma_jit_status tma_jit_buffer_upload(tma_jit_buffer* buffer, const void* source, size_t bytes, size_t offset,
                                     tma_jit_error** error) {
  return guarded(__func__, error, {{"buffer", buffer}}, [&]() -> Result<void> {
    if (source == nullptr && bytes > 0) return invalid("tma_jit_buffer_upload: source is NULL");
    return buffer->buffer.upload(source, bytes, offset);
  });
}

tma_jit_status tma_jit_buffer_download(const tma_jit_buffer* buffer, void* destination, size_t bytes, size_t offset,
                                       tma_jit_error** error) {
  return guarded(__func__, error, {{"buffer", buffer}}, [&]() -> Result<void> {
    if (destination == nullptr && bytes > 0) return invalid("tma_jit_buffer_download: destination is NULL");
    return buffer->buffer.download(destination, bytes, offset);
  });
}

tma_jit_status tma_jit_buffer_fill(tma_jit_buffer* buffer, uint8_t byte, tma_jit_error** error) {
  return guarded(__func__, error, {{"buffer", buffer}}, [&] { return buffer->buffer.fill(byte); });
}

tma_jit_status tma_jit_synchronize(tma_jit_engine* engine, tma_jit_error** error) {
  return guarded(__func__, error, {{"engine", engine}}, [&] { return tma_jit::synchronize(engine->engine); });
}

tma_jit_status tma_jit_check_lost_arrival(const uint32_t* record, tma_jit_error** error) {
  return guarded(__func__, error, {{"record", record}}, [&] {
    std::array<uint32_t, 8> words;
    std::copy_n(record, words.size(), words.begin());
    return tma_jit::check(std::bit_cast<tma_jit::LostArrival>(words));
  });
}

tma_jit_status tma_jit_measure(tma_jit_engine* engine, tma_jit_launch* launch, const tma_jit_measure_options* options,
                               tma_jit_measurement* out, tma_jit_error** error) {
  return guarded(__func__, error, {{"engine", engine}, {"launch", launch}, {"out", out}},
                 [&] { return measure(*engine, *launch, options, out); });
}
