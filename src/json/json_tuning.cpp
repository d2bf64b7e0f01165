// Results of tuning as JSON.
#include <tma_jit/json.h>

#include <map>

#include <nlohmann/json.hpp>

namespace tma_jit {
namespace {

using Json = nlohmann::ordered_json;

Json object_of(const TuneTrial& trial) {
  Json object = {{"file", trial.candidate.file},
                 {"params", Json(std::map(trial.candidate.params.begin(), trial.candidate.params.end()))},
                 {"cycles", trial.candidate.cycles},
                 {"outcome", name_of(trial.outcome)},
                 {"us", trial.us},
                 {"launches", trial.launches},
                 {"compiled_s", trial.compiled_s},
                 {"judged_s", trial.judged_s},
                 {"reason", trial.reason}};
  if (!trial.reproducer.empty()) object["reproducer"] = trial.reproducer;
  return object;
}

Json object_of(const TuneResult& result) {
  Json trials = Json::array();
  for (const TuneTrial& trial : result.trials) trials.push_back(object_of(trial));
  if (result.error) {
    Json object = {{"kernel", result.request.kernel}, {"error", Json::parse(json_of(*result.error))}};
    if (!trials.empty()) object["trials"] = std::move(trials);
    return object;
  }
  return {{"record", Json::parse(tuning_line(result.record))},
          {"known", result.known},
          {"gain", result.gain},
          {"seconds", result.seconds},
          {"drift", result.drift},
          {"method", result.method},
          {"trials", std::move(trials)}};
}

}  // namespace

std::string json_of(const TuneResult& result) {
  return object_of(result).dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace tma_jit
