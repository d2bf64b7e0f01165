// The device's features, each proved by running its probe: what the templates in probes/ show, one a preset.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "console.h"
#include "request.h"

namespace tma_jit::cli {

struct Feature {
  enum class Status : std::uint8_t {
    passed,
    failed,   // it did not build, did not run, or computed something else than its reference
    absent,   // the device does not have it
    not_run,  // there is no device, or an earlier failure took it
  };
  std::string name;  // the preset's text, else the probe's
  std::string kernel, file;
  std::string preset;  // as declared
  std::map<std::string, std::int64_t> params;
  std::vector<std::string> archs;  // that have it
  std::optional<Request> request;  // unset: the device does not have it, and `error` may say why
  Status status = Status::absent;
  double time_us = 0;  // device time of one launch
  double share = 0;    // of the peak that bounds it; 0 where the probe is too small to say
  std::string peak;
  std::string fault;  // more lines of what went wrong
  std::optional<Error> error;
  std::string advice;
};

// Every feature that a probe shows; those the engine's device has come with a request.
std::vector<Feature> features_of(Engine& engine);

// Builds what is needed in several threads, then runs one after the other. After an error that takes the device from
// this process, the rest is not run.
void prove(Engine& engine, const Environment& found, std::vector<Feature>& features, bool timed);

// A line a feature, and for each failure what it is and what to do.
std::string describe(const std::vector<Feature>& features);
Json to_json(const std::vector<Feature>& features);

}  // namespace tma_jit::cli
