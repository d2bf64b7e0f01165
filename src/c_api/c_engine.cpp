// Engines for C.
#include <tma_jit/compile_worker.h>
#include <tma_jit/json.h>

#include "c_api/c_options.h"
#include "core/fields.h"

namespace {

using namespace tma_jit::c_api;
using tma_jit::Engine;
using tma_jit::Result;

tma_jit_stats stats_of(const tma_jit::Stats& stats) {
  tma_jit_stats made{};
  const auto copy = [](const char*, auto& to, const auto& from) { to = from; };
  tma_jit::each_counter(copy, made, stats);
  tma_jit::each_cache_counter(copy, made, stats.cache);
  return made;
}

void append(std::string& list, const std::string& object) {
  if (!list.empty()) list += ',';
  list += object;
}

// An engine's constructor can report a failure only by an exception.
Result<Engine> make_engine(const tma_jit_options* given) {
  auto options = options_of(given);
  if (!options) return tl::make_unexpected(std::move(options).error());
  return Engine(*std::move(options));
}

}  // namespace

tma_jit_status tma_jit_engine_create(const tma_jit_options* options, tma_jit_engine** out, tma_jit_error** error) {
  return making(__func__, error, {}, out, handle_of<tma_jit_engine>([&] { return make_engine(options); }));
}

void tma_jit_engine_free(tma_jit_engine* engine) {
  delete engine;
}

tma_jit_status tma_jit_engine_add_template(tma_jit_engine* engine, const char* name, const char* text,
                                           tma_jit_error** error) {
  return guarded(__func__, error, {{"engine", engine}, {"name", name}, {"text", text}},
                 [&] { return engine->engine.add_template(name, text); });
}

tma_jit_status tma_jit_engine_add_template_file(tma_jit_engine* engine, const char* path, tma_jit_error** error) {
  return guarded(__func__, error, {{"engine", engine}, {"path", path}},
                 [&] { return engine->engine.add_template_file(path); });
}

tma_jit_status tma_jit_engine_seal(tma_jit_engine* engine, tma_jit_seal seal, tma_jit_error** error) {
  return guarded(__func__, error, {{"engine", engine}}, [&]() -> Result<void> {
    const auto wanted = seal_of(seal);
    if (!wanted) return tl::make_unexpected(wanted.error());
    engine->engine.seal(*wanted);
    return {};
  });
}

tma_jit_status tma_jit_engine_device(tma_jit_engine* engine, tma_jit_device_info* out, tma_jit_error** error) {
  return guarded(__func__, error, {{"engine", engine}, {"out", out}}, [&]() -> Result<void> {
    const auto device = engine->engine.device();
    if (!device) return tl::make_unexpected(device.error());
    return write_struct(device_info_of(*device), out, "tma_jit_device_info");
  });
}

tma_jit_status tma_jit_engine_stats(tma_jit_engine* engine, tma_jit_stats* out, tma_jit_error** error) {
  return guarded(__func__, error, {{"engine", engine}, {"out", out}},
                 [&] { return write_struct(stats_of(engine->engine.stats()), out, "tma_jit_stats"); });
}

const char* tma_jit_engine_cache_dir(const tma_jit_engine* engine) {
  return engine != nullptr ? engine->cache_dir.c_str() : nullptr;
}

tma_jit_status tma_jit_engine_environment_json(tma_jit_engine* engine, char** out, tma_jit_error** error) {
  return making(__func__, error, {{"engine", engine}}, out,
                string_of([&]() -> Result<std::string> { return tma_jit::json_of(engine->engine.environment()); }));
}

tma_jit_status tma_jit_engine_kernels_json(tma_jit_engine* engine, char** out, tma_jit_error** error) {
  return making(__func__, error, {{"engine", engine}}, out, string_of([&]() -> Result<std::string> {
                  std::string kernels;
                  std::string faults;
                  for (const auto& kernel : engine->engine.kernels()) {
                    append(kernel ? kernels : faults,
                           kernel ? tma_jit::json_of(*kernel) : tma_jit::json_of(kernel.error()));
                  }
                  return "{\"kernels\":[" + kernels + "],\"faults\":[" + faults + "]}";
                }));
}

int32_t tma_jit_run_compile_worker(int32_t argc, char** argv) {
  if (argv == nullptr) return -1;
  try {
    return tma_jit::run_compile_worker(argc, argv).value_or(-1);
  } catch (const abi::__forced_unwind&) {
    throw;
  } catch (...) {
    return 1;
  }
}
