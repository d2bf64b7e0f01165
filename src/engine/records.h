// The tuning records that an engine's plans follow.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <tma_jit/options.h>

#include "base/fork.h"
#include "base/log.h"
#include "template/catalogue.h"
#include "tuning/record_book.h"
#include "tuning/template_digests.h"

namespace tma_jit::engine {

// Returns whether a record may decide the request's configuration, because it pins none itself.
[[nodiscard]] bool is_open(const Request& request);

// Reads the files at the first query. Thread-safe; the child of a fork reads them again.
class Records {
 public:
  // `user_file` is searched after the others; it may be missing. What is shipped comes last.
  Records(TuningOptions options, std::filesystem::path user_file, const Logger& log);

  void follow(const std::vector<TuningRecord>& records);

  // How an engine plans, and what a plan's CUDA source is.
  struct Planning {
    // Returns a kernel's file by its stem; null if the engine has none that it may use.
    std::function<templates::TemplatePointer(std::string_view kernel, std::string_view stem)> file;
    std::function<Result<Plan>(const Request&)> plan;
    std::function<Result<Source>(const Plan&)> emit;
    bool headers_fixed = false;  // whether a digest stays what it is while the template's own text does
  };

  // Returns the plan with the configuration of the record of the very problem that is asked for, as a file that records
  // name declares it; those that more records name are asked first, since the others need not be parsed then. No other
  // configuration is looked at. Returns nullopt if there is no such record, or if it does not fit the request or the
  // current template.
  std::optional<Plan> recorded(const Request& request, const DeviceInfo& device, const Planning& planning);

  // Returns the plan with the configuration that a record gives for the problem of `preset`, which is the plan made
  // without records. Returns nullopt if there is no record, or if it does not fit the request or the current template;
  // also if it is only the nearest record and its configuration is estimated to be slower than the preset.
  std::optional<Plan> advised(const Request& request, const Plan& preset, const DeviceInfo& device,
                              const Planning& planning);

  // Returns whether there is a record of the very problem that was planned.
  bool know(const Plan& plan, const DeviceInfo& device);

  const std::filesystem::path& user_file() const { return user_file_; }

 private:
  struct Members {
    std::mutex mutex;
    std::vector<TuningRecord> followed;
    std::optional<std::vector<tuning::SharedLayer>> layers;  // of the files and of what is shipped
    std::shared_ptr<const tuning::RecordBook> book;          // of `followed` and `layers`; null: not made yet
    tuning::TemplateDigests digests;                         // while headers are fixed
  };

  // Returns the digest of the plan's template; "" if its source cannot be made.
  std::string digest(const Plan& plan, const Planning& planning);

  std::shared_ptr<const tuning::RecordBook> book();
  std::vector<tuning::SharedLayer> read() const;

  const TuningOptions options_;
  const std::filesystem::path user_file_;
  const Logger& log_;
  PerProcess<Members> members_;
};

}  // namespace tma_jit::engine
