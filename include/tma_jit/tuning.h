// Tuning: measures the configurations of requests on the engine's device, and keeps a record of the best for each.
// Plans follow records (Options::tuning), so that the next start measures nothing. docs/tuning.md has the method.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tma_jit/engine.h>

namespace tma_jit {

// What was best for one problem on one model of device. A line of text in a file of records: a JSON object.
struct TuningRecord {
  // The problem.
  std::string kernel{};
  std::map<std::string, DType> types{};
  std::map<std::string, std::int64_t> dims{};
  std::string hooks{};   // 16 hex digits of the SHA-256 of the hooks' texts; empty: none but defaults
  std::string device{};  // DeviceInfo::name
  int sm_count = 0;
  // What was chosen.
  std::string file{};    // the template file's stem
  std::string digest{};  // 16 hex digits of the SHA-256 of its text: another text, and the record says nothing
  std::map<std::string, std::int64_t> params{};
  double us = 0;         // device time of one launch, median, microseconds
  double preset_us = 0;  // of the configuration that is planned without a record, measured in the same rounds
  std::string driver{};  // for people: which driver and NVRTC it was measured with
  std::string compiler{};

  friend bool operator==(const TuningRecord&, const TuningRecord&) = default;
};

// The line, without its end. Two records of one problem begin alike, so that a sorted file has them side by side.
TMA_JIT_API std::string tuning_line(const TuningRecord& record);
// Fails (parse) on what is not such an object, naming the field.
TMA_JIT_API Result<TuningRecord> parse_tuning_line(std::string_view line);

struct TuningFile {
  std::vector<TuningRecord> records{};
  std::vector<std::string> faults{};  // "FILE:LINE: why" of each line that was left out
};
// A file that does not exist has no records. Fails (io) where it cannot be read.
TMA_JIT_API Result<TuningFile> read_tuning_file(const std::filesystem::path& file);
// Puts records into a file of them, in place of those of the same problem; the file stays sorted. Other processes may
// do so at the same time: none loses a record. Lines that are not records are kept as they are. Fails with io.
TMA_JIT_API Result<void> merge_tuning_file(const std::filesystem::path& file, std::span<const TuningRecord> records);

// How one configuration fared.
struct TuneTrial {
  enum class Outcome : std::uint8_t {
    measured,
    failed,       // did not compile, or its launch failed
    spills,       // its registers spill: not launched
    disagrees,    // its output differs from the preset's, which is a bug of the kernel
    out_of_time,  // the budget ended first
  };
  Candidate candidate{};
  Outcome outcome = Outcome::measured;
  double us = 0;         // median over its rounds; 0: not measured
  int launches = 0;      // timed
  std::string reason{};  // where not measured
};

struct TuneResult {
  Request request{};
  TuningRecord record{};  // of this tuning, or the one that was there
  bool known = false;     // there was a record; nothing was measured
  double gain = 0;        // preset_us / us - 1 at the end, side by side
  double seconds = 0;
  std::vector<TuneTrial> trials{};  // the preset first
  std::optional<Error> error{};     // why there is no record
};

struct TuneProgress {
  std::size_t request = 0, requests = 0;  // counted from 0
  std::size_t trial = 0, trials = 0;      // of the request
  double seconds = 0, budget_s = 0;
};

struct TuneOptions {
  double budget_s = 60;         // of wall-clock time, for all requests together; each gets an equal share of what is
                                // left, and its preset is measured in any case
  std::size_t candidates = 16;  // configurations a request, beside the preset
  double least_gain = 0.01;     // a configuration that gains less is not worth a change
  bool flush_l2 = true;         // operands come from memory, not from L2
  bool again = false;           // measure what has a record, too
  std::filesystem::path records{};                      // gets the records as they are made; empty: tuning_file(engine)
  std::function<bool(const TuneProgress&)> progress{};  // from the calling thread; false ends the tuning
};

// The file that an engine's tuning goes to and that its plans follow first: "tuned.jsonl" in its cache folder. Empty
// where it has none.
TMA_JIT_API std::filesystem::path tuning_file(const Engine& engine);

// Tunes requests one after the other. Tensors of a request without addresses, or with none, are made here: inputs hold
// random data. Addresses that a request gives are not used: its tensors' contents stay. Processes that tune with one
// file take turns, so that the second finds the first one's records. Fails as a whole where there is no device, the
// budget is not positive or the file cannot be written; a request that cannot be tuned has its error in its result.
TMA_JIT_API Result<std::vector<TuneResult>> tune(Engine& engine, std::span<const Request> requests,
                                                 const TuneOptions& options = {});

}  // namespace tma_jit
