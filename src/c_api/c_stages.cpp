// Plans, sources and artifacts for C.
#include <algorithm>

#include <tma_jit/estimate.h>
#include <tma_jit/json.h>

#include "c_api/c_handles.h"

namespace {

using namespace tma_jit::c_api;
using tma_jit::Error;
using tma_jit::ErrorCode;
using tma_jit::Geometry;
using tma_jit::Result;

// Returns a string of an object that may be NULL.
template <class Handle, class Member> const char* text_of(const Handle* handle, Member&& member) {
  return handle != nullptr ? member(*handle).c_str() : nullptr;
}

// Returns the string at `index` of a list, or NULL if out of range.
template <class Items> const char* item_of(const Items& items, size_t index) {
  return index < items.size() ? items[index].c_str() : nullptr;
}

tma_jit_geometry geometry_of(const Geometry& geometry) {
  tma_jit_geometry made{};
  std::ranges::copy(geometry.grid, made.grid);
  std::ranges::copy(geometry.block, made.block);
  std::ranges::copy(geometry.cluster, made.cluster);
  made.smem_bytes = geometry.smem_bytes;
  made.programmatic = geometry.programmatic ? 1 : 0;
  return made;
}

}  // namespace

tma_jit_status tma_jit_plan_create(tma_jit_engine* engine, const tma_jit_request* request, tma_jit_plan** out,
                                   tma_jit_error** error) {
  return making(__func__, error, {{"engine", engine}, {"request", request}}, out,
                handle_of<tma_jit_plan>([&] { return engine->engine.plan(request->request); }));
}

void tma_jit_plan_free(tma_jit_plan* plan) {
  delete plan;
}

const char* tma_jit_plan_kernel(const tma_jit_plan* plan) {
  return text_of(plan, [](const tma_jit_plan& p) -> const std::string& { return p.plan.kernel; });
}
const char* tma_jit_plan_entry(const tma_jit_plan* plan) {
  return text_of(plan, [](const tma_jit_plan& p) -> const std::string& { return p.plan.entry; });
}
const char* tma_jit_plan_file(const tma_jit_plan* plan) {
  return text_of(plan, [](const tma_jit_plan& p) -> const std::string& { return p.plan.file; });
}
const char* tma_jit_plan_arch(const tma_jit_plan* plan) {
  return text_of(plan, [](const tma_jit_plan& p) -> const std::string& { return p.plan.arch; });
}

const char* tma_jit_plan_reason(const tma_jit_plan* plan) {
  return text_of(plan, [](const tma_jit_plan& p) -> const std::string& { return p.plan.reason; });
}

tma_jit_status tma_jit_plan_dim(const tma_jit_plan* plan, const char* name, int64_t* out, tma_jit_error** error) {
  return guarded(__func__, error, {{"plan", plan}, {"name", name}, {"out", out}}, [&]() -> Result<void> {
    const auto& dims = plan->plan.dims;
    const auto found = std::ranges::find_if(dims, [&](const tma_jit::DimValue& dim) { return dim.name == name; });
    if (found == dims.end()) {
      return tl::make_unexpected(
          Error{ErrorCode::not_found, plan->plan.kernel + ": no dim is named \"" + name + "\"", {}});
    }
    *out = found->value;
    return {};
  });
}

tma_jit_status tma_jit_plan_geometry(const tma_jit_plan* plan, tma_jit_geometry* out, tma_jit_error** error) {
  return guarded(__func__, error, {{"plan", plan}, {"out", out}},
                 [&] { return write_struct(geometry_of(plan->plan.geometry), out, "tma_jit_geometry"); });
}

tma_jit_status tma_jit_plan_param(const tma_jit_plan* plan, const char* name, int64_t* out, tma_jit_error** error) {
  return guarded(__func__, error, {{"plan", plan}, {"name", name}, {"out", out}}, [&]() -> Result<void> {
    const auto& config = plan->plan.config;
    const auto chosen =
        std::find_if(config.begin(), config.end(), [&](const auto& param) { return param.first == name; });
    if (chosen == config.end()) {
      return tl::make_unexpected(
          Error{ErrorCode::not_found, plan->plan.kernel + ": no parameter is named \"" + name + "\"", {}});
    }
    *out = chosen->second;
    return {};
  });
}

