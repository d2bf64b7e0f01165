// Conversion of a record to a line of text and back.
#include <nlohmann/json.hpp>

#include <tma_jit/tuning.h>

#include "base/json_integer.h"
#include "base/json_text.h"
#include "base/text.h"
#include "core/failure.h"
#include "tuning/written_record.h"

namespace tma_jit {
namespace {

using Json = nlohmann::ordered_json;

Result<double> time_in(const std::string& field, const Json& value) {
  const double time = value.is_number() ? value.get<double>() : -1;
  if (time > 0 && time < 1e15) return time;
  return failure(ErrorCode::parse, "{} is no time in microseconds", field);
}

Result<void> read_types(const Json& value, std::map<std::string, DType>& types) {
  if (!value.is_object()) return failure(ErrorCode::parse, "types is not an object");
  for (const auto& [name, type] : value.items()) {
    const auto known = type.is_string() ? dtype_named(type.get<std::string>()) : std::nullopt;
    if (!known) return failure(ErrorCode::parse, "types.{} is not an element type", name);
    types[name] = *known;
  }
  return {};
}

Result<void> read_text(const std::string& field, const Json& value, std::string& text) {
  if (!value.is_string()) return failure(ErrorCode::parse, "{} is not a text", field);
  text = value.get<std::string>();
  return {};
}

// A field that a later version added is a parse error, so that the line is not used but kept unchanged.
Result<void> read_field(const std::string& field, const Json& value, TuningRecord& record) {
  static constexpr std::pair<std::string_view, std::string TuningRecord::*> kTexts[] = {
      {"kernel", &TuningRecord::kernel},     {"hooks", &TuningRecord::hooks},
      {"device", &TuningRecord::device},     {"file", &TuningRecord::file},
      {"digest", &TuningRecord::digest},     {"driver", &TuningRecord::driver},
      {"compiler", &TuningRecord::compiler}, {"conditions", &TuningRecord::conditions}};
  for (const auto& [name, text] : kTexts) {
    if (name == field) return read_text(field, value, record.*text);
  }
  if (field == "types") return read_types(value, record.types);
  if (field == "dims" || field == "pins" || field == "params") {
    auto& integers = field == "dims" ? record.dims : field == "pins" ? record.pins : record.params;
    TMA_JIT_ASSIGN(integers, named_integers_in(value, field));
    return {};
  }
  if (field == "sm_count") {
    TMA_JIT_ASSIGN(record.sm_count, integer_in<int>(value, field));
    return {};
  }
  if (field == "us" || field == "preset_us") {
    TMA_JIT_ASSIGN((field == "us" ? record.us : record.preset_us), time_in(field, value));
    return {};
  }
  return failure(ErrorCode::parse, "no field is named \"{}\"", field);
}

Result<void> check_complete(const TuningRecord& record) {
  for (const auto& [name, text] : {std::pair("kernel", &record.kernel),
                                   {"device", &record.device},
                                   {"file", &record.file},
                                   {"digest", &record.digest}}) {
    if (text->empty()) return failure(ErrorCode::parse, "the record has no {}", name);
  }
  if (record.us <= 0) return failure(ErrorCode::parse, "the record has no us");
  return {};
}

Json names_of(const std::map<std::string, DType>& types) {
  Json names = Json::object();
  for (const auto& [name, type] : types) names[name] = name_of(type);
  return names;
}

double hundredths(double value) {
  return std::round(value * 100) / 100;
}

}  // namespace

std::string tuning_line(const TuningRecord& record) {
  Json line = {{"kernel", record.kernel},
               {"types", names_of(record.types)},
               {"dims", Json(record.dims)},
               {"hooks", record.hooks}};
  if (!record.pins.empty()) line["pins"] = record.pins;
  if (!record.conditions.empty()) line["conditions"] = record.conditions;
  const Json choice = {{"device", record.device},
                       {"sm_count", record.sm_count},
                       {"file", record.file},
                       {"digest", record.digest},
                       {"params", Json(record.params)},
                       {"us", hundredths(record.us)},
                       {"preset_us", hundredths(record.preset_us)},
                       {"driver", record.driver},
                       {"compiler", record.compiler}};
  line.update(choice);
  return line.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<TuningRecord> parse_tuning_line(std::string_view line) {
  if (const auto written = tuning::read_written(line)) return tuning::record_of(*written);
  const auto object = read_json<Json>(line);
  if (!object) return failure(ErrorCode::parse, "not a JSON object: {}", object.error().message);
  if (!object->is_object()) return failure(ErrorCode::parse, "a record of tuning is a JSON object");
  TuningRecord record;
  for (const auto& [field, value] : object->items()) TMA_JIT_CHECK(read_field(field, value, record));
  TMA_JIT_CHECK(check_complete(record));
  return record;
}

}  // namespace tma_jit
