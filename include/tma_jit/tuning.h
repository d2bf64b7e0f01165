// Tuning: measures the configurations of requests on the engine's device and records the best one for each. Plans
// follow records (Options::tuning), so that the next start measures nothing. docs/tuning.md describes the method.
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

// The best configuration for one problem on one model of device. In a file of records, each is a JSON object on one
// line.
struct TuningRecord {
  // The problem.
  std::string kernel{};
  std::map<std::string, DType> types{};
  std::map<std::string, std::int64_t> dims{};
  std::string hooks{};  // 16 hex digits of the SHA-256 of the hooks' texts; empty if the kernel has no hooks
  std::map<std::string, std::int64_t> pins{};  // the params whose values the request gave
  // What was unusual: "without TMA, within h100, for sm_90, A at 2, B rows 4, C strided" where the engine's options
  // left out TMA, set limits or a target, and where a tensor's address or the distances of its rows are no multiples of
  // 16 bytes (but of 2 and 4), or the elements of its rows lie apart.
  std::string conditions{};
  std::string device{};  // DeviceInfo::name
  int sm_count = 0;
  // The choice.
  std::string file{};    // the template file's stem
  std::string digest{};  // 16 hex digits of the SHA-256 of what the file, the headers whose declarations it uses and
                         // those that it includes say, whatever their comments; the record is ignored if that changed
  std::map<std::string, std::int64_t> params{};
  double us = 0;         // device time of one launch, median, microseconds
  double preset_us = 0;  // of the configuration that is planned without a record; measured in the same rounds
  std::string driver{};  // driver and NVRTC of the measurement, for display
  std::string compiler{};

  friend bool operator==(const TuningRecord&, const TuningRecord&) = default;
};

// Returns the record's line without a newline. Lines of the same problem have the same prefix, so that sorting a file
// puts them next to each other.
TMA_JIT_API std::string tuning_line(const TuningRecord& record);
// Fails (parse) if the line is not such an object; the error names the field.
[[nodiscard]] TMA_JIT_API Result<TuningRecord> parse_tuning_line(std::string_view line);

struct TuningFile {
  std::vector<TuningRecord> records{};
  std::vector<std::string> faults{};  // "FILE:LINE: why" of each line that was skipped
};
// Reads a file of records; a missing file has none. Fails (io) if it cannot be read.
[[nodiscard]] TMA_JIT_API Result<TuningFile> read_tuning_file(const std::filesystem::path& file);
// Adds records to a file and replaces those of the same problem; the file stays sorted. Other processes may do so at
// the same time without losing a record. Lines that are not records are kept unchanged. Fails with io.
[[nodiscard]] TMA_JIT_API Result<void> merge_tuning_file(const std::filesystem::path& file,
                                                         std::span<const TuningRecord> records);

// The result of one configuration.
struct TuneTrial {
  enum class Outcome : std::uint8_t {
    measured,
    failed,       // did not compile, or its launch failed
    spills,       // its registers spill; not launched
    disagrees,    // its output differs from the preset's, which is a bug of the kernel
    out_of_time,  // the time budget ended first
  };
  Candidate candidate{};
  Outcome outcome = Outcome::measured;
  double us = 0;             // median over its rounds; 0: not measured
  int launches = 0;          // number of timed launches
  double compiled_s = 0;     // when it was ready to be launched, in seconds from the beginning of the request's tuning
  double judged_s = 0;       // when its first time, or why it has none, was known; 0: never
  std::string reason{};      // why it was not measured
  std::string reproducer{};  // disagrees: the command that compares it with the float64 reference
};

// Returns the outcome in words: "out of time".
TMA_JIT_API const char* name_of(TuneTrial::Outcome outcome);

struct TuneResult {
  Request request{};
  TuningRecord record{};  // from this tuning, or the existing one; of a request that names a file it is not kept, and
                          // no plan follows it
  bool known = false;     // a record existed and nothing was measured
  double gain = 0;        // preset_us / us - 1 of the final side-by-side measurement
  double seconds = 0;
  double drift = 0;      // by how much the preset's time grew while this was tuned, as a fraction: the device
                         // lowered its clock. Choices are by ratios, which it does not change
  std::string method{};  // how the times were measured, in words; empty if nothing was
  std::vector<TuneTrial> trials{};  // the preset first
  std::optional<Error> error{};     // why there is no record
};

struct TuneProgress {
  std::size_t request = 0, requests = 0;  // index of the current one, from 0, and count
  std::size_t trial = 0, trials = 0;      // of the current request
  double seconds = 0, budget_s = 0;
};

// How processes that share no file of records agree: by the application's own collective or store. A process that only
// fetches measures nothing, one that only publishes leads the others, and one that does both uses a store. Both are
// called in the calling thread, once for every request that can be planned, in order, so that a collective may
// stand behind them. `problem` is a text of 16 hex digits, the same in every
// process that tunes this request on this model of device with this library's template.
struct TuneExchange {
  // `line` is the record as tuning_line writes it; empty if there is none, because the request could not be tuned.
  std::function<Result<void>(const std::string& problem, const std::string& line)> publish{};
  // Waits at most `wait_s` seconds for what another process publishes, and returns its line; nullopt if there is none
  // yet. `wait_s` is 0 in a process that also publishes.
  std::function<Result<std::optional<std::string>>(const std::string& problem, double wait_s)> fetch{};
};

struct TuneOptions {
  double budget_s = 60;         // wall-clock time for all requests; each gets an equal share of what is left, and its
                                // preset is always measured
  std::size_t candidates = 24;  // configurations per request, in addition to the preset
  double least_gain = 0.01;     // smallest gain, beyond the noise, for which the configuration is changed
  bool flush_l2 = true;         // operands are read from memory, not from L2
  bool replay = false;          // launches are replayed from CUDA graphs, as applications that capture run them
  // Queues about `us` microseconds of the application's work to its own streams. Called before every few launches,
  // which are timed while that work runs. The request fails with the error that this returns.
  std::function<Result<void>(double us)> beside{};
  bool again = false;  // also measure requests that have a record
  TuneExchange exchange{};
  std::filesystem::path records{};                      // file that gets the records; empty: tuning_file(engine)
  std::function<bool(const TuneProgress&)> progress{};  // called in the calling thread; returning false ends the tuning
};

// Returns the file to which an engine's tuning writes and which its plans consult first: "tuned.jsonl" in its cache
// folder. Empty if it has no cache folder.
TMA_JIT_API std::filesystem::path tuning_file(const Engine& engine);

// Tunes the requests one after the other. Allocates the tensors that a request does not give and fills inputs with
// random data. Addresses that a request gives are not used, so its tensors keep their contents. Processes that tune
// with the same file take turns, so that the second finds the records of the first. Requests that have records in the
// file are only looked up, which needs no device. Fails if the others have no device, the budget is not positive or the
// file cannot be written; a request that cannot be tuned has its error in its result.
[[nodiscard]] TMA_JIT_API Result<std::vector<TuneResult>> tune(Engine& engine, std::span<const Request> requests,
                                                               const TuneOptions& options = {});

}  // namespace tma_jit