tma_jit_status tma_jit_plan_work(const tma_jit_plan* plan, double* flops, double* bytes, tma_jit_error** error) {
  return guarded(__func__, error, {{"plan", plan}}, [&]() -> Result<void> {
    if (flops != nullptr) *flops = plan->plan.work.flops;
    if (bytes != nullptr) *bytes = plan->plan.work.bytes;
    return {};
  });
}

size_t tma_jit_plan_workspace_count(const tma_jit_plan* plan) {
  return plan != nullptr ? tma_jit::workspaces_of(plan->plan).size() : 0;
}

tma_jit_status tma_jit_plan_workspace(const tma_jit_plan* plan, size_t index, tma_jit_workspace* out,
                                      tma_jit_error** error) {
  return guarded(__func__, error, {{"plan", plan}, {"out", out}}, [&]() -> Result<void> {
    size_t seen = 0;
    for (const tma_jit::Argument& argument : plan->plan.arguments) {
      if (argument.kind != tma_jit::Argument::Kind::workspace || seen++ != index) continue;
      return write_struct({0, argument.name.c_str(), argument.workspace_bytes, argument.address_alignment,
                           argument.workspace_zeroed ? 1 : 0, argument.address != 0 ? 1 : 0},
                          out, "tma_jit_workspace");
    }
    return tl::make_unexpected(Error{ErrorCode::not_found, plan->plan.kernel + " has " + std::to_string(seen) +
                                                               " workspaces, and none of index " +
                                                               std::to_string(index)});
  });
}

tma_jit_status tma_jit_plan_json(const tma_jit_plan* plan, char** out, tma_jit_error** error) {
  return making(__func__, error, {{"plan", plan}}, out,
                string_of([&]() -> Result<std::string> { return tma_jit::json_of(plan->plan); }));
}

tma_jit_status tma_jit_plan_estimate_json(const tma_jit_plan* plan, const tma_jit_device_info* device, char** out,
                                          tma_jit_error** error) {
  return making(__func__, error, {{"plan", plan}, {"device", device}}, out, string_of([&]() -> Result<std::string> {
                  const auto facts = read_struct(device, "tma_jit_device_info");
                  if (!facts) return tl::make_unexpected(facts.error());
                  return tma_jit::estimate(plan->plan, device_of(*facts)).map([](const tma_jit::Estimate& estimate) {
                    return tma_jit::json_of(estimate);
                  });
                }));
}

tma_jit_status tma_jit_enumerate_json(tma_jit_engine* engine, const tma_jit_request* request, char** out,
                                      tma_jit_error** error) {
  return making(__func__, error, {{"engine", engine}, {"request", request}}, out, string_of([&] {
                  return engine->engine.enumerate(request->request).map([](const tma_jit::Enumeration& found) {
                    return tma_jit::json_of(found);
                  });
                }));
}

tma_jit_status tma_jit_emit(tma_jit_engine* engine, const tma_jit_plan* plan, tma_jit_source** out,
                            tma_jit_error** error) {
  return making(__func__, error, {{"engine", engine}, {"plan", plan}}, out,
                handle_of<tma_jit_source>([&] { return engine->engine.emit(plan->plan); }));
}

void tma_jit_source_free(tma_jit_source* source) {
  delete source;
}

const char* tma_jit_source_name(const tma_jit_source* source) {
  return text_of(source, [](const tma_jit_source& s) -> const std::string& { return s.source.name; });
}
const char* tma_jit_source_text(const tma_jit_source* source) {
  return text_of(source, [](const tma_jit_source& s) -> const std::string& { return s.source.text; });
}

size_t tma_jit_source_header_count(const tma_jit_source* source) {
  return source != nullptr ? source->source.headers.size() : 0;
}
const char* tma_jit_source_header_name(const tma_jit_source* source, size_t index) {
  if (index >= tma_jit_source_header_count(source)) return nullptr;
  return source->source.headers[index].name.c_str();
}
const char* tma_jit_source_header_text(const tma_jit_source* source, size_t index) {
  if (index >= tma_jit_source_header_count(source)) return nullptr;
  return source->source.headers[index].text.c_str();
}

