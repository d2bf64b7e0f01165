// Plans with their estimates: of what is planned, of its candidates, and of the same without TMA.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <tma_jit/engine.h>
#include <tma_jit/estimate.h>

#include "console.h"
#include "outcome.h"
#include "settings.h"

namespace tma_jit::cli {

struct Estimated {
  Plan plan;
  Estimate estimate;

  // Returns e.g. "gemm_wgmma BM=128 BN=256 STAGES=4".
  std::string configuration() const;
};

// Plans requests and estimates them with one set of constants.
class Estimator {
 public:
  // `constants` names a file; empty: those that are shipped.
  [[nodiscard]] static Outcome<Estimator> open(Engine& engine, const std::string& constants);

  const DeviceInfo& device() const { return device_; }
  [[nodiscard]] Outcome<Estimated> of(const Request& request) const;
  [[nodiscard]] Outcome<Estimated> of(Plan plan) const;
  // The configurations that tuning would measure, at most `most`, the planned one first.
  [[nodiscard]] Outcome<std::vector<Estimated>> candidates(const Request& request, std::size_t most) const;
  // The same work planned only with files that do not use TMA; nullopt if they have no such plan. Params that change
  // the work, such as the length of a head, are those of `with`, which is planned with all files. `word` is what names
  // the kernel, as for find_kernel.
  [[nodiscard]] std::optional<Estimated> without_tma(const Settings& settings, const std::string& word,
                                                     const Request& request, const Plan& with) const;

 private:
  Estimator(Engine& engine, DeviceInfo device, std::string constants, std::string file)
      : engine_(&engine), device_(std::move(device)), constants_(std::move(constants)), file_(std::move(file)) {}

  Engine* engine_;
  DeviceInfo device_;
  std::string constants_, file_;  // their text, and the file that it is from; empty: those that are shipped
};

std::string describe(const Estimated& estimated, const DeviceInfo& device);
// With the plan's kernel, file, dims and config.
Json to_json(const Estimated& estimated, const DeviceInfo& device);

// The picture of the candidates: operations a second over operations a byte, or bytes a second over bytes where the
// kernel has no operations. The first candidate is the chosen one.
std::string roofline_of(const std::vector<Estimated>& candidates, const DeviceInfo& device);

}  // namespace tma_jit::cli
