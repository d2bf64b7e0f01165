// The records of one place, found by their problems. Records stay lines of text, sorted by their problems, and a line
// is read when it is asked for: of hundreds of records an application asks for some.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tma_jit/tuning.h>

#include "tuning/written_record.h"

namespace tma_jit::tuning {

// Whether a record may decide. One that may not hides no other.
using Current = std::function<bool(const TuningRecord&)>;

inline bool any_record(const TuningRecord&) {
  return true;
}

// Immutable once sorted, and then thread-safe.
class RecordLayer {
 public:
  // `origin` is the file's name, or words for another place. `text` has the lines that are added later.
  explicit RecordLayer(std::string origin, std::string text = {})
      : origin_(std::move(origin)), text_(std::move(text)) {}
  RecordLayer(const RecordLayer&) = delete;
  RecordLayer& operator=(const RecordLayer&) = delete;

  // Adds a line for which read_written returns a record. It is a part of `text`, or of a text that is never freed.
  void add(std::string_view line);
  // The same for one that has been read.
  void add(std::string_view line, const WrittenRecord& written);
  void add(TuningRecord record);
  // Must be called after the last `add` and before any question.
  void sort();

  struct Found {
    TuningRecord record;
    std::string_view line;  // empty if it was added as a value
  };
  // Returns the current record of the problem. Of several the fastest is used, the first of equal ones.
  [[nodiscard]] std::optional<Found> of(const TuningRecord& problem, const Current& is_current = any_record) const;
  // Returns the current record with the least distance from the problem that is less than `far`, and lowers `far` to
  // it; the first of equals. Only records of the same kernel, types, hooks, conditions and device are compared, by the
  // sum of |log2(dim / its dim)|.
  [[nodiscard]] std::optional<TuningRecord> nearest(const TuningRecord& problem, const Current& is_current,
                                                    double& far) const;

  const std::string& origin() const { return origin_; }
  std::string_view text() const { return text_; }
  bool empty() const { return entries_.empty(); }
  // How many records of a kernel have a file as their choice.
  struct Choice {
    std::string_view kernel, file;
    std::size_t records = 0;
  };
  const std::vector<Choice>& choices() const { return choices_; }

 private:
  struct Entry {
    std::string_view problem;                // problem_text of the record
    std::string_view line;                   // empty if there is a `record`
    const WrittenRecord* written = nullptr;  // of a line that has been read
    const TuningRecord* record = nullptr;    // one that was added as a value
  };
  static std::optional<TuningRecord> record_of(const Entry& entry);
  void add(const Entry& entry, std::string_view kernel, std::string_view file);

  const std::string origin_, text_;
  std::vector<Entry> entries_;
  std::vector<Choice> choices_;
  std::deque<WrittenRecord> written_;  // of lines that have been read
  std::deque<TuningRecord> records_;   // those added as values
  std::deque<std::string> problems_;   // theirs
};

}  // namespace tma_jit::tuning
