#include "report_input.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "input_text.h"
#include "report_timeline.h"

namespace tma_jit::cli {
namespace {

// A field that must be there. Numbers are finite, because JSON has no others.
struct Field {
  enum class Kind : std::uint8_t { number, text, array, object, boolean };
  const char* name;
  Kind kind;
};

bool is(const Json& value, Field::Kind kind) {
  switch (kind) {
    case Field::Kind::number: return value.is_number();
    case Field::Kind::text: return value.is_string();
    case Field::Kind::array: return value.is_array();
    case Field::Kind::object: return value.is_object();
    case Field::Kind::boolean: return value.is_boolean();
  }
  return false;
}

std::string_view name_of(Field::Kind kind) {
  static constexpr std::array<std::string_view, 5> kNames = {"a number", "a text", "an array", "an object",
                                                             "true or false"};
  return kNames[static_cast<std::size_t>(kind)];
}

constexpr auto kNumber = Field::Kind::number;
constexpr auto kText = Field::Kind::text;
constexpr auto kArray = Field::Kind::array;
constexpr auto kObject = Field::Kind::object;

using Fault = std::optional<std::string>;

Fault missing(const Json& object, std::initializer_list<Field> fields) {
  if (!object.is_object()) return "a part that should be an object is none";
  for (const Field& field : fields) {
    if (!object.contains(field.name)) return fmt::format("\"{}\" is missing", field.name);
    if (!is(object[field.name], field.kind)) return fmt::format("\"{}\" is not {}", field.name, name_of(field.kind));
  }
  return {};
}

template <class Check> Fault first_of(const Json& list, Check&& check) {
  for (const Json& each : list) {
    if (Fault fault = check(each)) return fault;
  }
  return {};
}

// Whether a field of this kind is there is a choice of the one who writes.
template <class Check> Fault if_there(const Json& object, const char* name, Check&& check) {
  if (!object.contains(name) || object[name].is_null()) return {};
  if (!object[name].is_array()) return fmt::format("\"{}\" is not an array", name);
  return first_of(object[name], check);
}

Fault dims_fault(const Json& object) {
  return first_of(object["dims"], [](const Json& dim) { return missing(dim, {{"name", kText}, {"value", kNumber}}); });
}

Fault bench_fault(const Json& bench) {
  if (Fault fault = missing(bench, {{"kernel", kText}, {"device", kText}, {"dims", kArray}, {"median_us", kNumber}})) {
    return fault;
  }
  if (Fault fault = dims_fault(bench)) return fault;
  return if_there(bench, "peers", [](const Json& p) { return missing(p, {{"name", kText}, {"median_us", kNumber}}); });
}

Fault sweep_fault(const Json& sweep) {
  if (Fault fault = missing(sweep, {{"sweep", kText}, {"results", kArray}})) return fault;
  return first_of(sweep["results"], [](const Json& each) {
    return each.is_object() && each.contains("error") ? missing(each, {{"error", kObject}}) : bench_fault(each);
  });
}

Fault tune_fault(const Json& tune) {
  return first_of(tune["results"], [](const Json& result) -> Fault {
    if (!result.is_object()) return "a result is not an object";
    if (result.contains("error")) return {};
    if (Fault fault = missing(result, {{"record", kObject}, {"trials", kArray}})) return fault;
    if (Fault fault = missing(result["record"], {{"kernel", kText}, {"device", kText}, {"dims", kObject}}))
      return fault;
    return first_of(result["trials"], [](const Json& trial) {
      return missing(trial, {{"file", kText}, {"params", kObject}, {"outcome", kText}, {"us", kNumber}});
    });
  });
}

Fault estimate_fault(const Json& estimate) {
  if (estimate.is_object() && estimate.contains("error")) return {};  // of one line of a list
  if (Fault fault = missing(estimate, {{"kernel", kText},
                                       {"device", kText},
                                       {"dims", kArray},
                                       {"config", kObject},
                                       {"time_us", kNumber},
                                       {"waves", kNumber},
                                       {"tail", kNumber},
                                       {"blocks_per_sm", kNumber},
                                       {"flops", kNumber},
                                       {"hbm_bytes", kNumber},
                                       {"peak_tflops", kNumber}})) {
    return fault;
  }
  if (Fault fault = dims_fault(estimate)) return fault;
  return if_there(estimate, "candidates", [](const Json& each) { return estimate_fault(each); });
}

Fault doctor_fault(const Json& doctor) {
  if (Fault fault = missing(doctor, {{"proofs", kArray}, {"features", kArray}, {"passed", Field::Kind::boolean}})) {
    return fault;
  }
  return if_there(doctor, "comparison", [](const Json& row) {
    return missing(row, {{"kernel", kText}, {"problem", kText}, {"with_tma", kObject}, {"without_tma", kObject}});
  });
}

Fault stats_fault(const Json& stats) {
  return missing(stats,
                 {{"memory_hits", kNumber}, {"disk_hits", kNumber}, {"disk_misses", kNumber}, {"compiles", kNumber}});
}

// What an object is, by fields that only objects of its kind have.
std::string_view kind_of(const Json& object) {
  const auto has = [&](const char* name) { return object.contains(name); };
  if (has("traceEvents")) return "timeline";
  if (has("sweep")) return "sweep";
  if (has("records") && has("results")) return "tune";
  if (has("proofs") && has("features")) return "doctor";
  if (has("memory_hits")) return "stats";
  if (has("estimates")) return "estimates";
  if (has("time_us")) return "estimate";
  if (has("median_us")) return "bench";
  return {};
}

Fault fault_of(std::string_view kind, const Json& object) {
  if (kind == "sweep") return sweep_fault(object);
  if (kind == "tune") return object["results"].is_array() ? tune_fault(object) : Fault("\"results\" is not an array");
  if (kind == "doctor") return doctor_fault(object);
  if (kind == "stats") return stats_fault(object);
  if (kind == "estimate") return estimate_fault(object);
  return bench_fault(object);
}

tl::unexpected<Failure> unknown(const std::string& file, const Json& object) {
  if (object.contains("error") && object["error"].is_object() && object["error"].contains("message") &&
      object["error"]["message"].is_string()) {
    return failed(ErrorCode::parse, "{}: it has the error of a command that failed: {}", file,
                  object["error"]["message"].get<std::string>());
  }
  return failed(ErrorCode::parse,
                "{}: it is not what bench, tune, doctor or estimate print with --json, nor a trace of the emulator, "
                "nor an engine's counters",
                file);
}

Outcome<void> add(const std::string& file, std::uint32_t block, Json object, std::vector<ReportInput>& inputs) {
  if (object.is_array() && !object.empty()) {
    for (Json& each : object) {
      if (each.is_array()) return unknown(file, Json::object());
      CLI_CHECK(add(file, block, std::move(each), inputs));
    }
    return {};
  }
  if (!object.is_object()) return unknown(file, Json::object());
  const std::string_view kind = kind_of(object);
  if (kind.empty()) return unknown(file, object);
  if (kind == "timeline") {
    CLI_ASSIGN(Json timeline, timeline_of(file, object, block));
    inputs.push_back({file, "timeline", std::move(timeline)});
    return {};
  }
  if (kind == "estimates") {
    if (!object["estimates"].is_array()) return unknown(file, object);
    for (Json& each : object["estimates"]) {
      if (const Fault fault = estimate_fault(each)) return failed(ErrorCode::parse, "{}: estimate: {}", file, *fault);
      if (!each.contains("error")) inputs.push_back({file, "estimate", std::move(each)});
    }
    return {};
  }
  if (const Fault fault = fault_of(kind, object)) return failed(ErrorCode::parse, "{}: {}: {}", file, kind, *fault);
  inputs.push_back({file, std::string(kind), std::move(object)});
  return {};
}

}  // namespace

Outcome<void> read_report_input(const std::string& file, std::uint32_t block, std::vector<ReportInput>& inputs) {
  CLI_ASSIGN(const std::string text, read_text(file));
  std::vector<Json> objects;
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) return failed(ErrorCode::parse, "{}: it is empty", file);
  if (!try_parse_all(text, objects)) return failed(ErrorCode::parse, "{}: it is not JSON, or it is cut off", file);
  for (Json& object : objects) CLI_CHECK(add(file, block, std::move(object), inputs));
  return {};
}

}  // namespace tma_jit::cli
