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
#include "cache/layers.h"
#include "source/preamble.h"
#include "template/catalogue.h"
#include "tuning/record_book.h"
#include "tuning/record_file.h"
#include "tuning/template_digests.h"

namespace tma_jit::engine {

// Reads the files at the first query. Thread-safe; the child of a fork reads them again.
class Records {
 public:
  // `user_file` is searched after those of the options; it may be missing. Then come those that `carried` returns,
  // which is called at the first query, and what is shipped.
  using Carried = std::function<std::vector<cache::Layers::Records>()>;
  Records(TuningOptions options, std::filesystem::path user_file, Carried carried, const Logger& log);

  void follow(std::vector<TuningRecord> records);
  // The same for lines, which are copied when a plan asks for records.
  void follow(std::vector<tuning::SharedLine> lines);

  // How an engine plans, and what a plan's CUDA source is.
  struct Planning {
    // Returns a kernel's file by its stem; null if the engine has none that it may use.
    std::function<templates::TemplatePointer(std::string_view kernel, std::string_view stem)> file;
    std::function<Result<Plan>(const Request&)> plan;
    // Returns the types, dims and hooks of such a file if the library ships it, without the rest; else null.
    std::function<templates::TemplatePointer(std::string_view kernel, std::string_view stem)> declarations;
    // Returns Template::file of such a file if the library ships it and its headers, without parsing it; else "".
    std::function<std::string(std::string_view kernel, std::string_view stem)> shipped;
    // Returns what a template includes, with what hooks need.
    std::function<Result<std::vector<Header>>(const templates::Template&, source::HookNeeds)> headers;
    bool headers_fixed = false;  // whether headers are those that the library ships
    std::string conditions{};    // the engine's (tuning/conditions.h)
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

  // Returns the record of the very problem that is asked for, if `book` has one that a plan can follow: its template is
  // the current one, and its configuration fits the request's tensors. Plans nothing.
  std::optional<tuning::Advice> known(const Request& request, const DeviceInfo& device, const Planning& planning,
                                      const tuning::RecordBook& book);

  // Returns the digest by which records of the request identify a file of its kernel; "" if there is none.
  std::string digest(const Request& request, std::string_view stem, const Planning& planning);

  // Returns whether there is a record of this very problem, which was planned for `device`.
  bool know(const TuningRecord& problem, const DeviceInfo& device);

  const std::filesystem::path& user_file() const { return user_file_; }

 private:
  struct Members {
    std::mutex mutex;
    std::vector<TuningRecord> followed;
    std::vector<tuning::SharedLine> followed_lines;
    std::optional<std::vector<tuning::SharedLayer>> layers;  // of the files
    std::shared_ptr<const tuning::RecordBook> book;          // of what is followed, `layers` and what is shipped for
                                                             // `device`; null: not made yet
    std::string device;
    tuning::TemplateDigests digests;  // while headers are fixed
  };

  // Returns the template's digest; "" if a header that it includes cannot be found.
  std::string digest(const templates::Template& file, source::HookNeeds hooks, const Planning& planning);
  // The same for a file of a kernel; parses it only if it must.
  std::string digest(std::string_view kernel, std::string_view stem, source::HookNeeds hooks, const Planning& planning);
  // Returns whether the record's file is still the one that was measured.
  bool is_current(const TuningRecord& record, source::HookNeeds hooks, const Planning& planning);
  // What records are looked up for.
  struct Lookup {
    const Request& request;
    const DeviceInfo& device;
    const Planning& planning;
    const std::string& conditions;
  };
  // Calls `use` with records of the request's problem in `book` whose templates are current, until it returns true.
  // `file` returns what is known of a file by its stem; null if it is no file of the kernel.
  template <class File, class Use>
  void visit(const Lookup& lookup, const tuning::RecordBook& book, const File& file, const Use& use);

  // The shipped records in it are those of the device's model.
  std::shared_ptr<const tuning::RecordBook> book(const DeviceInfo& device);
  std::vector<tuning::SharedLayer> read() const;
  void add(tuning::FileLayer&& found, std::vector<tuning::SharedLayer>& layers) const;

  const TuningOptions options_;
  const std::filesystem::path user_file_;
  const Carried carried_;
  const Logger& log_;
  PerProcess<Members> members_;
};

}  // namespace tma_jit::engine