size_t tma_jit_source_option_count(const tma_jit_source* source) {
  return source != nullptr ? source->source.options.size() : 0;
}
const char* tma_jit_source_option(const tma_jit_source* source, size_t index) {
  return source != nullptr ? item_of(source->source.options, index) : nullptr;
}

tma_jit_status tma_jit_emit_standalone(tma_jit_engine* engine, const tma_jit_plan* plan, char** out,
                                       tma_jit_error** error) {
  return making(__func__, error, {{"engine", engine}, {"plan", plan}}, out,
                string_of([&] { return engine->engine.emit_standalone(plan->plan); }));
}

tma_jit_status tma_jit_key(tma_jit_engine* engine, const tma_jit_plan* plan, char** out, tma_jit_error** error) {
  return making(__func__, error, {{"engine", engine}, {"plan", plan}}, out, string_of([&] {
                  return engine->engine.key(plan->plan).map([](const tma_jit::Key& key) { return key.hex(); });
                }));
}

tma_jit_status tma_jit_explain_json(tma_jit_engine* engine, const tma_jit_plan* plan, char** out,
                                    tma_jit_error** error) {
  return making(__func__, error, {{"engine", engine}, {"plan", plan}}, out, string_of([&] {
                  return engine->engine.explain(plan->plan).map([](const tma_jit::CacheExplanation& found) {
                    return tma_jit::json_of(found);
                  });
                }));
}

tma_jit_status tma_jit_build(tma_jit_engine* engine, const tma_jit_plan* plan, tma_jit_artifact** out,
                             tma_jit_error** error) {
  return making(__func__, error, {{"engine", engine}, {"plan", plan}}, out,
                handle_of<tma_jit_artifact>([&] { return engine->engine.build(plan->plan); }));
}

void tma_jit_artifact_free(tma_jit_artifact* artifact) {
  delete artifact;
}

const void* tma_jit_artifact_data(const tma_jit_artifact* artifact, size_t* bytes) {
  if (bytes != nullptr) *bytes = artifact != nullptr ? artifact->artifact.bytes.size() : 0;
  return artifact != nullptr ? artifact->artifact.bytes.data() : nullptr;
}
int32_t tma_jit_artifact_is_ptx(const tma_jit_artifact* artifact) {
  return artifact != nullptr && artifact->artifact.form == tma_jit::Artifact::Form::ptx ? 1 : 0;
}
const char* tma_jit_artifact_entry(const tma_jit_artifact* artifact) {
  return text_of(artifact, [](const tma_jit_artifact& c) -> const std::string& { return c.artifact.entry; });
}
const char* tma_jit_artifact_arch(const tma_jit_artifact* artifact) {
  return text_of(artifact, [](const tma_jit_artifact& c) -> const std::string& { return c.artifact.arch; });
}
const char* tma_jit_artifact_key(const tma_jit_artifact* artifact) {
  return text_of(artifact, [](const tma_jit_artifact& c) -> const std::string& { return c.key; });
}

size_t tma_jit_artifact_warning_count(const tma_jit_artifact* artifact) {
  return artifact != nullptr ? artifact->artifact.resources.warnings.size() : 0;
}
const char* tma_jit_artifact_warning(const tma_jit_artifact* artifact, size_t index) {
  return artifact != nullptr ? item_of(artifact->artifact.resources.warnings, index) : nullptr;
}

tma_jit_status tma_jit_artifact_resources(const tma_jit_artifact* artifact, tma_jit_resources* out,
                                          tma_jit_error** error) {
  return guarded(__func__, error, {{"artifact", artifact}, {"out", out}}, [&]() -> Result<void> {
    const tma_jit::Artifact& built = artifact->artifact;
    const tma_jit::Resources& r = built.resources;
    return write_struct({0, r.registers, built.compiled ? 1 : 0, built.compile_ms, r.spill_store_bytes,
                         r.spill_load_bytes, r.stack_bytes, r.static_shared_bytes},
                        out, "tma_jit_resources");
  });
}

tma_jit_status tma_jit_build_ptx(tma_jit_engine* engine, const tma_jit_plan* plan, char** out, tma_jit_error** error) {
  return making(__func__, error, {{"engine", engine}, {"plan", plan}}, out,
                string_of([&] { return engine->engine.build_ptx(plan->plan); }));
}
