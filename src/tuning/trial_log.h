// What is known of configurations of a problem that has no record yet, so that a tuning that was killed is resumed and
// none is ruled out twice. A file of lines beside the records: each is appended as soon as it is known.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <tma_jit/tuning.h>

namespace tma_jit::tuning {

// What became of a configuration in an earlier tuning.
struct KnownTrial {
  TuneTrial::Outcome outcome = TuneTrial::Outcome::measured;
  double ratio = 0;  // of a measured one: its time over that of the planned configuration
  std::string reason{};
};

// The lines of one problem. Not thread-safe; processes hold the lock of the records meanwhile. A line that cannot be
// written is not an error: it is then not remembered.
class TrialLog {
 public:
  // `problem` is a text that is equal as long as what is known stays true. An empty file's name: nothing is kept.
  TrialLog(std::filesystem::path file, std::string_view problem);

  // `digest` is that of the configuration's template.
  [[nodiscard]] std::optional<KnownTrial> find(const Candidate& candidate, std::string_view digest) const;
  // Says that a configuration is about to be launched for the first time. If a process ends before it tells the
  // outcome, and a second one too, the configuration counts as failed.
  void begin(const Candidate& candidate, std::string_view digest);
  void keep(const Candidate& candidate, std::string_view digest, const KnownTrial& known);
  // Forgets what was measured; the problem has a record.
  void settle();

 private:
  struct Entry {
    int begun = 0;  // how often it was begun without an outcome
    std::optional<KnownTrial> known;
  };
  void read();
  void append(const std::string& line) const;

  const std::filesystem::path file_;
  const std::string problem_;             // 16 hex digits
  std::map<std::string, Entry> entries_;  // by the line's part that names the configuration
};

// Returns the name of the file that belongs to a file of records.
[[nodiscard]] std::filesystem::path trial_file(const std::filesystem::path& records);

}  // namespace tma_jit::tuning
