// Requests for C.
#include <algorithm>

#include "c_api/c_handles.h"

namespace {

using namespace tma_jit::c_api;
using tma_jit::Request;
using tma_jit::Result;

Result<std::map<std::string, std::int64_t>> dims_of(const char* const* names, const int64_t* values, size_t count) {
  if (count > 0 && (names == nullptr || values == nullptr)) {
    return invalid("tma_jit_presets_create: dim_count is " + std::to_string(count) + " and " +
                   (names == nullptr ? "dims" : "values") + " is NULL");
  }
  std::map<std::string, std::int64_t> dims;
  for (size_t i = 0; i < count; ++i) {
    if (names[i] == nullptr) return invalid("tma_jit_presets_create: dims[" + std::to_string(i) + "] is NULL");
    dims[names[i]] = values[i];
  }
  return dims;
}

Result<std::vector<tma_jit_request>> presets_of(tma_jit_engine& engine, const char* kernel,
                                                Result<std::map<std::string, std::int64_t>> dims) {
  if (!dims) return tl::make_unexpected(std::move(dims).error());
  auto found = engine.engine.presets(kernel, *dims);
  if (!found) return tl::make_unexpected(std::move(found).error());
  std::vector<tma_jit_request> requests;
  for (Request& request : *found) requests.push_back({std::move(request)});
  return requests;
}

// Sets one named value of a request.
template <class Set>
tma_jit_status setting(const char* function, tma_jit_request* request, const char* name, tma_jit_error** error,
                       Set&& set) {
  return guarded(function, error, {{"request", request}, {"name", name}}, [&]() -> Result<void> {
    set(request->request);
    return {};
  });
}

}  // namespace

tma_jit_status tma_jit_request_create(const char* kernel, tma_jit_request** out, tma_jit_error** error) {
  return making(__func__, error, {{"kernel", kernel}}, out, handle_of<tma_jit_request>([&]() -> Result<Request> {
                  Request request;
                  request.kernel = kernel;
                  return request;
                }));
}

void tma_jit_request_free(tma_jit_request* request) {
  delete request;
}

tma_jit_status tma_jit_request_tensor(tma_jit_request* request, const char* name, const tma_jit_tensor* tensor,
                                      tma_jit_error** error) {
  return guarded(__func__, error, {{"request", request}, {"name", name}, {"tensor", tensor}}, [&]() -> Result<void> {
    auto view = tensor_of(*tensor, name);
    if (!view) return tl::make_unexpected(std::move(view).error());
    auto& tensors = request->request.tensors;
    const auto same = std::find_if(tensors.begin(), tensors.end(),
                                   [&](const tma_jit::NamedTensor& given) { return given.name == name; });
    if (same == tensors.end()) {
      tensors.push_back({name, *view});
    } else {
      same->tensor = *view;
    }
    return {};
  });
}

tma_jit_status tma_jit_request_present(tma_jit_request* request, const char* tensor, tma_jit_error** error) {
  return guarded(__func__, error, {{"request", request}, {"tensor", tensor}}, [&]() -> Result<void> {
    auto& present = request->request.present;
    if (std::find(present.begin(), present.end(), tensor) == present.end()) present.emplace_back(tensor);
    return {};
  });
}

tma_jit_status tma_jit_request_dim(tma_jit_request* request, const char* name, int64_t value, tma_jit_error** error) {
  return setting(__func__, request, name, error, [&](Request& r) { r.dims[name] = value; });
}

tma_jit_status tma_jit_request_fix_dim(tma_jit_request* request, const char* name, tma_jit_error** error) {
  return setting(__func__, request, name, error, [&](Request& r) {
    if (std::find(r.fixed.begin(), r.fixed.end(), name) == r.fixed.end()) r.fixed.emplace_back(name);
  });
}

tma_jit_status tma_jit_request_type(tma_jit_request* request, const char* name, tma_jit_dtype dtype,
                                    tma_jit_error** error) {
  return guarded(__func__, error, {{"request", request}, {"name", name}}, [&]() -> Result<void> {
    auto known = dtype_of(dtype);
    if (!known) return tl::make_unexpected(std::move(known).error());
    request->request.types[name] = *known;
    return {};
  });
}

tma_jit_status tma_jit_request_param(tma_jit_request* request, const char* name, int64_t value, tma_jit_error** error) {
  return setting(__func__, request, name, error, [&](Request& r) { r.params[name] = value; });
}

tma_jit_status tma_jit_request_scalar_integer(tma_jit_request* request, const char* name, int64_t value,
                                              tma_jit_error** error) {
  return setting(__func__, request, name, error, [&](Request& r) { r.scalars[name] = std::int64_t{value}; });
}

