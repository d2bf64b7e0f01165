// The device's features, each tested by running its probe: every preset of the templates in probes/ is a feature.
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
    failed,   // it did not build or run, or its result differs from the reference
    absent,   // the device does not have it
    not_run,  // there is no device, or an earlier failure made it unusable
    left,     // another feature of its probe was to stand for it
  };
  std::string name;  // the preset's text; without one, the probe's
  std::string kernel, file;
  std::string preset;  // as declared
  std::map<std::string, std::int64_t> params;
  std::vector<std::string> archs;  // architectures that have the feature
  std::optional<Request> request;  // absent if the device lacks the feature; `error` may say why
  Status status = Status::absent;
  double time_us = 0;  // device time of one launch
  double share = 0;    // of the peak that bounds it; 0 if the probe is too small to tell
  std::string peak;
  std::string fault;  // further lines about the failure
  std::optional<Error> error;
  std::string advice;
};

// Returns every feature that a probe shows; those that the engine's device has include a request.
std::vector<Feature> features_of(Engine& engine);

// Marks as left all that could run but the one of each file with the least work.
void leave_one_of_each_file(Engine& engine, std::vector<Feature>& features);

// Builds the kernels in several threads, then runs them one by one. After an error that makes the device unusable for
// this process, the others are not run.
void prove(Engine& engine, const Environment& found, std::vector<Feature>& features, bool timed);

// Returns one line per feature, and for each failure its description and advice.
std::string describe(const std::vector<Feature>& features);
Json to_json(const std::vector<Feature>& features);

}  // namespace tma_jit::cli
