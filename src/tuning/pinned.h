// What requests leave open, and requests that are pinned to one configuration.
#pragma once

#include <tma_jit/request.h>
#include <tma_jit/tuning.h>

namespace tma_jit::tuning {

// Returns whether a record may decide the request's configuration, and be made of it. Those of the same pinned params
// do.
[[nodiscard]] inline bool is_open(const Request& request) {
  return request.file.empty() && !request.reference && !request.inputs;
}

// Returns the request with the file, the types and the params of `choice`, a Candidate or a TuningRecord.
template <class Choice> [[nodiscard]] Request pinned(Request request, const Choice& choice) {
  request.file = choice.file;
  for (const auto& [name, type] : choice.types) request.types[name] = type;
  for (const auto& [name, value] : choice.params) request.params[name] = value;
  return request;
}

// The same, which takes types and params out of the record.
[[nodiscard]] inline Request pinned(Request request, TuningRecord&& record) {
  request.file = record.file;
  record.types.merge(request.types);
  request.types = std::move(record.types);
  record.params.merge(request.params);
  request.params = std::move(record.params);
  return request;
}

}  // namespace tma_jit::tuning