tma_jit_status tma_jit_request_scalar_unsigned(tma_jit_request* request, const char* name, uint64_t value,
                                               tma_jit_error** error) {
  return setting(__func__, request, name, error, [&](Request& r) { r.scalars[name] = std::uint64_t{value}; });
}

tma_jit_status tma_jit_request_scalar_real(tma_jit_request* request, const char* name, double value,
                                           tma_jit_error** error) {
  return setting(__func__, request, name, error, [&](Request& r) { r.scalars[name] = value; });
}

tma_jit_status tma_jit_request_hook(tma_jit_request* request, const char* name, const char* text,
                                    tma_jit_error** error) {
  return guarded(__func__, error, {{"request", request}, {"name", name}, {"text", text}}, [&]() -> Result<void> {
    request->request.hooks[name] = text;
    return {};
  });
}

tma_jit_status tma_jit_request_operand(tma_jit_request* request, const char* declaration, tma_jit_error** error) {
  return guarded(__func__, error, {{"request", request}, {"declaration", declaration}}, [&]() -> Result<void> {
    const auto name_of = [](std::string_view text) { return text.substr(0, text.find_first_of(" \t:")); };
    auto& operands = request->request.operands;
    const auto same = std::find_if(operands.begin(), operands.end(),
                                   [&](const std::string& given) { return name_of(given) == name_of(declaration); });
    if (same == operands.end()) {
      operands.emplace_back(declaration);
    } else {
      *same = declaration;
    }
    return {};
  });
}

tma_jit_status tma_jit_request_workspace(tma_jit_request* request, const char* name, uint64_t address,
                                         tma_jit_error** error) {
  return setting(__func__, request, name, error, [&](Request& r) { r.workspaces[name] = address; });
}

tma_jit_status tma_jit_request_reference(tma_jit_request* request, int32_t reference, tma_jit_error** error) {
  return guarded(__func__, error, {{"request", request}}, [&]() -> Result<void> {
    request->request.reference = reference != 0;
    return {};
  });
}

tma_jit_status tma_jit_request_untrusted_hooks(tma_jit_request* request, int32_t untrusted, tma_jit_error** error) {
  return guarded(__func__, error, {{"request", request}}, [&]() -> Result<void> {
    request->request.untrusted_hooks = untrusted != 0;
    return {};
  });
}

tma_jit_status tma_jit_request_sm_budget(tma_jit_request* request, int32_t sms, tma_jit_error** error) {
  return guarded(__func__, error, {{"request", request}}, [&]() -> Result<void> {
    request->request.sm_budget = sms;
    return {};
  });
}

tma_jit_status tma_jit_request_file(tma_jit_request* request, const char* stem, tma_jit_error** error) {
  return guarded(__func__, error, {{"request", request}}, [&]() -> Result<void> {
    request->request.file = stem != nullptr ? stem : "";
    return {};
  });
}

// NOLINTNEXTLINE(readability-function-size): the size is two parameters in C
tma_jit_status tma_jit_example(tma_jit_engine* engine, const tma_jit_request* request, tma_jit_extents extents,
                               int64_t least, tma_jit_request** out, tma_jit_error** error) {
  return making(__func__, error, {{"engine", engine}, {"request", request}}, out,
                handle_of<tma_jit_request>([&]() -> Result<Request> {
                  if (extents < TMA_JIT_EXTENTS_RAGGED || extents > TMA_JIT_EXTENTS_ODD || least < 0) {
                    return invalid("tma_jit_example: extents is " + std::to_string(extents) + " and least " +
                                   std::to_string(least) + "; they are 0 to 2, and at least 0");
                  }
                  return engine->engine.example(request->request, {static_cast<tma_jit::Extents>(extents), least});
                }));
}

// NOLINTNEXTLINE(readability-function-size): an array of pairs is three parameters in C
tma_jit_status tma_jit_presets_create(tma_jit_engine* engine, const char* kernel, const char* const* dims,
                                      const int64_t* values, size_t dim_count, tma_jit_presets** out,
                                      tma_jit_error** error) {
  return making(__func__, error, {{"engine", engine}, {"kernel", kernel}}, out, handle_of<tma_jit_presets>([&] {
                  return presets_of(*engine, kernel, dims_of(dims, values, dim_count));
                }));
}

size_t tma_jit_presets_count(const tma_jit_presets* presets) {
  return presets != nullptr ? presets->requests.size() : 0;
}

const tma_jit_request* tma_jit_presets_at(const tma_jit_presets* presets, size_t index) {
  return index < tma_jit_presets_count(presets) ? &presets->requests[index] : nullptr;
}

void tma_jit_presets_free(tma_jit_presets* presets) {
  delete presets;
}
